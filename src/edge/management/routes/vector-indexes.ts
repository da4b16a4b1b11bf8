/** Indexes of vectors of the account. The data plane handles their vectors. */

import { IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import {
  DEFAULT_VECTOR_LIMITS,
  SEARCH_TYPES,
  type SearchType,
  VECTOR_REGIONS,
  type VectorIndexShape,
  type VectorRegion,
} from '../../../domain/control/index.js';
import {
  denseModelOf,
  MAX_DENSE_DIMENSION,
  MAX_MODEL_CHARACTERS,
  SPARSE_MODEL,
  SPARSE_MODEL_NAMES,
  VECTOR_KINDS,
  VECTOR_PRECISIONS,
  VECTOR_SIMILARITIES,
  type VectorKind,
  type VectorPrecision,
  type VectorSimilarity,
} from '../../../domain/search/index.js';
import { newDatabaseId } from '../../../protocol/index.js';
import { one } from '../../http/answer-shape.js';
import { invalid } from '../../http/refused.js';
import { VectorIndexAnswer, vectorIndexAnswer } from '../answers/vector-index-answer.js';
import { type ManagementRoute, managementRoute } from '../management-call.js';
import { IsGivenName } from '../requests/rules.js';
import { mustBeOffered, type OwnedIndexes, ownedIndexRoutes, shownIndex } from './owned-index-routes.js';

/** The plan of an index that was made without one. */
const DEFAULT_PLAN: SearchType = 'payg';

class CreateVectorIndexRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(VECTOR_REGIONS)
  readonly region!: VectorRegion;

  /** Default: `COSINE`. Ignored for sparse vectors. */
  @IsOptional()
  @IsIn(VECTOR_SIMILARITIES)
  readonly similarity_function: VectorSimilarity | undefined;

  /** Of dense vectors; a known embedding model has its own. */
  @IsOptional()
  @Max(MAX_DENSE_DIMENSION)
  @Min(0)
  @IsInt()
  readonly dimension_count: number | undefined;

  /** The plan. */
  @IsOptional()
  @IsIn(SEARCH_TYPES)
  readonly type: SearchType | undefined;

  /** Makes dense vectors of texts. Empty or missing: texts are refused. */
  @IsOptional()
  @MaxLength(MAX_MODEL_CHARACTERS)
  @IsString()
  readonly embedding_model: string | undefined;

  @IsOptional()
  @IsIn([...SPARSE_MODEL_NAMES, ''])
  readonly sparse_embedding_model: string | undefined;

  /** Default: `DENSE`. */
  @IsOptional()
  @IsIn(VECTOR_KINDS)
  readonly index_type: VectorKind | undefined;

  /** Of the numbers that queries compare. Default: that of the installation. */
  @IsOptional()
  @IsIn(VECTOR_PRECISIONS)
  readonly precision: VectorPrecision | undefined;
}

const VECTOR_INDEXES: OwnedIndexes<VectorIndexAnswer> = {
  plane: 'vector',
  at: '/v2/vector/index',
  name: 'an index of vectors',
  names: 'indexes of vectors',
  answer: VectorIndexAnswer,
  actions: {
    delete: 'deleteVectorIndex',
    rename: 'renameVectorIndex',
    reset: 'resetVectorPassword',
    transfer: 'transferVectorIndex',
    plan: 'setVectorPlan',
  },
  limits: DEFAULT_VECTOR_LIMITS,
  shown: vectorIndexAnswer,
};

export const VECTOR_INDEX_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/vector/index', {
    summary: 'Makes an index of vectors.',
    permission: 'indexes:change',
    body: CreateVectorIndexRequest,
    example: { name: 'films', region: 'eu-west-1', similarity_function: 'COSINE', dimension_count: 384, type: 'payg' },
    answer: one(VectorIndexAnswer),
    async handle(call, { body }) {
      const { parts, secrets } = call.endpoint;
      const { name, type = DEFAULT_PLAN } = body;
      mustBeOffered(call, type, 'type');
      const index = {
        id: newDatabaseId(parts.random),
        name,
        account: call.account,
        region: 'us-central1',
        type,
        limits: DEFAULT_VECTOR_LIMITS[type],
        tokens: secrets.ofSearchIndex(),
        vectors: shapeOf(body, parts.hasEmbeddings),
      } as const;
      const about = { action: 'createVectorIndex', entity: name } as const;
      const made = await call.change({ type: 'CreateSearchIndex', index }, 'OneSearchIndex', about);
      return shownIndex(call, made.index, VECTOR_INDEXES);
    },
  }),

  ...ownedIndexRoutes(VECTOR_INDEXES),
];

/** @throws Refused 400 */
function shapeOf(body: CreateVectorIndexRequest, hasEmbeddings: boolean): VectorIndexShape {
  const { similarity_function: metric = 'COSINE', dimension_count: given = 0, region } = body;
  const { index_type: kind = 'DENSE', embedding_model: model = '', sparse_embedding_model: sparse = '' } = body;
  const sparseModel = kind === 'DENSE' || sparse === '' ? '' : SPARSE_MODEL;
  if (kind === 'SPARSE') return { kind, metric, dimension: 0, denseModel: '', sparseModel, region };
  const stored = body.precision === undefined ? {} : { precision: body.precision };
  if (model !== '') {
    const dense = denseModelOf(model, given, hasEmbeddings);
    if (typeof dense === 'string') throw invalid(dense);
    return { kind, metric, dimension: dense.dimension, denseModel: dense.model, sparseModel, region, ...stored };
  }
  if (given === 0) throw invalid('dimension_count: is required for dense vectors without an embedding_model');
  return { kind, metric, dimension: given, denseModel: '', sparseModel, region, ...stored };
}
