/** `upsert-data` and `delete`. */
import { compileFilter, MAX_INDEX_NAMES } from '../../../domain/search/index.js';
import type { ByteString } from '../../../kernel/index.js';
import { SEARCH_REFUSALS, SHARED_REFUSALS, searchLimitReached } from '../../error-map.js';
import { json } from '../../http/answer-shape.js';
import { record, WHOLE } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { documentItems } from '../document-items.js';
import type { Removal, UpsertOutcome } from '../document-store.js';
import { MAX_INDEX_BYTES } from '../face-limits.js';
import { DeleteRequest } from '../requests/delete-request.js';
import { DocumentRequest } from '../requests/document-request.js';
import { DELETE_BODY, DONE, UPSERT_BODY } from '../schemas.js';
import type { SearchCall } from '../search-call.js';
import type { StoredTotals } from '../search-partition.js';
import { route } from '../search-route.js';

export const UPSERT_DATA = route('POST /search/:id/upsert-data/*index', {
  summary: 'Stores documents.',
  permission: 'write',
  bodyBound: 'upsert',
  bodyShape: { of: UPSERT_BODY },
  example: [{ id: 'p1', content: { text: 'A paper on journals.' }, metadata: { year: 2025 } }],
  answer: DONE,
  handle: async (call) => {
    const { face, grant, store, name } = call;
    face.allowance.mayTransfer(grant);
    const { texts, count } = await textsIn(call);
    await face.allowance.takeWrites(grant, count);
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
  summary: 'Deletes documents: by ids, by what ids begin with, or by a filter.',
  permission: 'write',
  bodyShape: { of: DELETE_BODY },
  example: { ids: ['p1'] },
  answer: json(record({ deleted: WHOLE })),
  handle: async (call) => {
    const removal = await removed(call, DeleteRequest.from(call.json));
    if (removal.isCutShort) call.answer.refuse(new RefusedRequest(SEARCH_REFUSALS.cutShort));
    else call.result({ deleted: removal.removed });
    counted(call, removal, removal.removed);
  },
});

/** When several documents have one id, the last one counts, as if they had come one after the other. */
async function textsIn({ face, grant, body }: SearchCall) {
  const texts = new Map<string, ByteString>();
  let count = 0;
  for (const step of documentItems(body)) {
    if (step === undefined) {
      await face.breathe();
      continue;
    }
    count += 1;
    face.allowance.mayWriteAtOnce(grant, count);
    const document = DocumentRequest.from(step.item, count - 1);
    texts.set(document.id, document.text);
  }
  return { texts, count };
}

function refusedFor({ kind, documents, added }: UpsertOutcome, most: number): RefusedRequest {
  if (kind === 'names') return invalid(`a search database has at most ${MAX_INDEX_NAMES} indexes`);
  if (kind === 'documents') {
    const text = `of at most ${most} documents there are ${documents}, and ${added} would be new`;
    return new RefusedRequest(searchLimitReached('size', 'max_vector_count', text));
  }
  const text = `an index holds at most ${MAX_INDEX_BYTES} bytes of documents, spread them over several`;
  return new RefusedRequest(searchLimitReached('size', 'index size', text));
}

async function removed(call: SearchCall, { ids, prefix, filter }: DeleteRequest): Promise<Removal> {
  const { store, name, face } = call;
  if (ids !== undefined) return store.removeIds(name, ids);
  const mayGoOn = () => call.isAwaited && !face.isDraining;
  if (prefix !== undefined) return store.removePrefix(name, prefix, mayGoOn);
  const fits = compileFilter(filter ?? '');
  if (fits === undefined) throw invalid('filter must not be blank');
  const removal = await face.scanning(() => store.removeFitting(name, fits, mayGoOn));
  if (removal === undefined) throw new RefusedRequest(SHARED_REFUSALS.overloaded);
  return removal;
}

function counted({ face, grant, body, bytesOut, elapsedMs }: SearchCall, totals: StoredTotals, updates: number): void {
  const { meter } = face.parts;
  meter.recordSearch(grant.index, { updates, bytesIn: body.length, bytesOut, updateMs: elapsedMs });
  meter.gaugeSearch(grant.index, totals.documents, totals.bytes);
}
