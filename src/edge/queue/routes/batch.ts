/** `POST /v2/batch`: publishes many messages in one call, all or none. */

import { IsOptional, IsString, MaxLength } from 'class-validator';
import { type HeaderList, MAX_BATCH_ITEMS, MAX_URL_BYTES, type PublishItem } from '../../../domain/queue/index.js';
import { bytesOfText } from '../../../kernel/index.js';
import { queueBodyTooLarge } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { checked, objectIn } from '../../http/checked.js';
import { MAX_ITEM_VALUES } from '../../http/http-limits.js';
import { type Item, itemsOf } from '../../http/json-items.js';
import { listOf } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest, worded } from '../../http/refused.js';
import { filled } from '../../http/request-class.js';
import { MESSAGES } from '../body-shapes.js';
import { destinationOf } from '../destination.js';
import { publishedJson, warningHeaders } from '../publish-answer.js';
import type { RequestedMessage } from '../publish-items.js';
import { type HotRoute, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { AROUND_BODY_BYTES, CHARACTERS_A_BYTE } from '../queue-limits.js';
import { headersOf } from '../requests/header-members.js';
import { IsResourceName } from '../requests/rules.js';
import { beginsWithStep, isSentByRun, runInBeginning, runOfStepIn } from '../run-headers.js';
import { hasLargeRecord, withRecord } from '../run-records.js';
import { publishItems } from '../trial-requests.js';
import { askedItem } from '../workflow-items.js';
import { PUBLISHED, PUBLISHED_EXAMPLE } from './publish.js';

/** One message of `POST /v2/batch`. */
class BatchItemRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly destination!: string;

  @IsOptional()
  @IsString()
  readonly body: string | undefined;

  @IsOptional()
  @IsResourceName()
  readonly queue: string | undefined;

  /** A header with that name takes precedence. */
  @IsOptional()
  @IsString()
  readonly callback: string | undefined;

  /** @param members of the message. @throws Refused 400 */
  static from(members: Readonly<Record<string, unknown>>): BatchItemRequest {
    const request = filled(BatchItemRequest, (name) => members[name]);
    return isPlain(request) ? request : checked(request);
  }
}

/** Checks the form of nearly all items directly: the rules take ten times as long. */
function isPlain({ destination, body, queue, callback }: BatchItemRequest): boolean {
  const hasBody = body === undefined || typeof body === 'string';
  const isShort = typeof destination === 'string' && destination.length <= MAX_URL_BYTES;
  return isShort && hasBody && queue === undefined && callback === undefined;
}

/** Items per slice; then other work runs. */
const ITEMS_A_STEP = 32;

/** Every step of a run is a batch. */
export const BATCH_ROUTE: HotRoute & QueueRoute = {
  ...queueRoute('POST /v2/batch', {
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
  begin: (call) => ({
    maxBodyBytes: call.endpoint.parts.limits.maxBatchBytes,
    async take(body) {
      call.body = body;
      try {
        await publishBatch(call);
      } catch (failure) {
        // The form of a refusal depends on the sender, which is determined only when there is one.
        if (beginsWithStep(body)) {
          call.isOfRun = true;
          call.runOfStep ??= runInBeginning(body);
        }
        throw failure;
      }
    },
  }),
};

/** @throws Refused; errors of the gateway */
async function publishBatch(call: QueueCall): Promise<void> {
  call.mustBeAllowedToPublish();
  const items = await batchItems(call, { make: askedItem, isSentByRun });
  const { results, daily } = await inWordsOfBatch(items, publishItems(call, items));
  call.json(200, `[${results.map(publishedJson).join(',')}]`, warningHeaders(daily));
}

/** A refusal about a whole batch has the spelling of its messages. @throws as `result`, with that spelling */
export async function inWordsOfBatch<Result>(items: readonly PublishItem[], result: Promise<Result>): Promise<Result> {
  return result.catch((problem: unknown) => {
    throw worded(problem, { isAlias: items.some(({ isAlias }) => isAlias), isNeutral: false });
  });
}

export interface ItemKind {
  /** Converts one message into an item. @throws Refused */
  make(call: QueueCall, asked: RequestedMessage): PublishItem;
  /** Decided by the headers, before any check. */
  isSentByRun(headers: HeaderList): boolean;
}

/** Publishes no message itself. @throws Refused 400 with the index of the invalid message */
export async function batchItems(call: QueueCall, kind: ItemKind): Promise<PublishItem[]> {
  const { maxMessageBytes } = call.grant.terms.limits;
  const items: PublishItem[] = [];
  const maxBytes = maxMessageBytes * CHARACTERS_A_BYTE + AROUND_BODY_BYTES;
  const tooLong = () => new RefusedRequest(queueBodyTooLarge(maxBytes));
  for (const step of itemsOf(call.body, { subject: 'a message', maxBytes, maxValues: MAX_ITEM_VALUES, tooLong })) {
    if (step === undefined || items.length % ITEMS_A_STEP === ITEMS_A_STEP - 1) await call.endpoint.yieldToEventLoop();
    if (step === undefined) continue;
    if (items.length === MAX_BATCH_ITEMS) throw invalid(`a batch has at most ${MAX_BATCH_ITEMS} messages`);
    let asked: RequestedMessage | undefined;
    try {
      asked = askedOf(call, step, kind);
      const isLarge = hasLargeRecord(asked) && kind.isSentByRun(asked.raw.headers);
      items.push(kind.make(call, isLarge ? await withRecord(call.endpoint, asked) : asked));
    } catch (problem) {
      throw inMessage(items.length, worded(problem, asked?.words));
    }
  }
  if (items.length === 0) throw invalid('the batch is empty');
  return items;
}

function askedOf(call: QueueCall, { item, body: large }: Item, kind: ItemKind): RequestedMessage {
  const members = objectIn(item, 'a message');
  const { headers, isAlias, isNeutral } = headersOf(call.endpoint.spellings, members.headers ?? {}, 'headers');
  if (kind.isSentByRun(headers)) {
    call.isOfRun = true;
    call.runOfStep ??= runOfStepIn(headers);
  }
  const { destination, body: text, queue, callback } = BatchItemRequest.from(members);
  const body = large ?? Buffer.from(text ?? '', 'utf8');
  const { maxMessageBytes } = call.grant.terms.limits;
  if (body.length > maxMessageBytes) throw new RefusedRequest(queueBodyTooLarge(maxMessageBytes));
  const query = callback === undefined ? [] : [['svc-callback', bytesOfText(callback)] as const];
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
