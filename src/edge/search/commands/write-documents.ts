/** `upsert-data` and `delete`. */

import { IsOptional, IsString, MaxLength } from 'class-validator';
import {
  compileFilter,
  FilterMeter,
  MAX_DOCUMENT_ID_CHARACTERS,
  MAX_FILTER_CHARACTERS,
  MAX_INDEX_NAMES,
} from '../../../domain/search/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { SEARCH_REFUSALS, SHARED_REFUSALS, searchLimitReached } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { checked, membersOf } from '../../http/checked.js';
import { itemsOf } from '../../http/json-items.js';
import { parsed, skipBlanks } from '../../http/json-scanner.js';
import { record, WHOLE } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import type { DocumentStore, Removal, UpsertOutcome } from '../document-store.js';
import { LONG_UPSERT_BYTES, MAX_DOCUMENT_BYTES, MAX_DOCUMENT_IDS, MAX_INDEX_BYTES } from '../endpoint-limits.js';
import { DocumentRequest } from '../requests/document-request.js';
import { idsIn, textIn } from '../requests/fetch-request.js';
import { IsDocumentIds } from '../requests/rules.js';
import { DELETE_BODY, DONE, UPSERT_BODY } from '../schemas.js';
import type { SearchCall } from '../search-call.js';
import type { StoredTotals } from '../search-partition.js';
import { route } from '../search-route.js';

/** The body of `delete`: ids, a prefix of ids, or a filter. A bare array is a list of ids. */
class DeleteRequest {
  @IsOptional()
  @IsDocumentIds(MAX_DOCUMENT_IDS)
  readonly ids: readonly string[] | undefined;

  @IsOptional()
  @MaxLength(MAX_DOCUMENT_ID_CHARACTERS)
  @IsString()
  readonly prefix: string | undefined;

  @IsOptional()
  @MaxLength(MAX_FILTER_CHARACTERS)
  @IsString()
  readonly filter: string | undefined;

  /** `null` and the empty text count as missing: neither may select every document. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    this.ids = idsIn(members.get('ids'));
    this.prefix = textIn(members.get('prefix'));
    this.filter = textIn(members.get('filter'));
  }

  /** @throws Refused 400 */
  static from(body: unknown): DeleteRequest {
    const request = checked(new DeleteRequest(membersOf(Array.isArray(body) ? { ids: body } : body)));
    const given = [request.ids, request.prefix, request.filter].filter((part) => part !== undefined);
    if (given.length !== 1) throw invalid('exactly one of ids, prefix and filter is needed');
    return request;
  }
}

const OPEN_ARRAY = 0x5b;

/** Only a document's length is limited here, because its values are not traversed. */
const BOUNDS = {
  subject: 'a document',
  maxBytes: MAX_DOCUMENT_BYTES,
  maxValues: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
  tooLong: () => invalid(`a document has more than ${MAX_DOCUMENT_BYTES} bytes as JSON`),
};

export const UPSERT_DATA = route('POST /search/:id/upsert-data/*index', {
  summary: 'Stores documents.',
  permission: 'write',
  bodyBound: 'upsert',
  bodyShape: { of: UPSERT_BODY },
  example: [{ id: 'p1', content: { text: 'A paper on journals.' }, metadata: { year: 2025 } }],
  answer: DONE,
  handle: async (call) => {
    const { endpoint, grant, store, name } = call;
    endpoint.allowance.mayTransfer(grant);
    const { texts, count } = await textsIn(call);
    await endpoint.allowance.takeWrites(grant, count);
    const { maxVectorCount } = grant.limits;
    const most = maxVectorCount < 0 ? Number.MAX_SAFE_INTEGER : maxVectorCount;
    const outcome = texts.size === 0 ? undefined : await store.upsert(name, texts, most);
    if (outcome !== undefined && outcome.kind !== 'done') throw refusedFor(outcome, most);
    call.result('Success');
    if (outcome !== undefined) counted(call, outcome, count);
  },
});

export const DELETE = route('POST /search/:id/delete/*index', {
  alsoMethods: ['delete'],
  summary: 'Deletes documents: by ids, by a prefix of ids, or by a filter.',
  permission: 'write',
  bodyShape: { of: DELETE_BODY },
  example: { ids: ['p1'] },
  answer: json(record({ deleted: WHOLE })),
  handle: async (call) => {
    const removal = await removed(call, DeleteRequest.from(call.json));
    if (!removal.isCutShort) call.result({ deleted: removal.removed });
    counted(call, removal, removal.removed);
    if (removal.isCutShort) throw new RefusedRequest(SEARCH_REFUSALS.cutShort);
  },
});

/** Of several documents with one id the last one counts, as in separate calls. */
async function textsIn({ endpoint, grant, body }: SearchCall) {
  const texts = new Map<string, ByteString>();
  let count = 0;
  for (const step of documentItems(body)) {
    if (step === undefined) {
      await endpoint.yieldToEventLoop();
      continue;
    }
    count += 1;
    endpoint.allowance.mayWriteAtOnce(grant, count);
    const document = DocumentRequest.from(step.item, count - 1);
    texts.set(document.id, document.text);
  }
  return { texts, count };
}

export function refusedFor(
  { kind, documents, added }: Pick<UpsertOutcome, 'kind' | 'documents' | 'added'>,
  most: number,
): RefusedRequest {
  if (kind === 'names') return invalid(`a search database has at most ${MAX_INDEX_NAMES} indexes`);
  if (kind === 'documents') {
    const text = `the limit is ${most} documents: there are ${documents}, and the request adds ${added}`;
    return new RefusedRequest(searchLimitReached('size', 'max_vector_count', text));
  }
  const text = `an index holds at most ${MAX_INDEX_BYTES} bytes of documents: use several indexes`;
  return new RefusedRequest(searchLimitReached('size', 'index size', text));
}

async function removed(call: SearchCall, { ids, prefix, filter }: DeleteRequest): Promise<Removal> {
  return removedFrom(call, call.store, { ids, prefix, filter });
}

interface RemovedDocuments {
  readonly ids: readonly string[] | undefined;
  readonly prefix: string | undefined;
  readonly filter: string | undefined;
}

/** Removes by the one part that is given. @throws Refused 503 if too many removals by filter run */
export async function removedFrom<Stored extends object>(
  call: SearchCall,
  store: DocumentStore<Stored>,
  { ids, prefix = '', filter }: RemovedDocuments,
): Promise<Removal> {
  const { name, endpoint } = call;
  if (ids !== undefined) return store.removeIds(name, ids);
  const mayGoOn = () => call.isAwaited && !endpoint.isDraining;
  if (filter === undefined) return store.removePrefix(name, prefix, mayGoOn);
  const meter = new FilterMeter();
  const fits = compileFilter(filter, meter);
  if (fits === undefined) throw invalid('filter must not be blank');
  const pauseIfDue = () => (meter.isPauseDue() ? endpoint.yieldToEventLoop() : undefined);
  const removal = await endpoint.scanning(() => store.removeFitting(name, { fits, pauseIfDue }, mayGoOn));
  if (removal === undefined) throw new RefusedRequest(SHARED_REFUSALS.overloaded);
  return removal;
}

export function counted(
  { endpoint, grant, body, bytesOut, elapsedMs }: SearchCall,
  totals: StoredTotals,
  updates: number,
): void {
  const { meter } = endpoint.parts;
  meter.recordSearch(grant.index, { updates, bytesIn: body.length, bytesOut, updateMs: elapsedMs });
  meter.gaugeSearch(grant.index, totals.documents, totals.bytes);
}

/**
 * Yields each document as parsed by `JSON.parse`, and `undefined` where other requests may run.
 * @throws Refused 400
 */
export function* documentItems(body: Buffer): Generator<{ readonly item: unknown } | undefined, void> {
  if (body.length <= LONG_UPSERT_BYTES) {
    const whole = parsed(body);
    for (const item of Array.isArray(whole) ? whole : [whole]) yield { item };
  } else if (body[skipBlanks(body, 0)] === OPEN_ARRAY) {
    yield* itemsOf(body, BOUNDS);
  } else {
    if (body.length > MAX_DOCUMENT_BYTES) throw BOUNDS.tooLong();
    yield { item: parsed(body) };
  }
}
