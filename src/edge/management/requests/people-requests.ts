/** Bodies of calls about teams and API keys. */
import { IsBoolean, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_ROLE_TEXT, type TeamRole } from '../../../domain/control/index.js';
import { IsGivenName, IsMailbox } from './rules.js';

/** Roles that a member can get; the owner is the creator of the team. */
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

  /** An extension: the key may only read. */
  @IsOptional()
  @IsBoolean()
  readonly readonly: boolean | undefined;

  /** An extension: the key acts for this team. Default: the caller's account. */
  @IsOptional()
  @IsString()
  readonly team_id: string | undefined;

  /** An extension: the key has only those rights of the caller that this role has. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly role: string | undefined;

  /** An extension: the only database, queue account or index that the role is for. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly resource_id: string | undefined;
}
