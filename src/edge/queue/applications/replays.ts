/**
 * Replays of messages to endpoints: the same body with the same `webhook-id`, to the endpoint as it is now. A message
 * of the DLQ leaves it after its replay is accepted.
 */
import {
  type DlqSelector,
  type Envelope,
  type MessageFilter,
  type PublishItem,
  STATE_NOTICE_LABEL,
} from '../../../domain/queue/index.js';
import type { DlqId, MessageId } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';
import type { QueueCall } from '../queue-call.js';
import { REPLAYED_TOGETHER_BYTES } from '../queue-limits.js';
import type { KnownApplication } from './application-in.js';
import { labelOfEndpoint, messageFor, REPLAYED, sent } from './fan-out.js';

const CURSOR = /^(\d{1,16})!(.+)$/;

export interface ReplaySelection {
  readonly messageIds: readonly MessageId[] | undefined;
  readonly endpointId: string | undefined;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly which: 'failed' | 'all';
  readonly count: number;
  readonly cursor: string | undefined;
}

interface Stored {
  readonly messageId: MessageId;
  readonly envelope: Envelope;
  readonly body: Uint8Array;
  readonly dlqId?: DlqId;
}

interface Page {
  readonly messages: readonly Stored[];
  readonly cursor: string | undefined;
}

/** @throws Refused; errors of the gateway and of the read model */
export async function replayed(call: QueueCall, known: KnownApplication, asked: ReplaySelection) {
  const { messages, cursor } = await storedMessages(call, known, asked);
  const endpoints = new Map(known.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const items: PublishItem[] = [];
  const originals: Stored[] = [];
  for (const one of messages) {
    const { webhook, endpointName = '', settings } = one.envelope;
    const endpoint = endpoints.get(endpointName);
    if (webhook === undefined || endpoint === undefined || endpoint.isDisabled) continue;
    if (settings.labels.includes(STATE_NOTICE_LABEL)) continue;
    const event = { ...webhook, body: one.body, isIdempotent: false, label: REPLAYED };
    // Labels of the message are made again.
    const options = { settings: { ...settings, labels: [], delaySeconds: 0 }, notBeforeMs: undefined };
    items.push(messageFor(call, { application: known.application, endpoint }, event, options));
    originals.push(one);
  }
  const made: object[] = [];
  for (let at = 0; at < items.length; ) {
    const end = endOfPart(items, at);
    for (const { endpointId, messageId } of await sent(call, items.slice(at, end))) {
      made.push({ endpointId, messageId, replayOf: originals[made.length]?.messageId });
    }
    const dlqIds = originals.slice(at, end).flatMap(({ dlqId }) => dlqId ?? []);
    if (dlqIds.length > 0) await call.ask({ type: 'DeleteDlq', selector: { kind: 'ids', dlqIds } }, 'DlqDeleted');
    at = end;
  }
  return { replayed: made, skipped: messages.length - items.length, cursor };
}

/** The end of the messages from `at` on that are accepted together. */
function endOfPart(items: readonly PublishItem[], at: number): number {
  let bytes = 0;
  let end = at;
  while (end < items.length && (end === at || bytes < REPLAYED_TOGETHER_BYTES)) {
    bytes += items[end]?.body.length ?? 0;
    end += 1;
  }
  return end;
}

async function storedMessages(call: QueueCall, known: KnownApplication, asked: ReplaySelection): Promise<Page> {
  const { application } = known;
  const { messageIds, endpointId, fromMs } = asked;
  const [, until, rest] = CURSOR.exec(asked.cursor ?? '') ?? [];
  if (asked.cursor !== undefined && rest === undefined) throw invalid('cursor: is not of an earlier answer');
  // The replays of earlier pages are newer than the first call.
  const toMs = until === undefined ? (asked.toMs ?? Math.trunc(call.endpoint.parts.clock.nowMs())) : Number(until);
  const filter: MessageFilter = {
    topicName: [application.id],
    ...(messageIds !== undefined && { messageId: messageIds }),
    ...(endpointId !== undefined && { label: [labelOfEndpoint(endpointId)] }),
    ...(fromMs !== undefined && { fromMs }),
    ...(messageIds === undefined && { toMs }),
  };
  const page =
    messageIds === undefined && asked.which === 'failed'
      ? await deadLetters(call, filter, asked.count, rest)
      : await logged(call, filter, asked.count, rest);
  return { ...page, cursor: page.cursor && `${toMs}!${page.cursor}` };
}

async function deadLetters(call: QueueCall, filter: MessageFilter, count: number, after: string | undefined) {
  const selector: DlqSelector = {
    kind: 'filter',
    filter,
    count,
    after: after as DlqId | undefined,
    order: 'earliestFirst',
  };
  const { messageLog } = call.endpoint.parts;
  const page = await messageLog.dlq(call.grant.account, selector, await call.position());
  return { messages: page.entries, cursor: page.after };
}

/** Messages as they were accepted, without earlier replays unless they are named. */
async function logged(call: QueueCall, filter: MessageFilter, count: number, cursor: string | undefined) {
  const { messageLog } = call.endpoint.parts;
  const query = { filter, states: ['CREATED'], order: 'earliestFirst', count, cursor } as const;
  const page = await messageLog.events(call.grant.account, query, await call.position());
  const isNamed = filter.messageId !== undefined;
  const messages = page.events.filter(({ envelope }) => isNamed || !envelope.settings.labels.includes(REPLAYED));
  return { messages, cursor: page.cursor };
}
