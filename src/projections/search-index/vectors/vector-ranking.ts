/**
 * A query to one namespace, in slices: every vector that the filter accepts is compared, or, of many, those that the graph
 * finds.
 *
 *  VR1 equal scores are ordered by id; a resumed query continues in exactly that order
 *  VR2 documents added during the query are left out; if a hit changes during it the query starts again, so that a
 *      replaced document is never missing; after some tries it is left out
 *  VR3 a document without a dimension of the sparse query is no result of it
 */
import {
  compileFilterParts,
  FilterMeter,
  type FilterParts,
  type FilterPredicate,
  fused,
  inverseFrequency,
  type JsonObject,
  predicateOf,
  type RankedId,
  scoreOf,
  shortFloat,
} from '../../../domain/search/index.js';
import type { RankedPlace, VectorHits, VectorQuery } from '../../../ports/index.js';
import { BestDocuments } from '../best-documents.js';
import type { FilterMarks } from './metadata-columns.js';
import type { VectorDocument, VectorNamespace } from './vector-namespace.js';

const MAX_TRIES = 3;
/** Multiplications between two pauses: about 1 ms. */
const SLICE_WORK = 1_000_000;
/** A filter's comparison, in multiplications. */
const FILTER_WORK = 300;
/** As many documents as are filtered one by one in a millisecond. */
const COLUMNS_FROM = 5_000;
/** Documents that show whether a filter is selective. */
const TESTED_FIRST = 100;
const NO_CONTENT: JsonObject = {};

/** @throws INVALID for an invalid filter */
export function* rankVectors(namespace: VectorNamespace, query: VectorQuery): Generator<void, VectorHits> {
  const meter = new FilterMeter();
  const filter = compileFilterParts(query.filter, meter);
  for (let tries = 1; ; tries += 1) {
    const seen = new SeenVectors(namespace, filter, meter);
    yield* seen.mark();
    const dense = query.dense === undefined ? undefined : yield* denseHits(seen, query, query.dense);
    const sparse = query.sparse === undefined ? undefined : yield* sparseHits(seen, query, query.sparse);
    const parts = [dense, sparse].filter((part) => part !== undefined);
    const areAsBefore = parts.every((part) => part.every(({ ordinal }) => seen.isAsBefore(ordinal)));
    if (areAsBefore || tries === MAX_TRIES) return hitsOf(seen, query, dense, sparse);
  }
}

interface OrdinalHit extends RankedId {
  readonly ordinal: number;
}

function hitsOf(
  seen: SeenVectors,
  { topK, fusion }: VectorQuery,
  dense: readonly OrdinalHit[] | undefined,
  sparse: readonly OrdinalHit[] | undefined,
): VectorHits {
  const left = [dense, sparse].flatMap((part) =>
    part === undefined ? [] : [part.filter(({ ordinal }) => seen.isAsBefore(ordinal))],
  );
  const hits = left.length === 1 ? (left[0] as OrdinalHit[]) : fused(left, fusion, topK);
  return {
    hits: hits.map(({ id, score }) => ({ id, score: shortFloat(score) })),
    denseLast: placeOf(dense?.at(-1)),
    sparseLast: placeOf(sparse?.at(-1)),
  };
}

function placeOf(hit: OrdinalHit | undefined): RankedPlace | undefined {
  return hit === undefined ? undefined : { score: hit.score, id: hit.id };
}

/** The documents that existed when the query began, have not changed and fit the filter. */
class SeenVectors {
  readonly #changes: number;
  readonly #fits: FilterPredicate | undefined;
  #marks: FilterMarks | undefined;
  /** Work since the last pause. */
  work = 0;
  #tested = 0;
  #accepted = 0;

  constructor(
    readonly namespace: VectorNamespace,
    private readonly filter: FilterParts | undefined,
    private readonly meter: FilterMeter,
  ) {
    this.#changes = namespace.changes;
    this.#fits = filter === undefined ? undefined : predicateOf(filter);
  }

  /** Of many documents, finds all that fit the filter before any vector is compared. */
  *mark(): Generator<void> {
    const { filter, namespace } = this;
    if (filter !== undefined && namespace.size >= COLUMNS_FROM)
      this.#marks = yield* namespace.columns.marks(filter, this.meter);
  }

  get isFiltered(): boolean {
    return this.filter !== undefined;
  }

  /** The number of documents that fit the filter; undefined: it is evaluated for each document. */
  get marked(): number | undefined {
    return this.#marks?.count;
  }

  /** All documents that fit the filter, if they are known and few. */
  get few(): Uint32Array | undefined {
    return this.#marks?.few;
  }

  /** False only if the document is known not to fit the filter. */
  mayFit(ordinal: number): boolean {
    return this.#marks === undefined || this.#marks.marks[ordinal] === 1;
  }

  isAsBefore(ordinal: number): boolean {
    return this.namespace.changedAt(ordinal) <= this.#changes;
  }

  at(ordinal: number): VectorDocument | undefined {
    return this.isAsBefore(ordinal) ? this.namespace.documentAt(ordinal) : undefined;
  }

  accepts(ordinal: number, { metadata }: VectorDocument): boolean {
    if (this.#fits === undefined) return true;
    if (this.#marks !== undefined) return this.#marks.marks[ordinal] === 1;
    this.work += FILTER_WORK;
    this.#tested += 1;
    const isAccepted = this.#fits({ content: metadata ?? NO_CONTENT });
    if (isAccepted) this.#accepted += 1;
    if (this.meter.isPauseDue()) this.work += SLICE_WORK;
    return isAccepted;
  }

  /** The filter rejects most documents, so it is evaluated before the longer comparison of vectors. */
  get isSelective(): boolean {
    if (this.#marks !== undefined) return true;
    return this.#tested >= TESTED_FIRST && this.#accepted < this.#tested / 2;
  }
}

/** The best of one part, after the place where an earlier batch ended. */
class BestHits {
  readonly #scores = new Map<number, number>();
  readonly #best: BestDocuments;

  constructor(
    private readonly seen: SeenVectors,
    private readonly after: RankedPlace | undefined,
    most: number,
  ) {
    const { namespace } = seen;
    this.#best = new BestDocuments(
      most,
      (ordinal) => this.#scores.get(ordinal) as number,
      (ordinal) => namespace.documentAt(ordinal)?.id ?? '',
    );
  }

  /** @param isAccepted the filter was evaluated before */
  offer(ordinal: number, document: VectorDocument, score: number, isAccepted = false): void {
    if (score < this.#best.floor || !this.#isAfter(document.id, score)) return;
    if (!isAccepted && !this.seen.accepts(ordinal, document)) return;
    this.#scores.set(ordinal, score);
    this.#best.offer(ordinal);
  }

  /** Best first. */
  get hits(): OrdinalHit[] {
    const { namespace } = this.seen;
    return this.#best.sorted().map((ordinal) => ({
      ordinal,
      id: namespace.documentAt(ordinal)?.id ?? '',
      score: this.#scores.get(ordinal) as number,
    }));
  }

  /** Whether a document would be a result if it were near enough. */
  accepts(ordinal: number, document: VectorDocument, score: () => number): boolean {
    const isAfter = this.after === undefined || this.#isAfter(document.id, score());
    return isAfter && this.seen.accepts(ordinal, document);
  }

  #isAfter(id: string, score: number): boolean {
    const { after } = this;
    return after === undefined || score < after.score || (score === after.score && id > after.id);
  }
}

function* denseHits(
  seen: SeenVectors,
  { topK, denseAfter }: VectorQuery,
  numbers: readonly number[],
): Generator<void, OrdinalHit[]> {
  const { namespace } = seen;
  const { vectors } = namespace.dense;
  const query = vectors.query(Float32Array.from(numbers));
  const score = scoreOf(namespace.shape.metric);
  const best = new BestHits(seen, denseAfter, topK);
  const accepts = (dense: number): boolean => {
    const ordinal = namespace.ordinalOf(dense);
    const document = seen.at(ordinal);
    return document !== undefined && best.accepts(ordinal, document, () => score(vectors, query, dense));
  };
  const isLimited = seen.isFiltered || denseAfter !== undefined;
  const near = yield* namespace.dense.near(query, {
    count: topK,
    accepts: isLimited ? accepts : undefined,
    acceptWork: FILTER_WORK,
    accepted: seen.marked,
  });
  const ordinals = near?.map((dense) => namespace.ordinalOf(dense)) ?? seen.few;
  const count = ordinals?.length ?? namespace.ordinals;
  for (let at = 0; at < count; at += 1) {
    const ordinal = ordinals?.[at] ?? at;
    if (!seen.mayFit(ordinal)) continue;
    const document = seen.at(ordinal);
    if (document?.dense === undefined) continue;
    const { isSelective } = seen;
    if (!isSelective || seen.accepts(ordinal, document)) {
      best.offer(ordinal, document, score(vectors, query, document.dense), isSelective);
      seen.work += numbers.length;
    }
    if (seen.work < SLICE_WORK) continue;
    seen.work = 0;
    yield;
  }
  return best.hits;
}

function* sparseHits(
  seen: SeenVectors,
  { topK, sparseAfter, weighsByRarity }: VectorQuery,
  { indices, values }: { readonly indices: readonly number[]; readonly values: readonly number[] },
): Generator<void, OrdinalHit[]> {
  const { namespace } = seen;
  const scores = new Map<number, number>();
  for (const [place, dimension] of indices.entries()) {
    const posting = namespace.sparse.posting(dimension);
    if (posting === undefined) continue;
    const rarity = weighsByRarity ? inverseFrequency(namespace.sparseCount, posting.vectors) : 1;
    const weight = Math.fround(values[place] as number) * rarity;
    for (let at = 0; at < posting.length; at += 1) {
      const ordinal = posting.ordinalAt(at);
      scores.set(ordinal, (scores.get(ordinal) ?? 0) + weight * posting.valueAt(at));
      seen.work += POSTING_WORK;
      if (seen.work < SLICE_WORK) continue;
      seen.work = 0;
      yield;
    }
  }
  const best = new BestHits(seen, sparseAfter, topK);
  for (const [ordinal, score] of scores) {
    const document = seen.at(ordinal);
    if (document !== undefined) best.offer(ordinal, document, score);
    seen.work += POSTING_WORK;
    if (seen.work < SLICE_WORK) continue;
    seen.work = 0;
    yield;
  }
  return best.hits;
}

/** An entry of a posting, in multiplications. */
const POSTING_WORK = 30;
