/** A search index as the management API shows it. Source: docs/guide/management.md, "Search indexes". */
import { IsBoolean, IsIn, IsInt, IsString } from 'class-validator';
import { SEARCH_REGIONS, SEARCH_TYPES, type SearchIndex } from '../../../domain/control/index.js';
import { ListOf, Point } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';
import { indexAnswer } from './index-answer.js';

export class SearchIndexAnswer {
  @IsString() readonly customer_id!: string;
  @IsString() readonly id!: string;
  @IsString() readonly name!: string;
  @IsString() readonly endpoint!: string;
  @IsIn(SEARCH_TYPES) readonly type!: string;
  @IsIn(SEARCH_REGIONS) readonly region!: string;
  /** Empty: there is no hosting partner. */
  @IsString() readonly partner_email!: string;
  /** This and the next one are empty for callers without rights on the index, and masked for a read-only key. */
  @IsString() readonly token!: string;
  @IsString() readonly read_only_token!: string;
  @IsInt() readonly max_vector_count!: number;
  /** -1 means no limit, here and in the next three. */
  @IsInt() readonly max_monthly_reranks!: number;
  @IsInt() readonly max_daily_updates!: number;
  @IsInt() readonly max_daily_queries!: number;
  @IsInt() readonly max_monthly_bandwidth!: number;
  @IsInt() readonly max_writes_per_second!: number;
  @IsInt() readonly max_query_per_second!: number;
  @IsInt() readonly max_reads_per_request!: number;
  @IsInt() readonly max_writes_per_request!: number;
  @IsInt() readonly creation_time!: number;
  @IsBoolean() readonly input_enrichment_enabled!: boolean;
  /** Queries and updates per second, for each minute of the last hour. */
  @ListOf(Point) readonly throughput_vector!: readonly Point[];
}

/** @throws BAD_CONFIG if the tokens were sealed with another key file */
export function searchIndexAnswer(
  call: ManagementCall,
  index: SearchIndex,
  throughput: readonly Point[],
): SearchIndexAnswer {
  const endpoint = call.endpoint.urls.ofSearchIndex(index.id);
  return {
    ...indexAnswer(call, index, { endpoint, region: index.region }, throughput),
    partner_email: '',
    max_monthly_reranks: index.limits.maxMonthlyReranks,
    input_enrichment_enabled: true,
  };
}
