/**
 * The operators' API: `/v2/admin/…`. Its credentials are those of the management API, or a session started with them.
 * Its fields have no alias spelling.
 *
 * Order of checks: credentials (401), CSRF header of a change (403), route (404, 405), rights (403), ownership (404),
 * parameters (400).
 */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { adminRefusalOf, MANAGEMENT_REFUSALS } from '../error-map.js';
import { basicCredentials } from '../http/credentials.js';
import { discardBody } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { routed } from '../http/routing.js';
import { signedIn } from '../http/signing-in.js';
import { subHandler } from '../http/sub-handler.js';
import { sessionOf } from '../sessions/page-requests.js';
import { sessionIn } from '../sessions/sealed-sessions.js';
import { mustBeEntitled } from '../team-permissions.js';
import { AdminCall, type AdminCaller, type AdminRoute } from './admin-call.js';
import { AdminEndpoint, type AdminHandlerParts } from './admin-endpoint.js';
import { ADMIN_ROUTES } from './routes/index.js';

const ROOT = '/v2/admin/';
const SESSIONS = `${ROOT}sessions`;
const SESSION = `${ROOT}session`;
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="management", charset="UTF-8"' };

export function createAdminHandler(parts: AdminHandlerParts): Middleware {
  const endpoint = new AdminEndpoint(parts);
  const router = routed<AdminRoute, { caller: AdminCaller }>(ADMIN_ROUTES, {}, async (context, route, path) => {
    const { caller } = context.state;
    mustBeEntitled(caller.grant, route, path);
    await route.handle(new AdminCall(endpoint, context, caller, path.id), { path, query: {}, body: {} });
  });
  return subHandler<{ caller: AdminCaller }>({
    name: 'admin',
    root: ROOT,
    log: parts.log,
    isDraining: parts.isDraining,
    answer: async (context, next) => {
      context.state.caller = callerOf(endpoint, context.req, context.path);
      discardBody(context.req);
      await router(context, next);
    },
    wording: adminRefusalOf,
  });
}

/** @throws Refused 401, 429; CONTROL_STALE */
function callerOf(
  { parts, pages, signIns, addresses }: AdminEndpoint,
  request: IncomingMessage,
  path: string,
): AdminCaller {
  const { headers } = request;
  const credentials = basicCredentials(headers.authorization);
  const session = path === SESSIONS ? undefined : sessionIn(headers.authorization, headers.cookie);
  const lookUp = () => {
    if (credentials !== undefined) return parts.access.grantForKey(credentials.email, credentials.key);
    return session === undefined ? undefined : pages.sessions.grantFor(session);
  };
  const secret = credentials?.key ?? session;
  const address = () => addresses.of(request);
  const grant =
    secret === undefined ? undefined : signedIn({ signIns, address, secret, name: credentials?.email }, lookUp);
  if (grant === undefined) {
    // A challenged browser would ask for a password before the console's page can.
    const isOfConsole = session !== undefined || path === SESSION || path === SESSIONS;
    throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, isOfConsole ? {} : CHALLENGE);
  }
  // A browser sends its cookie with requests of any page (PGR1: a change needs the session's CSRF header; PGR2: no
  // changes from other origins).
  if (headers.authorization === undefined && session !== undefined) sessionOf(pages, request);
  return { grant, lookUp };
}
