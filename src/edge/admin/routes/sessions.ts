/** Sessions of the console: starting, reading and ending them. */
import { uuidOf } from '../../../protocol/index.js';
import { MANAGEMENT_REFUSALS } from '../../error-map.js';
import { json, OK_ANSWER } from '../../http/answer-shape.js';
import { basicCredentials } from '../../http/credentials.js';
import { FLAG, record, TEXT, TIME } from '../../http/openapi/parts.js';
import { RefusedRequest } from '../../http/refused.js';
import { sessionCookie, sessionIn } from '../../sessions/sealed-sessions.js';
import { recordKeySession } from '../../sessions/session-start.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';

const SHOWN = { email: TEXT, customer_id: TEXT, role: TEXT, readonly: FLAG, key: TEXT, operator: FLAG };

export const SESSION_ROUTES: readonly AdminRoute[] = [
  adminRoute('POST /v2/admin/sessions', {
    summary: 'Begins a session, with e-mail and API key; its cookie comes with the answer.',
    permission: 'self:read',
    answer: json(record({ session: TEXT, until: TIME, csrf: TEXT, ...SHOWN })),
    async handle(call) {
      const { endpoint, request } = call;
      const credentials = basicCredentials(request.headers.authorization);
      if (credentials === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized);
      const begun = endpoint.pages.sessions.begin(credentials);
      const client = { ip: endpoint.addresses.of(request), agent: request.headers['user-agent'] ?? '' };
      await recordKeySession(endpoint.parts, call.grant, begun, client);
      const { text, untilMs } = begun;
      const csrf = endpoint.pages.sessions.opened(text)?.csrf;
      const until = new Date(untilMs).toISOString();
      call.json(JSON.stringify({ session: text, until, csrf, ...shown(call) }), {
        'Set-Cookie': sessionCookie(
          text,
          Math.floor(endpoint.pages.sessions.sessionMs / 1000),
          endpoint.parts.isSecure,
        ),
      });
    },
  }),

  adminRoute('GET /v2/admin/session', {
    summary: 'Shows the signed-in person.',
    permission: 'self:read',
    answer: json(record(SHOWN)),
    async handle(call) {
      call.json(JSON.stringify(shown(call)));
    },
  }),

  // Removes the cookie and invalidates the session, also its copies.
  adminRoute('DELETE /v2/admin/session', {
    summary: 'Ends a session, in every process.',
    permission: 'self:read',
    answer: OK_ANSWER,
    async handle(call) {
      const { authorization, cookie: cookies } = call.request.headers;
      const text = sessionIn(authorization, cookies);
      const session = text === undefined ? undefined : call.endpoint.pages.sessions.named(text);
      if (session !== undefined) {
        await call.ask({ type: 'SignOut', session: session.name, untilMs: session.untilMs }, 'SignedOut');
      }
      call.json('"OK"', { 'Set-Cookie': sessionCookie('', 0, call.endpoint.parts.isSecure) });
    },
  }),
];

function shown({ endpoint, grant }: AdminCall) {
  const { email, account, isTeam, role, isReadOnly, keyName } = grant;
  return {
    email,
    customer_id: isTeam ? uuidOf(account) : email,
    role,
    readonly: isReadOnly,
    key: keyName,
    operator: endpoint.parts.isOperator(grant),
  };
}
