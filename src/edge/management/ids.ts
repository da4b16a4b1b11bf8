/** Ids in paths and bodies, and what they stand for. What is no id of the right kind is as unknown as any other. */
import type { Account, TeamRole } from '../../domain/control/index.js';
import { type AccountId, assert, type BackupId, type DatabaseId } from '../../kernel/index.js';
import { accountIdOfUuid, backupIdOfUuid, databaseIdOfUuid } from '../../messages/index.js';
import { notFound } from '../error-map.js';
import { RefusedRequest } from '../http/refused.js';
import type { ManagementCall } from './management-call.js';

/** @throws Refused 404 */
export function databaseIdIn(text: string | undefined): DatabaseId {
  return known(databaseIdOfUuid(text ?? ''), 'database');
}

/** @throws Refused 404 */
export function searchIndexIdIn(text: string | undefined): DatabaseId {
  return known(databaseIdOfUuid(text ?? ''), 'search index');
}

/** @throws Refused 404 */
export function queueIdIn(text: string | undefined): AccountId {
  return known(accountIdOfUuid(text ?? ''), 'message queue account');
}

/** @throws Refused 404 */
export function backupIdIn(text: string | undefined): BackupId {
  return known(backupIdOfUuid(text ?? ''), 'backup');
}

export interface TeamOfCaller {
  readonly team: Account;
  readonly role: TeamRole;
}

/**
 * A team of which the caller is a member, whatever the key acts for: what is moved goes there.
 * @param text the id, or `team:` and the id, as older clients name a team. @throws Refused 404
 */
export async function teamOfCaller(call: ManagementCall, text: string): Promise<TeamOfCaller> {
  const id = known(accountIdOfUuid(text.startsWith('team:') ? text.slice('team:'.length) : text), 'team');
  const { email } = call.grant;
  const { accounts } = await call.ask({ type: 'ListTeams', email }, 'Accounts');
  const team = known(
    accounts.find((account) => account.id === id),
    'team',
  );
  const role = team.team?.members.find((member) => member.email === email)?.role;
  assert(role !== undefined, 'a team that was listed for somebody who is no member');
  return { team, role };
}

/** A team that the key may act for: its own, or with a key of one's own account any of one's teams. @throws Refused 404 */
export async function teamInScope(call: ManagementCall, text: string): Promise<TeamOfCaller> {
  const found = await teamOfCaller(call, text);
  if (call.grant.isTeam && found.team.id !== call.account) throw new RefusedRequest(notFound('team'));
  return found;
}

function known<Found>(found: Found | undefined, what: string): Found {
  if (found === undefined) throw new RefusedRequest(notFound(what));
  return found;
}
