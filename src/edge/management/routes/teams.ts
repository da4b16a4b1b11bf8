/** Teams and their members. A new member acts for the team immediately, without an invitation. */

import { DEFAULT_KEY_NAME } from '../../../domain/control/index.js';
import type { AccountId } from '../../../kernel/index.js';
import { newAccountId } from '../../../protocol/index.js';
import { forbidden } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { TeamAnswer, TeamMemberAnswer, teamAnswer, teamMemberAnswer } from '../answers/people-answers.js';
import { EXAMPLE_ID } from '../example-id.js';
import { teamInScope } from '../ids.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { AddMemberRequest, CreateTeamRequest, RemoveMemberRequest } from '../requests/people-requests.js';

export const TEAM_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/teams', {
    summary: 'Lists the teams of which the caller is a member, oldest first; with the key of a team that one alone.',
    permission: 'self:read',
    answer: listOf(TeamAnswer),
    async handle(call) {
      const { email, isTeam } = call.grant;
      const { accounts } = await call.ask({ type: 'ListTeams', email }, 'Accounts');
      return accounts.filter(({ id }) => !isTeam || id === call.account).map(teamAnswer);
    },
  }),

  managementRoute('POST /v2/team', {
    summary: 'Makes a team, which the caller owns.',
    permission: 'self:change',
    body: CreateTeamRequest,
    example: { team_name: 'crew', copy_cc: false },
    answer: one(TeamAnswer),
    async handle(call, { body: { team_name: name, copy_cc: copiesCard } }) {
      const { email, isTeam } = call.grant;
      if (isTeam) throw new RefusedRequest(forbidden('the key of a team acts for that team alone'));
      const { parts, secrets } = call.endpoint;
      const account = { id: newAccountId(parts.random), name, email, ...secrets.ofAccount() };
      const about = { action: 'createTeam', entity: name } as const;
      return teamAnswer((await call.change({ type: 'CreateTeam', account, copiesCard }, 'OneTeam', about)).team);
    },
  }),

  managementRoute('DELETE /v2/team/:id', {
    summary: 'Deletes an empty team.',
    permission: 'self:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const found = await teamInScope(call, path.id ?? '');
      mustBeAllowed(found, 'account:change');
      const { team } = found;
      // Logged in the caller's own account, because the team's log is deleted with it.
      const about = { action: 'deleteTeam', entity: team.name, account: await ownAccountOf(call) } as const;
      await call.change({ type: 'DeleteTeam', team: team.id }, 'TeamIsGone', about);
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/teams/:id', {
    summary: 'Lists the members of a team, its owner first.',
    permission: 'self:read',
    answer: listOf(TeamMemberAnswer),
    async handle(call, { path }) {
      const { team } = await teamInScope(call, path.id ?? '');
      return (team.team?.members ?? []).map((member) => teamMemberAnswer(team, member));
    },
  }),

  managementRoute('POST /v2/teams/member', {
    summary: 'Adds a person to a team. To change a role, remove and add the person again.',
    permission: 'self:change',
    body: AddMemberRequest,
    example: { team_id: EXAMPLE_ID, member_email: 'ada@example.com', member_role: 'dev' },
    answer: one(TeamMemberAnswer),
    async handle(call, { body: { team_id, member_email, member_role: role } }) {
      const found = await teamInScope(call, team_id);
      mustBeAllowed(found, 'members:change');
      const member = { email: member_email.toLowerCase(), role };
      const { id: account, name } = found.team;
      const about = { action: 'addTeamMember', entity: name, secondary: member.email, third: role, account } as const;
      const { team } = await call.change({ type: 'AddMember', team: account, member }, 'OneTeam', about);
      return teamMemberAnswer(team, member);
    },
  }),

  managementRoute('DELETE /v2/teams/member', {
    summary: 'Removes a person from a team; their keys for it are refused from then on.',
    permission: 'self:change',
    body: RemoveMemberRequest,
    example: { team_id: EXAMPLE_ID, member_email: 'ada@example.com' },
    answer: OK_ANSWER,
    async handle(call, { body: { team_id, member_email } }) {
      const found = await teamInScope(call, team_id);
      mustBeAllowed(found, 'members:change');
      const email = member_email.toLowerCase();
      if (found.team.team?.members[0]?.email === email) throw invalid('member_email: the owner stays in the team');
      const { id: account, name } = found.team;
      const about = { action: 'removeTeamMember', entity: name, secondary: email, account } as const;
      await call.change({ type: 'RemoveMember', team: account, email }, 'OneTeam', about);
      return OK_TEXT;
    },
  }),
];

/** The caller's personal account, even with a team's key; the key's account if the person has none any more. */
async function ownAccountOf(call: ManagementCall): Promise<AccountId> {
  const { email, isTeam } = call.grant;
  if (!isTeam) return call.account;
  const { keys } = await call.ask({ type: 'ListApiKeys', email }, 'ApiKeys');
  return keys.find(({ name }) => name === DEFAULT_KEY_NAME)?.account ?? call.account;
}
