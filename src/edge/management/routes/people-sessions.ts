/** Sessions of people: the caller's, and for those who manage members all sessions of the account. */
import type { SignInSession } from '../../../domain/control/index.js';
import { notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT } from '../../http/answer-shape.js';
import { RefusedRequest } from '../../http/refused.js';
import { shownSessionId } from '../../sessions/sealed-sessions.js';
import { SessionAnswer, sessionAnswer } from '../answers/people-answers.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';

export const PEOPLE_SESSION_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/sessions', {
    summary: 'Lists the sessions of the caller, newest first; for an owner or admin all sessions of the account.',
    permission: 'self:read',
    answer: listOf(SessionAnswer),
    async handle(call) {
      return (await sessionsOf(call)).map((session) => sessionAnswer(session, shownSessionId(session.name)));
    },
  }),

  managementRoute('DELETE /v2/sessions/:id', {
    summary: 'Ends a session in every process.',
    permission: 'self:change',
    answer: OK_ANSWER,
    async handle(call, { path: { id } }) {
      const session = (await sessionsOf(call)).find(({ name }) => shownSessionId(name) === id);
      if (session === undefined) throw new RefusedRequest(notFound('session'));
      const { name, untilMs, email, account } = session;
      const about = { action: 'endSession', entity: email, account } as const;
      await call.change({ type: 'SignOut', session: name, untilMs }, 'SignedOut', about);
      return OK_TEXT;
    },
  }),
];

/** Without those that only their own text lists, because they began before format level 6. */
async function sessionsOf(call: ManagementCall): Promise<readonly SignInSession[]> {
  const { account, grant } = call;
  const ask = async (email: string) =>
    (await call.ask({ type: 'ListSessions', account, email }, 'SessionsAre')).sessions;
  if (!grant.rights.has('members:change')) {
    return (await ask(grant.email)).filter((session) => !grant.isTeam || session.account === account);
  }
  return ask('');
}
