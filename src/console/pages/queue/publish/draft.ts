/** A message or schedule being written: the values of its fields, and the resulting call. */
import { type Signal, signal } from '@preact/signals';

export interface FormProps {
  readonly account: string;
  readonly draft: Draft;
}

export interface HeaderRow {
  readonly name: string;
  readonly value: string;
}

/** Texts as typed; '' means not set. Options of callbacks have one line each, as `Retries: 2`. */
const EMPTY = {
  kind: 'url',
  url: '',
  group: '',
  queue: '',
  method: 'POST',
  contentType: 'application/json',
  body: '',
  delay: '',
  notBefore: '',
  retries: '',
  retryDelay: '',
  timeout: '',
  callback: '',
  callbackOptions: '',
  failureCallback: '',
  failureCallbackOptions: '',
  flowKey: '',
  parallelism: '',
  rate: '',
  period: '',
  priority: '',
  whenStopped: '',
  deduplicationId: '',
  contentBased: '',
  labels: '',
  redactBody: '',
  redactHeaders: '',
  redactAnswers: '',
  cron: '',
  scheduleId: '',
};

export type DraftTexts = Readonly<Record<keyof typeof EMPTY, string>>;

export type Draft = { readonly [Name in keyof typeof EMPTY]: Signal<string> } & {
  readonly headers: Signal<readonly HeaderRow[]>;
};

export function draftOf(texts: Partial<DraftTexts>, headers: readonly HeaderRow[] = []): Draft {
  const given = { ...EMPTY, ...texts };
  const signals = Object.fromEntries(Object.entries(given).map(([name, text]) => [name, signal(text)]));
  return { ...signals, headers: signal(headers) } as Draft;
}

export interface DraftCall {
  /** The path below the queue's address, and the destination as written. */
  readonly place: string;
  readonly destination: string;
  /** Options in the order of the form, and the Content-Type. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Options that headers cannot carry, or only once. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

const BODILESS = /^(GET|HEAD)$/;
const ASCII = /^[\x20-\x7e]*$/;

/** @param as the result: a message, or a schedule */
export function callOf(draft: Draft, as: 'message' | 'schedule' = 'message'): DraftCall {
  const { kind, url, group, queue, method, contentType, body } = draft;
  const destination = kind.value === 'group' ? group.value.trim() : url.value.trim();
  const isQueued = kind.value === 'queue';
  const name = encodeURIComponent(queue.value.trim());
  const place = as === 'schedule' ? '/v2/schedules/' : isQueued ? `/v2/enqueue/${name}/` : '/v2/publish/';
  const hasBody = !BODILESS.test(method.value) && body.value !== '';
  const words: [string, string][] = hasBody ? [['Content-Type', contentType.value.trim()]] : [];
  if (as === 'schedule') {
    words.push(['Svc-Cron', draft.cron.value], ['Svc-Schedule-Id', draft.scheduleId.value]);
    if (isQueued) words.push(['Svc-Queue-Name', queue.value]);
  }
  words.push(...optionsOf(draft));
  const headers: [string, string][] = [];
  const query: [string, string][] = [];
  const taken = new Set<string>();
  for (const [option, given] of words) {
    const value = given.trim();
    if (value === '') continue;
    const isOnce = !taken.has(option.toLowerCase());
    taken.add(option.toLowerCase());
    if (isOnce && ASCII.test(value)) headers.push([option, value]);
    else query.push([option.toLowerCase(), value]);
  }
  return { place, destination, headers, query, body: hasBody ? body.value : undefined };
}

function optionsOf(draft: Draft): [string, string][] {
  const at = draft.notBefore.value === '' ? Number.NaN : new Date(draft.notBefore.value).getTime();
  const { parallelism, rate, period } = draft;
  const flow = [
    ['parallelism', parallelism.value],
    ['rate', rate.value],
    ['period', rate.value === '' ? '' : period.value],
  ];
  const redacted = [
    draft.redactBody.value === 'true' ? 'body' : '',
    draft.redactHeaders.value,
    draft.redactAnswers.value,
  ];
  return [
    ['Svc-Method', draft.method.value === 'POST' ? '' : draft.method.value],
    ...draft.headers.value.map(({ name, value }): [string, string] => [`Svc-Forward-${name.trim()}`, value]),
    ['Svc-Delay', draft.delay.value],
    ['Svc-Not-Before', Number.isNaN(at) ? '' : String(Math.floor(at / 1_000))],
    ['Svc-Retries', draft.retries.value],
    ['Svc-Retry-Delay', draft.retryDelay.value],
    ['Svc-Timeout', draft.timeout.value],
    ['Svc-Callback', draft.callback.value],
    ...linesOf('Svc-Callback-', draft.callbackOptions.value),
    ['Svc-Failure-Callback', draft.failureCallback.value],
    ...linesOf('Svc-Failure-Callback-', draft.failureCallbackOptions.value),
    ['Svc-Flow-Control-Key', draft.flowKey.value],
    ['Svc-Flow-Control-Value', draft.flowKey.value === '' ? '' : joined(flow)],
    ['Svc-Priority', draft.priority.value],
    ['Svc-When-Stopped', draft.whenStopped.value],
    ['Svc-Deduplication-Id', draft.deduplicationId.value],
    ['Svc-Content-Based-Deduplication', draft.contentBased.value],
    ['Svc-Label', draft.labels.value],
    ['Svc-Redact-Fields', redacted.filter((field) => field !== '').join(', ')],
  ];
}

function linesOf(prefix: string, text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 1 ? [] : [[`${prefix}${line.slice(0, colon).trim()}`, line.slice(colon + 1)]];
  });
}

function joined(pairs: readonly (readonly string[])[]): string {
  return pairs
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}
