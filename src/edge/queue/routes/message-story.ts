/** `/v2/messages/:id/story`: the events, attempts, callbacks and DLQ entry of one message, in any state. */
import { callbackId } from '../../../domain/queue/index.js';
import type { MessageId } from '../../../kernel/index.js';
import type { DlqRow, LogEvent } from '../../../ports/index.js';
import { notFound } from '../../error-map.js';
import { RefusedRequest } from '../../http/refused.js';
import { type MessageRecordInput, messageRecord, responseMembers } from '../../records/message-record.js';
import type { Spelling } from '../../wire-alias.js';
import { shows } from '../answer-schemas.js';
import { expected, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { MAX_STORY_CALLBACKS, MAX_STORY_EVENTS } from '../queue-limits.js';
import { attemptsOf, retriesIn } from '../records/story-record.js';

export const MESSAGE_STORY_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/messages/:id/story', {
    summary: 'Shows all that is known of a message: its events, attempts, callbacks and entry in the DLQ.',
    permission: 'read',
    answer: shows('MessageStory'),
    async handle(call, { path }) {
      const id = path.id as MessageId;
      // The owner is asked first: the log is then asked for a later position, so it has at least the same events.
      const live = await underWay(call, id);
      const { messageLog } = call.endpoint.parts;
      const { account } = call.grant;
      const seen = await call.position();
      const filter = { messageId: [id] };
      const query = {
        filter,
        states: [],
        order: 'earliestFirst',
        count: MAX_STORY_EVENTS,
        cursor: undefined,
        withAnswers: true,
      } as const;
      const inDlq = { kind: 'filter', after: undefined, filter, count: 1, order: 'earliestFirst' } as const;
      const [page, { entries }] = await Promise.all([
        messageLog.events(account, query, seen),
        messageLog.dlq(account, inDlq, seen),
      ]);
      const { events, cursor } = page;
      const [entry] = entries;
      const newest =
        cursor === undefined
          ? events.at(-1)
          : (await messageLog.events(account, { ...query, order: 'latestFirst', count: 1 }, seen)).events[0];
      const message = live?.shown ?? shownOf(events, entry);
      if (message === undefined) throw new RefusedRequest(notFound(`message ${id}`));
      const spelling = call.spellingFor(message.envelope.isAlias);
      const story = {
        messageId: id,
        state: newest?.state ?? live?.state ?? 'FAILED',
        isUnderWay: live !== undefined && live.state !== 'DELIVERED',
        callbackOf: message.envelope.callbackOf,
        nextDeliveryTime: live?.state === 'CREATED' ? newest?.nextDeliveryAtMs : undefined,
        message: messageRecord(message, spelling),
        events: events.map(({ atMs, state, nextDeliveryAtMs, error }) => ({
          time: atMs,
          state,
          nextDeliveryTime: nextDeliveryAtMs,
          error,
        })),
        attempts: attemptsOf(events, spelling),
        callbacks: await callbacksOf(call, message, live?.retried ?? entry?.retried ?? retriesIn(events), seen),
        dlq: entry && deadLetterOf(entry, spelling),
        cursor,
      };
      await call.pieces([JSON.stringify(story)], page);
    },
  }),
];

const STATES = { waiting: 'CREATED', active: 'ACTIVE', delivered: 'DELIVERED' } as const;

/** The message from its owner, which keeps a delivered one for some seconds. */
async function underWay(call: QueueCall, id: MessageId) {
  const reply = await call.endpoint.parts.gateway.ask(call.grant.account, { type: 'GetMessage', id });
  if (reply.type === 'Rejected' && reply.reason === 'NOT_FOUND') return undefined;
  const { message, content } = expected(reply, 'Message');
  const shown: MessageRecordInput = { ...message, content };
  return { shown, retried: message.retried, state: STATES[message.status] };
}

/** The message from the log or the DLQ. The log may no longer have its creation. */
function shownOf([first]: readonly LogEvent[], entry: DlqRow | undefined): MessageRecordInput | undefined {
  if (entry !== undefined) return { ...entry, id: entry.messageId, content: entry.body };
  if (first === undefined) return undefined;
  const { messageId: id, envelope, body: content, atMs, nextDeliveryAtMs = atMs } = first;
  return { id, envelope, content, createdAtMs: atMs, notBeforeMs: nextDeliveryAtMs };
}

/** Callback ids are derived from the message's id and the attempt. @param last the number of retries */
async function callbacksOf(
  call: QueueCall,
  { id, envelope: { settings } }: MessageRecordInput,
  last: number,
  seen: number,
): Promise<readonly object[]> {
  const first = Math.max(0, last + 1 - MAX_STORY_CALLBACKS);
  const named = new Map<string, { kind: string; retried: number }>();
  for (let retried = first; retried <= last; retried += 1) {
    if (settings.callback !== undefined) named.set(callbackId(id, 'callback', retried), { kind: 'callback', retried });
    if (settings.failureCallback !== undefined && retried === last) {
      named.set(callbackId(id, 'failure', retried), { kind: 'failureCallback', retried });
    }
  }
  if (named.size === 0) return [];
  const page = await call.endpoint.parts.messageLog.events(
    call.grant.account,
    {
      filter: { messageId: [...named.keys()] },
      states: [],
      order: 'earliestFirst',
      count: MAX_STORY_EVENTS,
      cursor: undefined,
      trimBytes: 0,
    },
    seen,
  );
  const callbacks = new Map<string, object>();
  for (const { messageId, envelope, atMs, state } of page.events) {
    const known = callbacks.get(messageId);
    if (known !== undefined) Object.assign(known, { state });
    else callbacks.set(messageId, { messageId, ...named.get(messageId), url: envelope.url, createdAt: atMs, state });
  }
  return [...callbacks.values()];
}

function deadLetterOf({ dlqId, envelope, failedAtMs, response }: DlqRow, spelling: Spelling) {
  const { error, ...answer } = response;
  const members = responseMembers(answer, envelope.settings.redact?.response, spelling);
  return { dlqId, failedAt: failedAtMs, ...members, error: error === '' ? undefined : error };
}
