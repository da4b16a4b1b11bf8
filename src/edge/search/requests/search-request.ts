/** The body of `search`. */
import { IsBoolean, IsInt, IsNumber, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { MAX_FILTER_CHARACTERS, MAX_QUERY_CHARACTERS, MAX_TOP_K } from '../../../domain/search/index.js';
import type { SearchQuery } from '../../../ports/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';
import { DEFAULT_TOP_K } from '../endpoint-limits.js';
import { IsVector } from './rules.js';

const DEFAULT_SEMANTIC_WEIGHT = 0.75;
const BETWEEN = 'semanticWeight must be between 0 and 1';

export class SearchRequest {
  @MaxLength(MAX_QUERY_CHARACTERS)
  @IsString()
  readonly query: string;

  @Max(MAX_TOP_K)
  @Min(1)
  @IsInt()
  readonly topK: number;

  @IsBoolean()
  readonly includeData: boolean;

  @IsBoolean()
  readonly includeMetadata: boolean;

  @MaxLength(MAX_FILTER_CHARACTERS)
  @IsString()
  readonly filter: string;

  @IsBoolean()
  readonly reranking: boolean;

  @Max(1, { message: BETWEEN })
  @Min(0, { message: BETWEEN })
  @IsNumber()
  readonly semanticWeight: number;

  /** Accepted without effect, because there is no language model. */
  @IsBoolean()
  readonly inputEnrichment: boolean;

  @IsBoolean()
  readonly _appendOriginalInputToEnrichmentResult: boolean;

  /** The client's own vector, with or without a text; an extension. */
  @IsOptional()
  @IsVector()
  readonly vector: readonly number[] | undefined;

  /** `null` counts as missing. */
  private constructor(members: ReadonlyMap<string, unknown>) {
    this.vector = (members.get('vector') ?? undefined) as readonly number[] | undefined;
    this.query = (members.get('query') ?? (this.vector === undefined ? undefined : '')) as string;
    this.topK = (members.get('topK') ?? DEFAULT_TOP_K) as number;
    this.includeData = (members.get('includeData') ?? false) as boolean;
    this.includeMetadata = (members.get('includeMetadata') ?? false) as boolean;
    this.filter = (members.get('filter') ?? '') as string;
    this.reranking = (members.get('reranking') ?? false) as boolean;
    this.semanticWeight = (members.get('semanticWeight') ?? DEFAULT_SEMANTIC_WEIGHT) as number;
    this.inputEnrichment = (members.get('inputEnrichment') ?? true) as boolean;
    this._appendOriginalInputToEnrichmentResult = (members.get('_appendOriginalInputToEnrichmentResult') ??
      false) as boolean;
  }

  /** @throws Refused 400 */
  static from(body: unknown): SearchRequest {
    const request = checked(new SearchRequest(membersOf(body)));
    if (request.query === '' && request.vector === undefined) throw invalid('query must not be empty');
    return request;
  }

  get asked(): SearchQuery {
    const { query, vector, topK, filter, semanticWeight, reranking, includeData, includeMetadata } = this;
    return { text: query, vector, topK, filter, semanticWeight, reranking, includeData, includeMetadata };
  }
}
