/** `POST /v2/batch`: many messages in one call, all of them or none. */

import { type HeaderList, MAX_BATCH_ITEMS, type PublishItem } from '../../../domain/queue/index.js';
import { queueBodyTooLarge } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { objectIn } from '../../http/checked.js';
import { MAX_ITEM_VALUES } from '../../http/http-limits.js';
import { type Item, itemsOf } from '../../http/json-items.js';
import { listOf } from '../../http/openapi/parts.js';
import { type HeaderWords, invalid, inWordsOf, RefusedRequest, worded } from '../../http/refused.js';
import { MESSAGES } from '../body-shapes.js';
import { destinationOf } from '../destination.js';
import { publishedJson, warningHeaders } from '../publish-answer.js';
import type { AskedMessage } from '../publish-items.js';
import { expected, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { AROUND_BODY_BYTES, CHARACTERS_A_BYTE } from '../queue-limits.js';
import { BatchItemRequest } from '../requests/batch-item.js';
import { headersOf } from '../requests/header-members.js';
import { isSentByRun } from '../run-headers.js';
import { hasLargeRecord, withRecord } from '../run-records.js';
import { askedItem } from '../workflow-items.js';
import { PUBLISHED, PUBLISHED_EXAMPLE } from './publish.js';

/** Others run after so many. */
const ITEMS_A_STEP = 32;

export const BATCH_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/batch', {
    summary: 'Publishes many messages.',
    permission: 'publish',
    bodyBound: 'batch',
    boundBy: 'day',
    bodyShape: MESSAGES,
    example: [
      { destination: 'https://example.com/hooks', body: '{"hello":"world"}', headers: { 'Svc-Retries': '2' } },
      { destination: 'https://example.com/hooks', queue: 'mail' },
    ],
    answer: json(listOf(PUBLISHED), 'One for each, in order.', [PUBLISHED_EXAMPLE, PUBLISHED_EXAMPLE]),
    handle: publishBatch,
  }),
];

/** Every step of a run comes as one: the handler in front calls it by itself. @throws Refused; what the gateway throws */
export async function publishBatch(call: QueueCall): Promise<void> {
  call.mustBeAllowedToPublish();
  const { gateway } = call.face.parts;
  const items = await batchItems(call, { make: askedItem, isSentByRun });
  const reply = await gateway.publish(call.grant.account, items, call.request.trace);
  const { results, daily } = inWordsOf(wordsOf(items), () => expected(reply, 'Published'));
  call.json(200, `[${results.map(publishedJson).join(',')}]`, warningHeaders(daily));
}

/** How a refusal is spelled that is about a batch as a whole. */
export function wordsOf(items: readonly PublishItem[]): HeaderWords {
  return { isAlias: items.some(({ isAlias }) => isAlias), isNeutral: false };
}

export interface ItemKind {
  /** What one item's message becomes. @throws Refused */
  make(call: QueueCall, asked: AskedMessage): PublishItem;
  /** Its headers tell; they are looked at before anything of it is refused. */
  isSentByRun(headers: HeaderList): boolean;
}

/** @throws Refused 400, naming the message by its place; nothing has been published then */
export async function batchItems(call: QueueCall, kind: ItemKind): Promise<PublishItem[]> {
  const { maxMessageBytes } = call.grant.terms.limits;
  const items: PublishItem[] = [];
  const maxBytes = maxMessageBytes * CHARACTERS_A_BYTE + AROUND_BODY_BYTES;
  const tooLong = () => new RefusedRequest(queueBodyTooLarge(maxBytes));
  for (const step of itemsOf(call.body, { what: 'a message', maxBytes, maxValues: MAX_ITEM_VALUES, tooLong })) {
    if (step === undefined || items.length % ITEMS_A_STEP === ITEMS_A_STEP - 1) await call.face.breathe();
    if (step === undefined) continue;
    if (items.length === MAX_BATCH_ITEMS) throw invalid(`a batch may have ${MAX_BATCH_ITEMS} messages at most`);
    let asked: AskedMessage | undefined;
    try {
      asked = askedOf(call, step, kind);
      const isLarge = hasLargeRecord(asked) && kind.isSentByRun(asked.raw.headers);
      items.push(kind.make(call, isLarge ? await withRecord(call.face, asked) : asked));
    } catch (problem) {
      throw inMessage(items.length, worded(problem, asked?.words));
    }
  }
  if (items.length === 0) throw invalid('the batch is empty');
  return items;
}

function askedOf(call: QueueCall, { item, body: large }: Item, kind: ItemKind): AskedMessage {
  const members = objectIn(item, 'a message');
  const { headers, isAlias, isNeutral } = headersOf(call.face.spellings, members.headers ?? {}, 'headers');
  if (kind.isSentByRun(headers)) call.isOfRun = true;
  const { destination, body: text, queue, callback } = BatchItemRequest.from(members);
  const body = large ?? Buffer.from(text ?? '', 'utf8');
  const { maxMessageBytes } = call.grant.terms.limits;
  if (body.length > maxMessageBytes) throw new RefusedRequest(queueBodyTooLarge(maxMessageBytes));
  const query = callback === undefined ? [] : [['svc-callback', callback] as const];
  return {
    destination: destinationOf(destination),
    raw: { headers, query },
    of: 'batch',
    queueName: queue,
    body,
    isAlias: isAlias || call.words.isAlias,
    words: { isAlias, isNeutral },
  };
}

function inMessage(index: number, problem: unknown): unknown {
  if (!(problem instanceof RefusedRequest)) return problem;
  const { refusal, headers, words } = problem;
  return new RefusedRequest({ ...refusal, text: `message ${index}: ${refusal.text}` }, headers, words);
}
