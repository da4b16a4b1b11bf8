/** Bodies of the calls about teams and API keys. */
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import type { TeamRole } from '../../../domain/control/index.js';
import { IsGivenName, IsMailbox } from './rules.js';

/** What a member can be made; the owner is whoever made the team. */
const GIVEN_ROLES = ['admin', 'dev', 'finance'] as const satisfies readonly TeamRole[];

export class CreateTeamRequest {
  @IsGivenName()
  readonly team_name!: string;

  @IsBoolean()
  readonly copy_cc!: boolean;
}

export class AddMemberRequest {
  @IsString()
  readonly team_id!: string;

  @IsMailbox()
  readonly member_email!: string;

  @IsIn(GIVEN_ROLES)
  readonly member_role!: (typeof GIVEN_ROLES)[number];
}

export class RemoveMemberRequest {
  @IsString()
  readonly team_id!: string;

  @IsMailbox()
  readonly member_email!: string;
}

export class CreateApiKeyRequest {
  @IsGivenName()
  readonly name!: string;

  /** Only this server knows it: the key may look, and changes nothing. */
  @IsOptional()
  @IsBoolean()
  readonly readonly: boolean | undefined;

  /** Only this server knows it: the key acts for this team. Left out, it acts for the account that asks. */
  @IsOptional()
  @IsString()
  readonly team_id: string | undefined;
}
