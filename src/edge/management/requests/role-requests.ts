/** Bodies of calls about roles and their assignments. */
import { ArrayMaxSize, ArrayMinSize, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { ALL_RIGHTS, type GivenRight, MAX_ROLE_TEXT } from '../../../domain/control/index.js';
import { IsGivenName, IsMailbox } from './rules.js';

export class ChangeRoleRequest {
  @IsIn(ALL_RIGHTS, { each: true })
  @ArrayMinSize(1)
  @ArrayMaxSize(ALL_RIGHTS.length)
  readonly rights!: readonly GivenRight[];

  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly description: string | undefined;
}

export class CreateRoleRequest extends ChangeRoleRequest {
  @IsGivenName()
  readonly name!: string;
}

/** To a person, or to a group of an identity provider. */
export class AssignRoleRequest {
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly role!: string;

  @IsOptional()
  @IsMailbox()
  readonly email: string | undefined;

  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly group: string | undefined;

  /** The identity provider of the group. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly provider: string | undefined;

  /** The id of the only database, queue account or index. Default: the whole account. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_ROLE_TEXT)
  readonly resource_id: string | undefined;
}
