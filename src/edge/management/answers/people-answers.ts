/** Teams, their members, API keys and the audit log as the management API shows them. */
import { IsBoolean, IsIn, IsInt, IsOptional, IsString } from 'class-validator';
import {
  type Account,
  type ApiKey,
  AUDIT_TTL_MS,
  type AuditEntry,
  auditLine,
  type SignInSession,
  TEAM_ROLES,
  type TeamMember,
} from '../../../domain/control/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { unixSeconds } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';

export class TeamAnswer {
  @IsString() readonly team_id!: string;
  @IsString() readonly team_name!: string;
  @IsBoolean() readonly copy_cc!: boolean;
}

export class TeamMemberAnswer {
  @IsString() readonly team_id!: string;
  @IsString() readonly team_name!: string;
  @IsString() readonly member_email!: string;
  @IsIn(TEAM_ROLES) readonly member_role!: string;
  @IsBoolean() readonly copy_cc!: boolean;
}

export class ApiKeyAnswer {
  @IsString() readonly name!: string;
  /** The account of the key: an e-mail, or the id of a team. */
  @IsString() readonly customer_id!: string;
  @IsBoolean() readonly readonly!: boolean;
  @IsInt() readonly creation_time!: number;
  /** The role that limits the key. */
  @IsOptional() @IsString() readonly role?: string;
  /** The only resource that the role is for. */
  @IsOptional() @IsString() readonly resource_id?: string;
}

export class NewApiKeyAnswer extends ApiKeyAnswer {
  /** Shown only in this answer. */
  @IsString() readonly api_key!: string;
}

export class SessionAnswer {
  @IsString() readonly session_id!: string;
  @IsString() readonly email!: string;
  /** The identity provider; empty for a session of a key. */
  @IsString() readonly provider!: string;
  /** The name of the key; empty for a session of a provider. */
  @IsString() readonly key!: string;
  @IsString() readonly ip!: string;
  /** The client, as it named itself. */
  @IsString() readonly agent!: string;
  @IsInt() readonly creation_time!: number;
  /** Its end, in Unix seconds. */
  @IsInt() readonly until!: number;
}

export class AuditLogAnswer {
  @IsString() readonly log_id!: string;
  @IsString() readonly customer_id!: string;
  @IsString() readonly actor!: string;
  @IsInt() readonly timestamp!: number;
  @IsInt() readonly action!: number;
  @IsString() readonly action_string!: string;
  @IsString() readonly source!: string;
  @IsString() readonly entity!: string;
  @IsString() readonly secondary_entity!: string;
  @IsString() readonly third_entity!: string;
  @IsString() readonly readable_format!: string;
  @IsString() readonly ip!: string;
  /** When the entry is removed from the log, in Unix seconds. */
  @IsInt() readonly ttl!: number;
  @IsString() readonly reason!: string;
  @IsString() readonly notes!: string;
}

export class AuditExportAnswer {
  /** Empty: no export. */
  @IsString() readonly url!: string;
  /** The age of the oldest change that the queue has not accepted; 0: none. */
  @IsInt() readonly lag_seconds!: number;
  /** In the journal of the control state; the queue has accepted all changes up to it. */
  @IsOptional() @IsInt() readonly position?: number | undefined;
  /** The age of the oldest message that the address has not acknowledged; 0: none. */
  @IsInt() readonly undelivered_seconds!: number;
  /** Why the queue does not accept messages, or the error of the last attempt at the oldest message. */
  @IsOptional() @IsString() readonly problem?: string | undefined;
}

export function teamAnswer({ id, name, team }: Account): TeamAnswer {
  return { team_id: uuidOf(id), team_name: name, copy_cc: team?.copiesCard ?? false };
}

export function teamMemberAnswer(team: Account, { email, role }: TeamMember): TeamMemberAnswer {
  return { ...teamAnswer(team), member_email: email, member_role: role };
}

export function sessionAnswer(session: SignInSession, id: string): SessionAnswer {
  const { email, provider, keyName: key, ip, agent, beganAtMs, untilMs } = session;
  const times = { creation_time: unixSeconds(beganAtMs), until: unixSeconds(untilMs) };
  return { session_id: id, email, provider, key, ip, agent, ...times };
}

/** @param isTeam whether the key's account is a team */
export function apiKeyAnswer(key: ApiKey, isTeam: boolean): ApiKeyAnswer {
  const { account, email, name, isReadOnly, createdAtMs, role, on } = key;
  return {
    name,
    customer_id: isTeam ? uuidOf(account) : email,
    readonly: isReadOnly,
    creation_time: unixSeconds(createdAtMs),
    ...(role !== undefined && { role }),
    ...(on !== undefined && { resource_id: on }),
  };
}

export function auditLogAnswer({ customerId }: ManagementCall, entry: AuditEntry): AuditLogAnswer {
  return { ...auditLine(entry), customer_id: customerId, ttl: unixSeconds(entry.atMs + AUDIT_TTL_MS), notes: '' };
}
