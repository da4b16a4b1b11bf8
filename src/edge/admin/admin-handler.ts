/**
 * The operators' API, for whoever has the port: `/v2/admin/…`. Signed in with the credentials of the management API, or
 * with a session that was begun with them. Nothing here has a second spelling, and nothing here changes anything but
 * sessions.
 *
 * Order of judgement: credentials (401), route (404, 405), rights (403), whose it is (404), what is asked (400).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../../kernel/index.js';
import { uuidOf } from '../../messages/index.js';
import { type ManagementGrant, READ_MODEL_NAMES } from '../../ports/index.js';
import { forbidden, isStranger, MANAGEMENT_REFUSALS, notFound } from '../error-map.js';
import { basicCredentials } from '../http/credentials.js';
import { answerUnread, discardBody, endInOnePiece, isLongBody } from '../http/index.js';
import { Refused } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { mustBeAllowed, type Permission } from '../team-permissions.js';
import { ADMIN_HEADERS, AdminCall } from './admin-call.js';
import { AdminFace, type AdminHandlerParts } from './admin-face.js';
import { refusedBy } from './admin-failures.js';
import { diff, stateAt, timeline, verify } from './audit-routes.js';
import { logFeed, statisticsFeed } from './feeds.js';
import { SESSION_COOKIE, SESSION_MS, sessionIn } from './sessions.js';

/** @returns false, and has done nothing, for the path of something else. Requests are those of a face server */
export type AdminHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

type Run = (call: AdminCall) => Promise<void>;

const ROOT = '/v2/admin/';
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="management", charset="UTF-8"' };

/** `:id` stands for one part of the path. Whoever may not use a database or a queue does not see what is in it either. */
const ROUTES: readonly (readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  permission: Permission,
  run: Run,
])[] = [
  ['POST', 'sessions', 'read', beginSession],
  ['GET', 'session', 'read', showSession],
  ['DELETE', 'session', 'read', endSession],
  ['GET', 'databases/:id/timeline', 'databases', async (call) => timeline(call, await call.database())],
  ['GET', 'databases/:id/state', 'databases', stateAt],
  ['GET', 'databases/:id/diff', 'databases', diff],
  ['GET', 'databases/:id/verify', 'read', async (call) => verify(call, await call.database())],
  ['GET', 'databases/:id/statistics', 'read', (call) => statisticsFeed(call, 'database')],
  ['GET', 'queues/:id/timeline', 'databases', async (call) => timeline(call, await call.queue())],
  ['GET', 'queues/:id/verify', 'read', async (call) => verify(call, await call.queue())],
  ['GET', 'queues/:id/logs', 'databases', logFeed],
  ['GET', 'queues/:id/statistics', 'read', (call) => statisticsFeed(call, 'queue')],
  ['GET', 'verify', 'read', verifyEverything],
  ['POST', 'read-models/:id/rebuild', 'read', rebuildReadModel],
];

export function createAdminHandler(parts: AdminHandlerParts): AdminHandler {
  const face = new AdminFace(parts);
  return (request, response) => {
    const target = request.url as string;
    if (!target.startsWith(ROOT)) return false;
    void answer(face, request, response, target.slice(ROOT.length)).catch((failure: unknown) =>
      refuse(face, request, response, failure),
    );
    return true;
  };
}

async function answer(face: AdminFace, request: IncomingMessage, response: ServerResponse, target: string) {
  const [path = '', ...rest] = target.split('?');
  const { grant, lookUp } = grantOf(face, request, path);
  discardBody(request);
  const matching = ROUTES.flatMap(([method, pattern, permission, run]) => {
    const id = idIn(pattern, path);
    return id === undefined ? [] : [{ method, permission, run, id }];
  });
  if (matching.length === 0) throw new Refused(MANAGEMENT_REFUSALS.routeNotFound);
  const route = matching.find(({ method }) => method === request.method);
  if (route === undefined) {
    throw new Refused(MANAGEMENT_REFUSALS.methodNotAllowed, { Allow: matching.map(({ method }) => method).join(', ') });
  }
  mustBeAllowed(grant.role, route.permission);
  const query = new URLSearchParams(rest.join('?'));
  await route.run(new AdminCall(face, request, response, grant, lookUp, query, route.id));
}

/** @returns '' for a route without an id; undefined when the path is another one */
function idIn(pattern: string, path: string): string | undefined {
  const parts = path.split('/');
  const wanted = pattern.split('/');
  if (parts.length !== wanted.length) return undefined;
  let id = '';
  for (const [at, part] of wanted.entries()) {
    const given = parts[at] as string;
    if (part === ':id') id = given;
    else if (part !== given) return undefined;
  }
  return id;
}

/** @throws Refused 401, 429; CONTROL_STALE */
function grantOf(
  { parts, sessions, signIns, addresses }: AdminFace,
  request: IncomingMessage,
  path: string,
): { readonly grant: ManagementGrant; readonly lookUp: () => ManagementGrant | undefined } {
  const { headers } = request;
  const credentials = basicCredentials(headers.authorization);
  const session = path === 'sessions' ? undefined : sessionIn(headers.authorization, headers.cookie);
  const lookUp = () => {
    if (credentials !== undefined) return parts.access.grantForKey(credentials.email, credentials.key);
    return session === undefined ? undefined : sessions.grantFor(session);
  };
  const secret = credentials?.key ?? session;
  const address = () => addresses.of(request);
  const grant =
    secret === undefined ? undefined : signedIn({ signIns, address, secret, name: credentials?.email }, lookUp);
  if (grant === undefined) {
    // A browser that is challenged asks its user itself, before the console's page can.
    const isOfConsole = session !== undefined || path === 'session' || path === 'sessions';
    throw new Refused(MANAGEMENT_REFUSALS.unauthorized, isOfConsole ? {} : CHALLENGE);
  }
  return { grant, lookUp };
}

async function beginSession(call: AdminCall): Promise<void> {
  const { face, request } = call;
  const credentials = basicCredentials(request.headers.authorization);
  if (credentials === undefined) throw new Refused(MANAGEMENT_REFUSALS.unauthorized);
  const { text, untilMs } = face.sessions.begin(credentials);
  const until = new Date(untilMs).toISOString();
  call.json(JSON.stringify({ session: text, until, ...shown(call) }), {
    'Set-Cookie': cookie(face, encodeURIComponent(text), SESSION_MS / 1000),
  });
}

async function showSession(call: AdminCall): Promise<void> {
  call.json(JSON.stringify(shown(call)));
}

/** The browser forgets it, and its text is worth nothing any more, wherever it was copied to. */
async function endSession(call: AdminCall): Promise<void> {
  const { authorization, cookie: cookies } = call.request.headers;
  const text = sessionIn(authorization, cookies);
  const session = text === undefined ? undefined : call.face.sessions.named(text);
  if (session !== undefined) {
    await call.ask({ type: 'SignOut', session: session.name, untilMs: session.untilMs }, 'SignedOut');
  }
  call.json('"OK"', { 'Set-Cookie': cookie(call.face, '', 0) });
}

async function verifyEverything(call: AdminCall): Promise<void> {
  if (!call.face.parts.isOperator(call.grant)) {
    throw new Refused(forbidden('only people of the first account may verify the whole installation'));
  }
  await verify(call, undefined);
}

/** Of this process, for operators. */
async function rebuildReadModel(call: AdminCall): Promise<void> {
  const { readModels, isOperator } = call.face.parts;
  if (call.grant.isReadOnly) throw new Refused(MANAGEMENT_REFUSALS.readOnly);
  if (!isOperator(call.grant)) throw new Refused(forbidden('only people of the first account may rebuild read models'));
  const model = READ_MODEL_NAMES.find((name) => name === call.id);
  if (model === undefined) throw new Refused(notFound('read model'));
  if (readModels === undefined) throw new Refused(MANAGEMENT_REFUSALS.noReadModels);
  readModels.rebuild(model);
  call.json(JSON.stringify({ rebuilding: model }));
}

function shown({ face, grant }: AdminCall) {
  const { email, account, isTeam, role, isReadOnly, keyName } = grant;
  return {
    email,
    customer_id: isTeam ? uuidOf(account) : email,
    role,
    readonly: isReadOnly,
    key: keyName,
    operator: face.parts.isOperator(grant),
  };
}

function cookie({ parts }: AdminFace, value: string, seconds: number): string {
  const secure = parts.isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

function refuse(face: AdminFace, request: IncomingMessage, response: ServerResponse, failure: unknown): void {
  const { refusal, headers } = refusedBy(failure);
  const leavesBody = isStranger(refusal) && isLongBody(request);
  if (!leavesBody) discardBody(request);
  if (refusal.status === 500) face.parts.log.error('admin.request.failed', { error: describeError(failure) });
  if (response.destroyed) return;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify({ error: refusal.text });
  const bytes = Buffer.byteLength(text);
  response.writeHead(refusal.status, {
    'Content-Type': 'application/json',
    'Content-Length': bytes,
    ...ADMIN_HEADERS,
    ...(refusal.retryAfterSeconds === undefined ? {} : { 'Retry-After': refusal.retryAfterSeconds }),
    ...(face.isDraining || leavesBody ? { Connection: 'close' } : {}),
    ...headers,
  });
  if (leavesBody) answerUnread(request, response, text);
  else endInOnePiece(response, text, 'utf8', bytes);
}
