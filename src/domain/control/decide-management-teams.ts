/** Decides commands about teams. The edge checks the person's role. */
import type { AccountId } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { accountCreation, accountOf, refuseNewRecord } from './decide-accounts.js';
import { accountsOf } from './decide-management-queues.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_OWNED_TEAMS, MAX_TEAM_MEMBERS } from './limits.js';
import { TEAM_ROLES, type Team } from './management.js';
import { isEmail } from './names.js';
import { isOnlyQueue, personOf, queueOwnerOf } from './people.js';
import type { Account } from './records.js';
import type { ControlState } from './state.js';

export function decideCreateTeam(command: ControlCommandOf<'CreateTeam'>, state: ControlState, atMs: number): Decision {
  const { account, copiesCard } = command;
  const known = state.accounts.get(account.id);
  if (known?.team !== undefined && known.secrets.queueToken.sha256 === account.secrets.queueToken.sha256) {
    return decided({ type: 'OneTeam', team: known });
  }
  if (!isEmail(account.email)) return rejected('BAD_VALUE', 'the owner of a team has an e-mail');
  const owner = personOf(account);
  const owned = accountsOf(state, state.people.teamsOf(owner)).filter(
    ({ team }) => team?.members.some(({ email, role }) => email === owner && role === 'owner') === true,
  );
  if (owned.length >= MAX_OWNED_TEAMS) {
    return rejected('TOO_MANY', `a person owns at most ${MAX_OWNED_TEAMS} teams`);
  }
  const refusal = refuseNewRecord(account, state);
  if (refusal !== undefined) return refusal;
  const team: Team = { members: [{ email: owner, role: 'owner' }], copiesCard };
  return decided({ type: 'OneTeam', team: { ...accountOf(account, atMs), team } }, ...accountCreation(account, atMs), {
    type: 'TeamSet',
    account: account.id,
    team,
    atMs,
  });
}

/** To change a role, a member is removed and added again. */
export function decideAddMember(command: ControlCommandOf<'AddMember'>, state: ControlState, atMs: number): Decision {
  const account = teamOf(state, command.team);
  if (account === undefined) return unknownTeam(command.team);
  const { members } = account.team;
  const { role } = command.member;
  const email = command.member.email.toLowerCase();
  if (!isEmail(email)) return rejected('BAD_VALUE', 'member_email is not an e-mail address');
  if (!TEAM_ROLES.includes(role) || role === 'owner') {
    return rejected('BAD_VALUE', 'member_role must be admin, dev or finance');
  }
  const known = members.find((member) => member.email === email);
  if (known?.role === role) return decided({ type: 'OneTeam', team: account });
  if (known !== undefined) {
    return rejected('CONFLICTS', `${email} is a member already, as ${known.role}: remove the member first`);
  }
  if (members.length >= MAX_TEAM_MEMBERS) {
    return rejected('TOO_MANY', `a team has at most ${MAX_TEAM_MEMBERS} members`);
  }
  return teamSet(account, { ...account.team, members: [...members, { email, role }] }, atMs);
}

/**
 * Also deletes the person's keys for the team: CST6 (a person's key exists as long as the person acts for the
 * account).
 */
export function decideRemoveMember(
  command: ControlCommandOf<'RemoveMember'>,
  state: ControlState,
  atMs: number,
): Decision {
  const account = teamOf(state, command.team);
  if (account === undefined) return unknownTeam(command.team);
  const email = command.email.toLowerCase();
  const { members } = account.team;
  const known = members.find((member) => member.email === email);
  if (known === undefined) return rejected('UNKNOWN_MEMBER', `${email} is not a member of the team`);
  if (known.role === 'owner') return rejected('CONFLICTS', 'the owner of a team cannot be removed');
  return teamSet(account, { ...account.team, members: members.filter((member) => member !== known) }, atMs);
}

/**
 * Deletes a team with its own queue and accounts that are only queues; their messages are not considered. A queue of
 * a person or another team, and the team's own queue at another team, must be moved first.
 */
export function decideDeleteTeam(
  { team: id }: ControlCommandOf<'DeleteTeam'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (state.deletedAccounts.has(id)) return decided({ type: 'TeamIsGone' });
  const team = teamOf(state, id);
  if (team === undefined) return unknownTeam(id);
  const others = accountsOf(state, state.people.queues.of(id)).filter((queue) => queue.id !== id);
  const foreign = others.filter((queue) => !isOnlyQueue(queue));
  const owned = [
    [state.databasesOf(id).length, 'databases'],
    [state.search.countOf(id), 'search indexes'],
    [foreign.length, 'queues of other accounts'],
    [queueOwnerOf(team) === id ? 0 : 1, 'its own queue in another team'],
  ] as const;
  const left = owned.filter(([count]) => count > 0).map(([, resources]) => resources);
  if (left.length > 0) return rejected('CONFLICTS', `the team still has ${left.join(' and ')}`);
  const gone = [...others, team].map(({ id: account }) => ({ type: 'AccountDeleted', account, atMs }) as const);
  return decided({ type: 'TeamIsGone' }, ...gone);
}

export function decideListTeams({ email }: ControlCommandOf<'ListTeams'>, state: ControlState): Decision {
  const person = email.toLowerCase();
  const given = state.roles.assignmentsTo(person).map(({ account }) => account);
  const shared = new Set([...state.people.teamsOf(person), ...given]);
  for (const own of state.people.ownAccounts(person)) shared.delete(own);
  return decided({ type: 'Accounts', accounts: accountsOf(state, shared) });
}

type TeamAccount = Account & { readonly team: Team };

function teamOf(state: ControlState, id: AccountId): TeamAccount | undefined {
  const account = state.accounts.get(id);
  return account?.team === undefined ? undefined : { ...account, team: account.team };
}

function teamSet(account: TeamAccount, team: Team, atMs: number): Decision {
  return decided({ type: 'OneTeam', team: { ...account, team } }, { type: 'TeamSet', account: account.id, team, atMs });
}

function unknownTeam(id: AccountId): Decision {
  return rejected('UNKNOWN_TEAM', `there is no team ${id}`);
}
