/** Bodies of the calls about search indexes. */
import { IsIn, IsString } from 'class-validator';
import { SEARCH_REGIONS, SEARCH_TYPES, type SearchRegion, type SearchType } from '../../../domain/control/index.js';
import { IsGivenName } from './rules.js';

export class CreateSearchIndexRequest {
  @IsGivenName()
  readonly name!: string;

  @IsIn(SEARCH_REGIONS)
  readonly region!: SearchRegion;

  @IsIn(SEARCH_TYPES)
  readonly type!: SearchType;
}

export class TransferRequest {
  /** The id of a team. */
  @IsString()
  readonly target_account!: string;
}
