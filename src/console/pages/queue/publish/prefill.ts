/** A draft from an existing message or schedule, for editing and publishing again. */
import type { Schemas } from '#api';
import { ofQueue } from '../../../api/call.js';
import { type Draft, type DraftTexts, draftOf, type HeaderRow } from './draft.js';

type Settings = Pick<
  Schemas['Message'],
  | 'method'
  | 'header'
  | 'body'
  | 'bodyBase64'
  | 'queueName'
  | 'callback'
  | 'failureCallback'
  | 'callbackHeader'
  | 'failureCallbackHeader'
  | 'labels'
  | 'flowControlKey'
  | 'parallelism'
  | 'rate'
  | 'period'
  | 'retryDelayExpression'
  | 'priority'
  | 'whenStopped'
>;

export interface Prefilled {
  readonly draft: Draft;
  /** Remarks on parts that could not be copied. */
  readonly notes: readonly string[];
}

const REDACTED = /^REDACTED:[0-9a-f]{64}$/;
const NOT_TEXT = 'Its body is binary and was not copied: enter a body.';
const HIDDEN = 'Its body is hidden and was not copied: enter a body.';

/** @throws CallError */
export async function draftOfMessage(account: string, id: string): Promise<Prefilled> {
  const { message } = await ofQueue(account, 'GET /v2/messages/{id}/story', { path: { id } });
  const { url, queueName, maxRetries } = message;
  return prefilled(message, {
    kind: queueName === undefined ? 'url' : 'queue',
    url,
    queue: queueName ?? '',
    retries: String(maxRetries),
  });
}

export function draftOfSchedule(schedule: Schemas['Schedule']): Prefilled {
  const { destination, queueName, retries, cron, scheduleId, delay, timeout } = schedule;
  const isUrl = /^https?:/i.test(destination);
  return prefilled(schedule, {
    kind: isUrl ? (queueName === undefined ? 'url' : 'queue') : 'group',
    url: isUrl ? destination : '',
    group: isUrl ? '' : destination,
    queue: queueName ?? '',
    retries: String(retries),
    cron,
    scheduleId,
    delay: delay === undefined ? '' : `${delay}s`,
    timeout: timeout === undefined ? '' : `${timeout}s`,
  });
}

function prefilled(shown: Settings, own: Partial<DraftTexts>): Prefilled {
  const { header, body = '', bodyBase64, parallelism, rate, period } = shown;
  const isHidden = REDACTED.test(body);
  const rows = Object.entries(header).flatMap(([name, values]) => values.map((value) => ({ name, value })));
  const isType = ({ name }: HeaderRow) => name.toLowerCase() === 'content-type';
  const hidden = rows.filter(({ value }) => REDACTED.test(value)).map(({ name }) => name);
  const texts: Partial<DraftTexts> = {
    ...own,
    method: shown.method,
    contentType: rows.find(isType)?.value ?? '',
    body: isHidden ? '' : body,
    retryDelay: shown.retryDelayExpression ?? '',
    callback: shown.callback ?? '',
    callbackOptions: forwarded(shown.callbackHeader),
    failureCallback: shown.failureCallback ?? '',
    failureCallbackOptions: forwarded(shown.failureCallbackHeader),
    flowKey: shown.flowControlKey ?? '',
    parallelism: parallelism === undefined ? '' : String(parallelism),
    rate: rate === undefined ? '' : String(rate),
    period: rate === undefined || period === undefined ? '' : `${period}s`,
    priority: shown.priority ?? '',
    whenStopped: shown.whenStopped ?? '',
    labels: (shown.labels ?? []).join(','),
  };
  const notes = [
    ...(isHidden ? [HIDDEN] : []),
    ...(bodyBase64 === undefined ? [] : [NOT_TEXT]),
    ...(hidden.length === 0 ? [] : [`Hidden headers are left out: ${hidden.join(', ')}.`]),
  ];
  return {
    draft: draftOf(
      texts,
      rows.filter((row) => !isType(row) && !REDACTED.test(row.value)),
    ),
    notes,
  };
}

function forwarded(header: Settings['callbackHeader'] = {}): string {
  const lines = Object.entries(header).flatMap(([name, values]) => values.map((value) => `Forward-${name}: ${value}`));
  return lines.join('\n');
}
