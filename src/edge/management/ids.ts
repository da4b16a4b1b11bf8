/** Parses ids in paths and bodies. An invalid id is refused like an unknown one. */
import type { Account } from '../../domain/control/index.js';
import type { AccountId, BackupId, DatabaseId } from '../../kernel/index.js';
import { accountIdOfUuid, backupIdOfUuid, databaseIdOfUuid } from '../../protocol/index.js';
import { notFound } from '../error-map.js';
import { RefusedRequest } from '../http/refused.js';
import type { Entitled } from '../team-permissions.js';
import type { ManagementCall } from './management-call.js';

/** @throws Refused 404 */
export function databaseIdIn(text: string | undefined): DatabaseId {
  return known(databaseIdOfUuid(text ?? ''), 'database');
}

/** @throws Refused 404 */
export function queueIdIn(text: string | undefined): AccountId {
  return known(accountIdOfUuid(text ?? ''), 'message queue account');
}

/** @throws Refused 404 */
export function backupIdIn(text: string | undefined): BackupId {
  return known(backupIdOfUuid(text ?? ''), 'backup');
}

export interface TeamOfCaller extends Entitled {
  readonly team: Account;
}

/**
 * A team that the caller is a member of, for moving objects to it; the key's account does not matter, unless the key
 * has a role, which is for that account alone.
 * @param text the id, or `team:` and the id, as older clients send it. @throws Refused 404
 */
export async function teamOfCaller(call: ManagementCall, text: string): Promise<TeamOfCaller> {
  const id = known(accountIdOfUuid(text.startsWith('team:') ? text.slice('team:'.length) : text), 'team');
  const { email } = call.grant;
  const { accounts } = await call.ask({ type: 'ListTeams', email }, 'Accounts');
  const team = known(
    accounts.find((account) => account.id === id),
    'team',
  );
  const { grant, endpoint } = call;
  if (team.id === grant.account) return { team, role: grant.role, rights: grant.rights };
  if (grant.rights.isLimited) throw new RefusedRequest(notFound('team'));
  const role = team.team?.members.find((member) => member.email === email)?.role ?? 'given';
  return { team, role, rights: endpoint.parts.access.rightsIn(team.id, email) };
}

/**
 * A team that the key may manage: with a team's key only this team, with a personal key any team of the caller.
 * @throws Refused 404
 */
export async function teamInScope(call: ManagementCall, text: string): Promise<TeamOfCaller> {
  const found = await teamOfCaller(call, text);
  if (call.grant.isTeam && found.team.id !== call.account) throw new RefusedRequest(notFound('team'));
  return found;
}

function known<Found>(found: Found | undefined, resource: string): Found {
  if (found === undefined) throw new RefusedRequest(notFound(resource));
  return found;
}
