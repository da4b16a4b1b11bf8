/** `/v2/triggers/:id/feed`: the records of a trigger for those who ask, as pages or as server-sent events. */
import { describeError, isMillraceError } from '../../../kernel/index.js';
import type { FeedReader } from '../../../ports/index.js';
import { queueRefusalOf } from '../../error-map.js';
import { takeOver } from '../../http/application.js';
import { EventStream, type StreamedCall } from '../../http/event-stream.js';
import { headerParameter, queryParameter, WHOLE } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { shows } from '../answer-schemas.js';
import { countOf, type Parameters, queryParameters, single } from '../call-filters.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { DEFAULT_FEED_RECORDS, FEED_LOOK_MS, MAX_FEED_RECORDS } from '../queue-limits.js';
import { momentIn, triggerIn } from './triggers.js';

const OF_FEED: ReadonlySet<string> = new Set(['cursor', 'count', 'from']);
const STREAM_TYPE = 'text/event-stream';
const LAST_EVENT_ID = 'last-event-id';

export const TRIGGER_FEED_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/triggers/:id/feed', {
    summary: 'Reads the records of a trigger: a page, or a stream of server-sent events.',
    description:
      'With `Accept: text/event-stream` the answer does not end: each record is an event `change` with its cursor as the id. ' +
      'Otherwise it is a page; one without records has reached the end of the journal, and its cursor is for the next call. ' +
      "Without a cursor the feed begins where the trigger's position began.",
    permission: 'read',
    parameters: [
      queryParameter('cursor', 'The cursor of the page before.'),
      queryParameter('from', 'Without a cursor: now, or an instant of ISO 8601.'),
      queryParameter('count', `Records of a page, at most ${MAX_FEED_RECORDS}.`, WHOLE),
      headerParameter('Last-Event-ID', 'The id of the last event that a client has.'),
    ],
    answer: shows('TriggerRecords'),
    handle: feed,
  }),
];

async function feed(call: QueueCall, { path }: { readonly path: Readonly<Record<string, string>> }): Promise<void> {
  const parameters = queryParameters(call.words.rest, OF_FEED);
  const count = countOf(parameters, MAX_FEED_RECORDS) ?? DEFAULT_FEED_RECORDS;
  const reader = await readerFor(call, path.id, parameters);
  const giveBack = call.endpoint.feeds.take(call.grant.account);
  const stopped = new AbortController();
  call.response.on('close', () => stopped.abort());
  try {
    if (headerOf(call, 'accept')?.includes(STREAM_TYPE) === true) await stream(call, reader, stopped.signal);
    else {
      const { records, cursor } = await reader.next(count, stopped.signal);
      const texts = records.map(({ record }) => record).join(',');
      call.json(200, `{"records":[${texts}],"cursor":${JSON.stringify(cursor)}}`);
    }
  } finally {
    reader.close();
    giveBack();
  }
}

async function readerFor(call: QueueCall, id: string | undefined, parameters: Parameters): Promise<FeedReader> {
  const { triggers } = call.endpoint.parts;
  const { trigger, layout } = await triggerIn(call, id);
  const cursor = headerOf(call, LAST_EVENT_ID) ?? single(parameters, 'cursor');
  const from = single(parameters, 'from');
  if (cursor !== undefined || from === undefined) return triggers.openFeed(trigger, layout, cursor);
  const { firstPartition: _, ...rest } = trigger;
  const begins = await triggers.startsAt(trigger.database, layout, momentIn('from', from));
  return triggers.openFeed({ ...rest, ...begins }, layout, undefined);
}

async function stream(call: QueueCall, reader: FeedReader, signal: AbortSignal): Promise<void> {
  const { endpoint, grant, exchange, words } = call;
  const token = exchange.passed?.token ?? words.token;
  const streamed: StreamedCall = {
    signal,
    endpoint,
    isStillGranted: () =>
      token !== undefined && endpoint.parts.access.grantForQueueToken(token)?.account === grant.account,
  };
  // A failure before the first page is still a refusal.
  let page = await reader.next(MAX_FEED_RECORDS, signal);
  if (exchange.context === undefined) return;
  const output = new EventStream(streamed, takeOver(exchange.context));
  try {
    output.begin();
    while (!output.signal.aborted) {
      for (const { record, cursor } of page.records) await output.send('change', record, cursor);
      if (page.records.length === 0) await output.pause(FEED_LOOK_MS);
      page = await reader.next(MAX_FEED_RECORDS, output.signal);
    }
  } catch (failure) {
    if (!isMillraceError(failure)) endpoint.parts.log.error('feed.failed', { error: describeError(failure) });
    const { text } = failure instanceof RefusedRequest ? failure.refusal : queueRefusalOf(failure);
    await output.send('failed', JSON.stringify({ error: text }));
  } finally {
    output.end();
  }
}

function headerOf({ request }: QueueCall, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
