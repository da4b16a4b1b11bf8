/** An index of vectors as the management API shows it. Source: docs/guide/management.md, "Vector indexes". */
import { IsIn, IsInt, IsOptional, IsString } from 'class-validator';
import {
  SEARCH_TYPES,
  type SearchIndex,
  VECTOR_REGIONS,
  type VectorIndexShape,
} from '../../../domain/control/index.js';
import { VECTOR_KINDS, VECTOR_PRECISIONS, VECTOR_SIMILARITIES } from '../../../domain/search/index.js';
import { assert } from '../../../kernel/index.js';
import { ListOf, Point } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';
import { indexAnswer } from './index-answer.js';

export class VectorIndexAnswer {
  @IsString() readonly customer_id!: string;
  @IsString() readonly id!: string;
  @IsString() readonly name!: string;
  @IsIn(VECTOR_SIMILARITIES) readonly similarity_function!: string;
  /** Of dense vectors; 0 for a sparse index. */
  @IsInt() readonly dimension_count!: number;
  /** The method that makes vectors of texts; empty: texts are refused. */
  @IsString() readonly embedding_model!: string;
  @IsString() readonly sparse_embedding_model!: string;
  @IsString() readonly endpoint!: string;
  /** This and the next one are empty for callers without rights on the index, and masked for a read-only key. */
  @IsString() readonly token!: string;
  @IsString() readonly read_only_token!: string;
  @IsIn(SEARCH_TYPES) readonly type!: string;
  @IsIn(VECTOR_REGIONS) readonly region!: string;
  @IsInt() readonly max_vector_count!: number;
  /** -1 means no limit, here and in the next two. */
  @IsInt() readonly max_daily_updates!: number;
  @IsInt() readonly max_daily_queries!: number;
  @IsInt() readonly max_monthly_bandwidth!: number;
  @IsInt() readonly max_writes_per_second!: number;
  @IsInt() readonly max_query_per_second!: number;
  @IsInt() readonly max_reads_per_request!: number;
  @IsInt() readonly max_writes_per_request!: number;
  /** -1: metadata counts only as a part of the stored bytes. */
  @IsInt() readonly max_total_metadata_size!: number;
  /** 0: no plan has a fixed price. */
  @IsInt() readonly reserved_price!: number;
  @IsInt() readonly creation_time!: number;
  @IsIn(VECTOR_KINDS) readonly index_type!: string;
  /** Missing: that of the installation. */
  @IsOptional() @IsIn(VECTOR_PRECISIONS) readonly precision?: string;
  /** Queries and updates per second, for each minute of the last hour. */
  @ListOf(Point) readonly throughput_vector!: readonly Point[];
}

function shapeIn({ vectors, id }: SearchIndex): VectorIndexShape {
  assert(vectors !== undefined, 'an index of vectors without a kind', { id });
  return vectors;
}

/** @throws BAD_CONFIG if the tokens were sealed with another key file */
export function vectorIndexAnswer(
  call: ManagementCall,
  index: SearchIndex,
  throughput: readonly Point[],
): VectorIndexAnswer {
  const { kind, metric, dimension, denseModel, sparseModel, region, precision } = shapeIn(index);
  const endpoint = call.endpoint.urls.ofVectorIndex(index.id);
  return {
    ...indexAnswer(call, index, { endpoint, region }, throughput),
    similarity_function: metric,
    dimension_count: dimension,
    embedding_model: denseModel,
    sparse_embedding_model: sparseModel,
    max_total_metadata_size: -1,
    reserved_price: 0,
    index_type: kind,
    ...(precision !== undefined && { precision }),
  };
}
