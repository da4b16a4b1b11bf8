/** Parses the bodies of the data plane of vectors. */
import {
  compileFilter,
  dataProblem,
  FUSIONS,
  type Fusion,
  floatsOf,
  hasDense,
  hasSparse,
  isJsonObject,
  type JsonObject,
  MAX_FILTER_CHARACTERS,
  metadataProblem,
  type SparseVector,
  type StoredVector,
  sparseOf,
  type VectorShape,
} from '../../../domain/search/index.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { asId, idProblem } from '../requests/rules.js';
import { DEFAULT_IDLE_SECONDS, MAX_IDLE_SECONDS, MAX_QUERY_TEXT_CHARACTERS } from './vector-limits.js';

type Members = Readonly<Record<string, unknown>>;

/** A body that is well-formed but does not fit the index. */
export function unfit(text: string): RefusedRequest {
  return new RefusedRequest({ status: 422, text });
}

/** @throws Refused 422 */
export function membersIn(item: unknown, subject: string): Members {
  if (!isJsonObject(item)) throw unfit(`${subject} must be an object`);
  return item;
}

/** `null` counts as missing. */
function given(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? (members[name] ?? undefined) : undefined;
}

/** @throws Refused 422 */
export function idIn(members: Members, prefix: string): string {
  const id = asId(given(members, 'id'));
  const problem = id === undefined ? 'id is required' : idProblem('id', id);
  if (problem !== undefined) throw unfit(`${prefix}${problem}`);
  return id as string;
}

/** Ids of a fetch or a deletion; a single one may be given alone. @throws Refused 422 */
export function idsIn(members: Members, most: number): readonly string[] | undefined {
  const ids = given(members, 'ids');
  if (ids === undefined) return undefined;
  const list = (Array.isArray(ids) ? ids : [ids]).map(asId);
  if (list.length > most) throw unfit(`ids has ${list.length} items, at most ${most} are allowed in one request`);
  list.forEach((id, at) => {
    const problem = idProblem(`ids[${at}]`, id);
    if (problem !== undefined) throw unfit(problem);
  });
  return list as string[];
}

export interface VectorParts {
  readonly dense: Float32Array | undefined;
  readonly sparse: SparseVector | undefined;
}

/**
 * The vectors of a document or a query, of the kinds that the index has.
 * @param prefix begins the refusals. @throws Refused 422
 */
export function vectorsIn(members: Members, shape: VectorShape, prefix: string): VectorParts {
  const [vector, sparseVector] = [given(members, 'vector'), given(members, 'sparseVector')];
  if (vector !== undefined && !hasDense(shape))
    throw unfit(`${prefix}a sparse index takes a sparseVector, not a vector`);
  if (sparseVector !== undefined && !hasSparse(shape)) {
    throw unfit(`${prefix}a dense index takes a vector, not a sparseVector`);
  }
  return {
    dense: vector === undefined ? undefined : denseIn(vector, shape, prefix),
    sparse: sparseVector === undefined ? undefined : sparseIn(sparseVector, prefix),
  };
}

function denseIn(vector: unknown, { dimension }: VectorShape, prefix: string): Float32Array {
  if (!Array.isArray(vector)) throw unfit(`${prefix}vector must be an array of numbers`);
  // Clients know this sentence.
  if (vector.length !== dimension) throw unfit(`Invalid vector dimension: ${vector.length}, expected: ${dimension}`);
  const floats = floatsOf(vector);
  if (floats === undefined) throw unfit(`${prefix}vector must contain only numbers of 32 bits`);
  return floats;
}

function sparseIn(vector: unknown, prefix: string): SparseVector {
  const sparse = sparseOf(vector);
  if (typeof sparse === 'string') throw unfit(`${prefix}sparseVector ${sparse}`);
  return sparse;
}

/** All vectors that a document of the index needs. @throws Refused 422 */
export function allVectorsIn(members: Members, shape: VectorShape, prefix: string): VectorParts {
  const parts = vectorsIn(members, shape, prefix);
  const missing = [
    ...(hasDense(shape) && parts.dense === undefined ? ['vector'] : []),
    ...(hasSparse(shape) && parts.sparse === undefined ? ['sparseVector'] : []),
  ];
  if (missing.length > 0) throw unfit(`${prefix}${missing.join(' and ')} is required; upsert-data takes texts`);
  return parts;
}

/** @throws Refused 422 */
export function metadataIn(members: Members, prefix: string): JsonObject | undefined {
  const metadata = given(members, 'metadata');
  if (metadata === undefined) return undefined;
  if (!isJsonObject(metadata)) throw unfit(`${prefix}metadata must be an object`);
  const problem = metadataProblem(metadata);
  if (problem !== undefined) throw unfit(`${prefix}${problem}`);
  return metadata;
}

/** @throws Refused 422 */
export function dataIn(members: Members, prefix: string): string | undefined {
  const data = given(members, 'data');
  if (data === undefined) return undefined;
  if (typeof data !== 'string') throw unfit(`${prefix}data must be a string`);
  const problem = dataProblem(data);
  if (problem !== undefined) throw unfit(`${prefix}${problem}`);
  return data;
}

/** The parts of a vector that an answer shows. */
export interface IncludedParts {
  readonly vectors: boolean;
  readonly metadata: boolean;
  readonly data: boolean;
}

/** @throws Refused 400 */
export function includedPartsIn(members: Members): IncludedParts {
  return {
    vectors: flagIn(members, 'includeVectors'),
    metadata: flagIn(members, 'includeMetadata'),
    data: flagIn(members, 'includeData'),
  };
}

function flagIn(members: Members, name: string): boolean {
  const flag = given(members, name) ?? false;
  if (typeof flag !== 'boolean') throw invalid(`${name} must be true or false`);
  return flag;
}

/** @throws Refused 400 */
export function textIn(members: Members, name: string, mostCharacters: number): string | undefined {
  const text = given(members, name);
  if (text === undefined) return undefined;
  if (typeof text !== 'string') throw invalid(`${name} must be a string`);
  if (text.length > mostCharacters) throw invalid(`${name} has more than ${mostCharacters} characters`);
  return text;
}

/** @throws Refused 400 */
export function wholeIn(members: Members, name: string, from: number, to: number): number | undefined {
  const value = given(members, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value;
  throw invalid(`${name} must be a whole number from ${from} to ${to}`);
}

function wordIn<Word extends string>(members: Members, name: string, words: readonly Word[]): Word | undefined {
  const word = given(members, name);
  if (word === undefined) return undefined;
  const found = words.find((each) => each === word);
  if (found === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`);
  return found;
}

/** The options of a query that do not depend on its vectors. */
export interface QueryOptions {
  readonly topK: number;
  readonly filter: string;
  readonly weighsByRarity: boolean;
  readonly fusion: Fusion;
  readonly shown: IncludedParts;
}

const DEFAULT_TOP_K = 10;

/** @throws Refused 400 */
export function queryOptionsIn(members: Members, mostResults: number): QueryOptions {
  return {
    topK: wholeIn(members, 'topK', 1, mostResults) ?? DEFAULT_TOP_K,
    filter: filterIn(members),
    weighsByRarity: wordIn(members, 'weightingStrategy', ['IDF']) !== undefined,
    fusion: wordIn(members, 'fusionAlgorithm', FUSIONS) ?? 'RRF',
    shown: includedPartsIn(members),
  };
}

/** Checked here, because a namespace without vectors evaluates no filter. @throws INVALID */
function filterIn(members: Members): string {
  const filter = textIn(members, 'filter', MAX_FILTER_CHARACTERS) ?? '';
  compileFilter(filter);
  return filter;
}

/** The text of a query. @throws Refused 422 */
export function queryTextIn(members: Members): string {
  const data = textIn(members, 'data', MAX_QUERY_TEXT_CHARACTERS);
  if (data === undefined || data === '') throw unfit('data is required: the text to search for');
  return data;
}

export type QueryMode = 'HYBRID' | 'DENSE' | 'SPARSE';

/** @throws Refused 400 */
export function queryModeIn(members: Members): QueryMode {
  return wordIn(members, 'queryMode', ['HYBRID', 'DENSE', 'SPARSE']) ?? 'HYBRID';
}

/** In milliseconds. @throws Refused 400 */
export function idleIn(members: Members): number {
  return 1000 * (wholeIn(members, 'maxIdle', 1, MAX_IDLE_SECONDS) ?? DEFAULT_IDLE_SECONDS);
}

/** RFC 7396. */
function mergedPatch(target: unknown, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(isJsonObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergedPatch(merged.get(name), value) : value);
  }
  return Object.fromEntries(merged);
}

/** Metadata after an update. @throws Refused 400, 422 */
export function updatedMetadata(members: Members, { metadata: before }: StoredVector): JsonObject | undefined {
  const mode = wordIn(members, 'metadataUpdateMode', ['OVERWRITE', 'PATCH']) ?? 'OVERWRITE';
  const change = metadataIn(members, '');
  if (change === undefined) return before;
  if (mode === 'OVERWRITE') return change;
  return metadataIn({ metadata: mergedPatch(before, change) }, '');
}
