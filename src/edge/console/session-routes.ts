/**
 * `/console/api/session`: sign-in, the current session, sign-out.
 *
 *  CSE1 the secret of a session is only in its cookie, which scripts cannot read; no body contains it
 */
import { uuidOf } from '../../protocol/index.js';
import { askControl } from '../control-asking.js';
import { MANAGEMENT_REFUSALS } from '../error-map.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import type { BasicCredentials } from '../http/credentials.js';
import { parsed } from '../http/json-scanner.js';
import { FLAG, record } from '../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { sessionOf } from '../sessions/page-requests.js';
import { type OpenedSession, sessionCookie, sessionInCookie } from '../sessions/sealed-sessions.js';
import { type ConsoleCall, type ConsoleRoute, consoleRoute } from './console-call.js';
import type { ConsoleEndpoint } from './console-endpoint.js';

/** The answer without a session, not a failure: every page starts with this request. */
const NOBODY = { signed_in: false };
const MAX_TEXT_CHARACTERS = 1024;

const SESSION = '/console/api/session';
const SHOWN: AnswerShape = json(record({ signed_in: FLAG }), 'The session, or its absence.');

export const CONSOLE_SESSION_ROUTES: readonly ConsoleRoute[] = [
  consoleRoute(`GET ${SESSION}`, {
    alsoMethods: ['head'],
    summary: 'Shows the session.',
    permission: 'open',
    answer: SHOWN,
    handle: (call) => call.json(shownTo(call.endpoint, currentSession(call))),
  }),
  consoleRoute(`POST ${SESSION}`, {
    summary: 'Begins a session.',
    permission: 'open',
    bodyBound: 'sign-in',
    answer: SHOWN,
    handle: signIn,
  }),
  consoleRoute(`DELETE ${SESSION}`, {
    summary: 'Ends the session.',
    permission: 'open',
    answer: SHOWN,
    handle: signOut,
  }),
];

/** @throws Refused 400, 401, 429; CONTROL_STALE */
function signIn(call: ConsoleCall): void {
  const { endpoint, context } = call;
  const { parts, pages, signIns, addresses } = endpoint;
  const credentials = credentialsIn(call.body);
  const { email, key } = credentials;
  const signingIn = { signIns, address: () => addresses.of(context.req), secret: key, name: email };
  if (signedIn(signingIn, () => parts.access.grantForKey(email, key)) === undefined) {
    throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized);
  }
  const { sessions } = pages;
  const { text } = sessions.begin(credentials);
  const cookie = sessionCookie(text, Math.floor(sessions.sessionMs / 1000), parts.isSecure);
  call.json(shownTo(endpoint, sessions.opened(text)), { 'Set-Cookie': cookie });
}

/** Removes the cookie and invalidates the session in every process. @throws Refused 401, 403; CONTROL_STALE */
async function signOut(call: ConsoleCall): Promise<void> {
  const { endpoint, context } = call;
  const { parts, pages } = endpoint;
  sessionOf(pages, context.req);
  const session = pages.sessions.named(sessionInCookie(context.req.headers.cookie) as string);
  if (session !== undefined) {
    const { name, untilMs } = session;
    await askControl(parts.control, { type: 'SignOut', session: name, untilMs }, 'SignedOut');
  }
  call.json(NOBODY, { 'Set-Cookie': sessionCookie('', 0, parts.isSecure) });
}

function currentSession({ endpoint, context }: ConsoleCall): OpenedSession | undefined {
  const text = sessionInCookie(context.headers.cookie);
  return text === undefined ? undefined : endpoint.pages.sessions.opened(text);
}

function shownTo({ parts }: ConsoleEndpoint, session: OpenedSession | undefined): object {
  if (session === undefined) return NOBODY;
  const { grant, untilMs, csrf } = session;
  const { email, account, isTeam, role, isReadOnly, keyName } = grant;
  return {
    signed_in: true,
    email,
    customer_id: isTeam ? uuidOf(account) : email,
    role,
    readonly: isReadOnly,
    key: keyName,
    operator: parts.isOperator(grant),
    until: new Date(untilMs).toISOString(),
    csrf,
  };
}

/** @throws Refused 400 */
function credentialsIn(body: Buffer): BasicCredentials {
  const given = parsed(body) as Partial<Record<keyof BasicCredentials, unknown>> | null;
  const { email, key } = given ?? {};
  return { email: textIn('email', email).toLowerCase(), key: textIn('key', key) };
}

function textIn(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_CHARACTERS) return value;
  throw invalid(`${name}: must be a text of 1 to ${MAX_TEXT_CHARACTERS} characters`);
}
