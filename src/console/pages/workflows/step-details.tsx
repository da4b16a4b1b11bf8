/** One step: input, result, failed attempts, and the event that it waits for. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { usePageQuery } from '../../api/query.js';
import { mayChange } from '../../api/session.js';
import { Badge, StateBadge } from '../../parts/badge.js';
import { Body, Headers } from '../../parts/exchange.js';
import { bytes, duration } from '../../parts/format.js';
import { Time } from '../../parts/time.js';
import { ErrorBody } from './error-body.js';
import { useRunLinks } from './links.js';
import { NotifyDialog } from './notify-dialog.js';
import type { Run, Step } from './records.js';
import { kindWord } from './run-graph.js';
import type { FailedAttempt, Node } from './run-model.js';
import { untilOf } from './run-now.js';

/** The same as in workflows.css. */
const NARROW = '(max-width: 1000px)';

export interface StepDetailsProps {
  readonly account: string;
  readonly run: Run;
  readonly node: Node;
  /** Bodies are cut at this many bytes. Undefined: they are whole. */
  readonly cutAt: number | undefined;
  onWhole(): void;
  onDone(): void;
}

export function StepDetails({ account, run, node, cutAt, onWhole, onDone }: StepDetailsProps) {
  const [query] = usePageQuery();
  const box = useRef<HTMLElement>(null);
  const isTelling = useSignal(false);
  const { step, name, state } = node;
  useEffect(() => {
    // On narrow pages the details are below the graph, so the page scrolls to them.
    if (query.step !== undefined && matchMedia(NARROW).matches) box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const event = state === 'STEP_PROGRESS' ? step?.waitEventId : undefined;
  return (
    <section ref={box} class="card stack flow-details" aria-label="The step">
      <div class="row between flow-head">
        <h2 class="wrap-anywhere" dir="auto">
          {name}
        </h2>
        <StateBadge state={state} />
      </div>
      <StepFacts node={node} />
      {event !== undefined && mayChange.value && (
        <div>
          <button
            type="button"
            class="button primary"
            onClick={() => {
              isTelling.value = true;
            }}
          >
            Notify {event}
          </button>
        </div>
      )}
      {node.attempts.length > 0 && <Attempts attempts={node.attempts} />}
      {step !== undefined && <StepBodies step={step} cutAt={cutAt} onWhole={onWhole} />}
      {isTelling.value && event !== undefined && (
        <NotifyDialog
          account={account}
          eventId={event}
          runId={run.workflowRunId}
          onClose={() => {
            isTelling.value = false;
          }}
          onDone={onDone}
        />
      )}
    </section>
  );
}

function StepFacts({ node }: { readonly node: Node }) {
  const links = useRunLinks();
  const { kind, fromMs, toMs, step, next } = node;
  const { retries, retryDelay, messageId, nextDeliveryTime } = step ?? next ?? {};
  const until = step === undefined ? undefined : untilOf(step);
  const child = step?.invokedWorkflowRunId;
  const isWait = step?.waitEventId !== undefined;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Kind', kindWord(kind)],
    ['Event', step?.waitEventId === undefined ? undefined : <code dir="auto">{step.waitEventId}</code>],
    [isWait ? 'Gives up' : 'Sleeps until', until === undefined ? undefined : <Time at={until} />],
    ['Ended by', step?.waitTimeout === true ? 'its time, without the event' : undefined],
    ['Call', step?.callUrl === undefined ? undefined : <code>{`${step.callMethod} ${step.callUrl}`}</code>],
    ['Run', child === undefined ? undefined : <a href={links.run(child, step?.invokedWorkflowCreatedAt)}>{child}</a>],
    ['Begun', <Time at={fromMs} />],
    ['Ended', toMs === undefined ? undefined : <Time at={toMs} />],
    ['Took', toMs === undefined ? undefined : duration(toMs - fromMs)],
    ['Next attempt', nextDeliveryTime === undefined ? undefined : <Time at={nextDeliveryTime} />],
    [
      'Retries',
      retries === undefined ? undefined : `${retries}${retryDelay === undefined ? '' : `, after ${retryDelay} ms`}`,
    ],
    ['Message', messageId === undefined ? undefined : <code class="small">{messageId}</code>],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly FailedAttempt[] }) {
  return (
    <div class="stack tight">
      <h3>Failed attempts</h3>
      {attempts.map(({ atMs, status, error, body }, at) => (
        <details key={atMs} open={at === attempts.length - 1}>
          <summary>
            <Badge tone="bad">{status === 0 ? 'no answer' : status}</Badge> <span dir="auto">{error}</span>{' '}
            <span class="small muted">
              <Time at={atMs} as="clock" />
            </span>
          </summary>
          <ErrorBody text={body} />
        </details>
      ))}
    </div>
  );
}

interface BodiesProps {
  readonly step: Step;
  readonly cutAt: number | undefined;
  onWhole(): void;
}

function StepBodies({ step, cutAt, onWhole }: BodiesProps) {
  const isPayload = step.stepId === undefined;
  const isCut =
    cutAt !== undefined && textsOf(step).some((text) => text.length * 3 >= cutAt && sizeOf(text) >= cutAt - 4);
  return (
    <>
      {isCut && cutAt !== undefined && (
        <p class="note">
          <span class="grow">Of long bodies the first {bytes(cutAt)} are shown.</span>
          <button type="button" class="button small" onClick={onWhole}>
            Load the whole
          </button>
        </p>
      )}
      {step.callUrl !== undefined && <Side title="Request" text={step.callBody} header={step.callHeaders} />}
      {step.callResponseStatus !== undefined && (
        <Side
          title={`Answer, ${step.callResponseStatus}`}
          text={step.callResponseBody}
          header={step.callResponseHeaders}
        />
      )}
      {step.invokedWorkflowRunId !== undefined && (
        <Side title="Payload of the run" text={step.invokedWorkflowRunBody} header={step.invokedWorkflowRunHeaders} />
      )}
      {(step.out !== undefined || isPayload) && step.callUrl === undefined && (
        <Side title={isPayload ? 'Payload' : 'Result'} text={step.out} header={undefined} />
      )}
      <details>
        <summary>Headers of its delivery</summary>
        <Headers header={step.headers} />
      </details>
    </>
  );
}

interface SideProps {
  readonly title: string;
  readonly text: string | undefined;
  readonly header: Step['callHeaders'];
}

function Side({ title, text, header }: SideProps) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      <Body text={text} />
      {header !== undefined && (
        <details>
          <summary>Headers</summary>
          <Headers header={header} />
        </details>
      )}
    </div>
  );
}

function textsOf({ out = '', callBody = '', callResponseBody = '', invokedWorkflowRunBody = '' }: Step): string[] {
  return [out, callBody, callResponseBody, invokedWorkflowRunBody];
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
