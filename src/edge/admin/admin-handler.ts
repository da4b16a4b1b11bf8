/**
 * The operators' API, for whoever has the port: `/v2/admin/…`. Signed in with the credentials of the management API, or
 * with a session that was begun with them. Nothing here has a second spelling.
 *
 * Order of judgement: credentials (401), the header of a page's change (403), route (404, 405), rights (403), whose it is (404), what is asked (400).
 */
import type { IncomingMessage } from 'node:http';
import { adminRefusalOf, MANAGEMENT_REFUSALS } from '../error-map.js';
import type { HttpExchange } from '../http/answer.js';
import { basicCredentials } from '../http/credentials.js';
import { discardBody } from '../http/index.js';
import { type Mounted, mounted } from '../http/mounted.js';
import { RefusedRequest } from '../http/refused.js';
import { RouteTable } from '../http/route-table.js';
import { signedIn } from '../http/signing-in.js';
import { sessionOf } from '../sessions/page-requests.js';
import { sessionIn } from '../sessions/sealed-sessions.js';
import { mustBeAllowed } from '../team-permissions.js';
import { AdminCall, type AdminCaller } from './admin-call.js';
import { AdminFace, type AdminHandlerParts } from './admin-face.js';
import { ADMIN_ROUTES } from './routes/index.js';

const ROOT = '/v2/admin/';
const SESSIONS = `${ROOT}sessions`;
const SESSION = `${ROOT}session`;
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="management", charset="UTF-8"' };

const TABLE = new RouteTable(ADMIN_ROUTES);

export function createAdminHandler(parts: AdminHandlerParts): Mounted {
  const face = new AdminFace(parts);
  return mounted({
    name: 'admin',
    root: ROOT,
    log: parts.log,
    isDraining: parts.isDraining,
    answer: (exchange, path, query) => answer(face, exchange, path, query),
    wording: adminRefusalOf,
  });
}

async function answer(face: AdminFace, { request, response }: HttpExchange, path: string, query: URLSearchParams) {
  const caller = callerOf(face, request, path);
  discardBody(request);
  const { route, path: parts } = TABLE.find(request, path);
  if (route.permission !== 'open') mustBeAllowed(caller.grant.role, route.permission);
  const call = new AdminCall(face, request, response, caller, { query, id: parts.id });
  await route.handle(call, { path: parts, query: {}, body: {} });
}

/** @throws Refused 401, 429; CONTROL_STALE */
function callerOf(
  { parts, pages, signIns, addresses }: AdminFace,
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
    // A browser that is challenged asks its user itself, before the console's page can.
    const isOfConsole = session !== undefined || path === SESSION || path === SESSIONS;
    throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, isOfConsole ? {} : CHALLENGE);
  }
  // A browser sends its cookie along whoever has it ask: PGR1, PGR2.
  if (headers.authorization === undefined && session !== undefined) sessionOf(pages, request);
  return { grant, lookUp };
}
