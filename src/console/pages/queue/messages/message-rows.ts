/** Messages of the list, from the source for their state: the owner, the log, or the DLQ. */
import type { Schemas } from '#api';
import { ofQueue, type Query } from '../../../api/call.js';
import type { PageQuery } from '../../../api/query.js';
import { short } from '../../../parts/format.js';
import { detailsIn, detailsOf, type MessageDetails, SHOWN_BODY_BYTES } from './message-details.js';

export interface MessageRow {
  readonly id: string;
  readonly state: string;
  readonly url: string;
  readonly method: string;
  readonly labels: readonly string[];
  readonly queueName: string | undefined;
  readonly topicName: string | undefined;
  readonly scheduleId: string | undefined;
  readonly flowControlKey: string | undefined;
  /** Undefined: normal. */
  readonly priority: string | undefined;
  /** Time of its last change of state, or of its acceptance. */
  readonly atMs: number;
  readonly nextMs: number | undefined;
  /** Status of the last answer; 0 without an answer. */
  readonly status: number | undefined;
  /** Undefined if the log no longer has the message. */
  readonly details: MessageDetails | undefined;
}

export interface MessagePage {
  readonly rows: readonly MessageRow[];
  readonly cursor: string | undefined;
  /** Counts of all unfinished messages, if the list comes from their owner. */
  readonly counts?: StateCounts;
}

export type StateCounts = Partial<Record<StateId, number>>;

/** Address parameters that filter the list, with the API's names. */
const FILTER_WORDS = ['url', 'label', 'callerIp', 'queueName', 'flowControlKey', 'priority', 'topicName', 'scheduleId'];
const OF_FAILED = 'responseStatus';
const PAGE = 50;

/** In display order; unfinished messages can be cancelled. */
export const STATES = [
  { id: 'all', label: 'All' },
  { id: 'scheduled', label: 'Scheduled', pending: 'SCHEDULED' },
  { id: 'waiting', label: 'Waiting', pending: 'WAITING' },
  { id: 'delivering', label: 'Delivering', pending: 'DELIVERING' },
  { id: 'retrying', label: 'Retrying', pending: 'RETRYING' },
  { id: 'delivered', label: 'Delivered', logged: 'DELIVERED' },
  { id: 'failed', label: 'Failed' },
  { id: 'cancelled', label: 'Cancelled', logged: 'CANCELED' },
] as const;
export type StateId = (typeof STATES)[number]['id'];

/** The address's filters in the API's form. A URL filter is a whole URL, a path or a host. */
export function filterOf(query: PageQuery, state: StateId): Query {
  const { url, fromDate, toDate, responseStatus } = query;
  const given = Object.fromEntries(FILTER_WORDS.map((word) => [word, query[word]]));
  return {
    ...given,
    url: undefined,
    [placeOf(url, state)]: url,
    fromDate: instantOf(fromDate),
    toDate: instantOf(toDate),
    ...(state === 'failed' && { [OF_FAILED]: responseStatus }),
  };
}

/** The DLQ can only be searched by whole URLs. */
function placeOf(url: string | undefined, state: StateId): 'url' | 'path' | 'host' {
  if (url === undefined || state === 'failed' || /^https?:/i.test(url)) return 'url';
  return url.startsWith('/') ? 'path' : 'host';
}

export function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : new Date(text).getTime() || undefined;
}

/** A page with the details of each message. @throws CallError */
export async function messagePage(
  account: string,
  state: StateId,
  filter: Query,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<MessagePage> {
  const known = STATES.find(({ id }) => id === state) ?? STATES[0];
  const query = { ...filter, count: PAGE, cursor };
  if ('pending' in known) {
    const page = await ofQueue(account, 'GET /v2/messages', { query: { ...query, state: known.pending }, signal });
    const rows = await withDetails(account, page.messages.map(pendingRow), signal);
    return { rows, cursor: page.cursor, counts: countsIn(page) };
  }
  if (state === 'failed') {
    const asked = { ...query, order: 'latestFirst', trimBody: -1 };
    const page = (await ofQueue(account, 'GET /v2/dlq', { query: asked, signal })) as Schemas['DeadLetterPage'];
    return { rows: await withDetails(account, page.messages.map(failedRow), signal), cursor: page.cursor };
  }
  if ('logged' in known) {
    const asked = { ...query, state: known.logged, trimBody: -1 };
    const page = (await ofQueue(account, 'GET /v2/logs', { query: asked, signal })) as Schemas['EventPage'];
    const rows = page.events.map((event) => loggedRow(event, event));
    return { rows: await withDetails(account, rows, signal), cursor: page.cursor };
  }
  const asked = { ...query, groupBy: 'messageId', trimBody: SHOWN_BODY_BYTES };
  const page = (await ofQueue(account, 'GET /v2/logs', { query: asked, signal })) as Schemas['LoggedMessagePage'];
  const rows = page.messages.map((message) => ({
    ...loggedRow(message, newest(message.events)),
    details: detailsIn(message),
  }));
  return { rows, cursor: page.cursor };
}

async function withDetails(account: string, rows: readonly MessageRow[], signal?: AbortSignal): Promise<MessageRow[]> {
  const ids = rows.map(({ id }) => id);
  const details = await detailsOf(account, ids, signal);
  return rows.map((row) => ({ ...row, details: details.get(row.id) }));
}

/**
 * Counts of the states that can be counted.
 * @param known counts of unfinished messages, if already loaded. @throws CallError
 */
export async function messageCounts(account: string, filter: Query, known?: StateCounts): Promise<StateCounts> {
  const isOfDlq = filter.host === undefined && filter.path === undefined;
  const [pending, failed] = await Promise.all([
    known ?? ofQueue(account, 'GET /v2/messages', { query: { ...filter, count: 1 } }).then(countsIn),
    isOfDlq ? ofQueue(account, 'GET /v2/dlq/counts', { query: filter }) : undefined,
  ]);
  return { ...pending, ...(failed !== undefined && { failed: failed.total }) };
}

function countsIn({ counts }: Schemas['MessagePage']): StateCounts {
  const { SCHEDULED: scheduled, WAITING: waiting, DELIVERING: delivering, RETRYING: retrying } = counts;
  return { scheduled, waiting, delivering, retrying };
}

const HOUR_MS = 3_600_000;

/**
 * Counts of delivered and cancelled messages in the filter's period, by default the last hour, because counting the
 * whole log would take long. @returns texts; undefined: none. @throws CallError
 */
export async function endedCounts(
  account: string,
  filter: Query,
): Promise<Partial<Record<StateId, string | undefined>>> {
  const isPeriod = filter.fromDate !== undefined || filter.toDate !== undefined;
  const fromDate = isPeriod ? filter.fromDate : Date.now() - HOUR_MS;
  const query = { ...filter, fromDate, state: 'DELIVERED,CANCELED' };
  const { counts, isWhole } = await ofQueue(account, 'GET /v2/logs/counts', { query });
  const text = (count = 0) =>
    count === 0 && isWhole ? undefined : `${short(count)}${isWhole ? '' : '+'}${isPeriod ? '' : ' in 1 h'}`;
  return { delivered: text(counts.DELIVERED), cancelled: text(counts.CANCELED) };
}

type Shared = Pick<
  Schemas['LogEvent'],
  'messageId' | 'url' | 'method' | 'labels' | 'queueName' | 'topicName' | 'scheduleId' | 'flowControlKey' | 'priority'
>;

function shared(message: Shared) {
  const {
    messageId: id,
    url,
    method,
    labels = [],
    queueName,
    topicName,
    scheduleId,
    flowControlKey,
    priority,
  } = message;
  return { id, url, method, labels, queueName, topicName, scheduleId, flowControlKey, priority };
}

function pendingRow(message: Schemas['PendingMessage']): MessageRow {
  const { state, createdAt, nextDeliveryTime } = message;
  return {
    ...shared(message),
    state,
    atMs: createdAt,
    nextMs: nextDeliveryTime,
    status: undefined,
    details: undefined,
  };
}

function failedRow(entry: Schemas['DeadLetter']): MessageRow {
  const failedMs = Number(entry.dlqId.split('-')[0]);
  return {
    ...shared(entry),
    state: 'FAILED',
    atMs: failedMs,
    nextMs: undefined,
    status: entry.responseStatus,
    details: undefined,
  };
}

/** The state after an event of the log. */
const STATE_AFTER: Readonly<Record<string, string>> = {
  ACTIVE: 'DELIVERING',
  ERROR: 'RETRYING',
  RETRY: 'RETRYING',
  CANCELED: 'CANCELLED',
};

function loggedRow(message: Shared, event: Schemas['MessageEvent']): MessageRow {
  const { state: is, time, nextDeliveryTime = 0, responseStatus } = event;
  const state = is === 'CREATED' ? (nextDeliveryTime > Date.now() ? 'SCHEDULED' : 'WAITING') : (STATE_AFTER[is] ?? is);
  const nextMs = nextDeliveryTime || undefined;
  return { ...shared(message), state, atMs: time, nextMs, status: responseStatus, details: undefined };
}

/** The event that determines the current state: the last one of the newest instant. */
function newest(events: readonly Schemas['MessageEvent'][]): Schemas['MessageEvent'] {
  const order = ['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'CANCEL_REQUESTED', 'DELIVERED', 'FAILED', 'CANCELED'];
  return events.reduce((last, event) =>
    event.time > last.time || (event.time === last.time && order.indexOf(event.state) > order.indexOf(last.state))
      ? event
      : last,
  );
}
