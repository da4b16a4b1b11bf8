/** All options of a message, the most common first. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Choice, TextField } from '../../../parts/field.js';
import { BodyFields } from './body-fields.js';
import { DestinationFields } from './destination-fields.js';
import type { FormProps } from './draft.js';

export function MessageForm({ account, draft }: FormProps) {
  return (
    <>
      <DestinationFields account={account} draft={draft} />
      <BodyFields draft={draft} />
      <When draft={draft} />
      <Retries draft={draft} />
      <Callbacks draft={draft} />
      <Flow draft={draft} />
      <Once draft={draft} />
      <Seen draft={draft} />
    </>
  );
}

type PartProps = Pick<FormProps, 'draft'>;

interface GroupProps {
  readonly title: string;
  readonly fields: readonly Signal<string>[];
  readonly children: ComponentChildren;
}

/** Open at first if one of its fields is set. */
function Part({ title, fields, children }: GroupProps) {
  const isOpen = useSignal(fields.some((field) => field.peek() !== ''));
  return (
    <details class="card form-part" open={isOpen.value}>
      <summary>{title}</summary>
      <div class="stack">{children}</div>
    </details>
  );
}

function When({ draft: { delay, notBefore, timeout } }: PartProps) {
  return (
    <Part title="When" fields={[delay, notBefore, timeout]}>
      <div class="form-grid">
        <TextField label="Delay" value={delay} placeholder="50s, 1d10h30m" />
        <TextField
          label="Not before"
          type="datetime-local"
          value={notBefore}
          hint="In your time zone. It takes precedence over a delay."
        />
        <TextField label="Timeout of an attempt" value={timeout} placeholder="30s" hint="Shortens the account's." />
      </div>
    </Part>
  );
}

function Retries({ draft: { retries, retryDelay } }: PartProps) {
  return (
    <Part title="Retries" fields={[retries, retryDelay]}>
      <div class="form-grid">
        <TextField label="Retries" type="number" value={retries} placeholder="3" />
        <TextField
          label="Delay before a retry"
          value={retryDelay}
          placeholder="pow(2, retried) * 1000"
          hint="An expression in milliseconds; retried is how many there were. Left out: it grows from 12 s to a day."
        />
      </div>
    </Part>
  );
}

function Callbacks({ draft }: PartProps) {
  const { callback, callbackOptions, failureCallback, failureCallbackOptions } = draft;
  const hint = 'A line each, for the callback’s own message';
  return (
    <Part title="Callbacks" fields={[callback, callbackOptions, failureCallback, failureCallbackOptions]}>
      <TextField label="Callback" value={callback} placeholder="https://… told of each answer" />
      <TextField
        label="Options of the callback"
        value={callbackOptions}
        isLong
        rows={2}
        placeholder="Retries: 2"
        hint={hint}
      />
      <TextField label="Failure callback" value={failureCallback} placeholder="https://… told when it has failed" />
      <TextField
        label="Options of the failure callback"
        value={failureCallbackOptions}
        isLong
        rows={2}
        placeholder="Delay: 10s"
        hint={hint}
      />
    </Part>
  );
}

const PRIORITY_CHOICES = [
  ['', 'Normal'],
  ['highest', 'Highest: 16 starts'],
  ['high', 'High: 8 starts'],
  ['low', 'Low: 2 starts'],
  ['lowest', 'Lowest: 1 start'],
] as const;

const STOPPED_CHOICES = [
  ['', 'As the rules of the account say'],
  ['wait', 'The message waits'],
  ['dlq', 'The message moves to the DLQ'],
] as const;

function Flow({ draft: { flowKey, parallelism, rate, period, priority, whenStopped } }: PartProps) {
  return (
    <Part title="Flow control and priority" fields={[flowKey, priority, whenStopped]}>
      <div class="form-grid">
        <TextField label="Key" value={flowKey} placeholder="shop" />
        <TextField label="Parallelism" type="number" value={parallelism} placeholder="10" />
        <TextField label="Rate" type="number" value={rate} placeholder="5" />
        <TextField label="Period of the rate" value={period} placeholder="1m" hint="A second when left out" />
      </div>
      <p class="small muted">The limits hold for all messages of the key, from this one on.</p>
      <Choice
        label="Priority: its share for 4 starts of the normal class"
        value={priority}
        options={PRIORITY_CHOICES}
      />
      <Choice label="While its destination is stopped" value={whenStopped} options={STOPPED_CHOICES} />
    </Part>
  );
}

function Once({ draft: { deduplicationId, contentBased } }: PartProps) {
  return (
    <Part title="Deduplication" fields={[deduplicationId, contentBased]}>
      <TextField
        label="Deduplication id"
        value={deduplicationId}
        placeholder="order-7"
        hint="Another message of this id is not accepted within ten minutes."
      />
      <Choice
        label="Without an id"
        value={contentBased}
        options={[
          ['', 'Every message is accepted'],
          ['true', 'By destination, body and headers'],
        ]}
      />
    </Part>
  );
}

function Seen({ draft: { labels, redactBody, redactHeaders, redactAnswers } }: PartProps) {
  return (
    <Part title="Labels and hidden fields" fields={[labels, redactBody, redactHeaders, redactAnswers]}>
      <TextField label="Labels" value={labels} placeholder="orders, nightly" />
      <Choice
        label="Body"
        value={redactBody}
        options={[
          ['', 'shown in lists and logs'],
          ['true', 'hidden there'],
        ]}
      />
      <TextField
        label="Hidden headers"
        value={redactHeaders}
        placeholder="header[Authorization], or header for all"
        hint="Destinations get them unchanged; the console and the log do not show them."
      />
      <Choice
        label="Answers"
        value={redactAnswers}
        options={[
          ['', 'shown in lists and logs'],
          ['response-body', 'without their bodies'],
          ['response-body, response-header', 'without bodies and headers'],
        ]}
      />
    </Part>
  );
}
