/**
 * `/console/api/session`: sign-in, the current session, sign-out.
 *
 *  CSE1 the secret of a session is only in its cookie, which scripts cannot read; no body contains it
 */
import type { ProviderTokens } from '../../ports/index.js';
import { accountIdOfUuid, uuidOf } from '../../protocol/index.js';
import { askControl } from '../control-asking.js';
import { MANAGEMENT_REFUSALS, notFound } from '../error-map.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import type { BasicCredentials } from '../http/credentials.js';
import { parsed } from '../http/json-scanner.js';
import { FLAG, record } from '../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { sessionOf } from '../sessions/page-requests.js';
import { type OpenedSession, sessionCookie, sessionInCookie } from '../sessions/sealed-sessions.js';
import { noteOf, recordKeySession } from '../sessions/session-start.js';
import { type ConsoleCall, type ConsoleRoute, consoleRoute } from './console-call.js';
import type { ConsoleEndpoint } from './console-endpoint.js';
import { accountsShown, clientOf, originOf } from './provider-routes.js';

/** The answer without a session, not a failure: every page starts with this request. */
const SIGNED_OUT = { signed_in: false };
const MAX_TEXT_CHARACTERS = 1024;

const SESSION = '/console/api/session';
const SHOWN: AnswerShape = json(record({ signed_in: FLAG }), 'The session, or its absence.');

export const CONSOLE_SESSION_ROUTES: readonly ConsoleRoute[] = [
  consoleRoute(`GET ${SESSION}`, {
    alsoMethods: ['head'],
    summary: 'Shows the session.',
    permission: 'open',
    answer: SHOWN,
    handle: (call) => call.json(shownTo(call, currentSession(call))),
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
  consoleRoute(`POST ${SESSION}/account`, {
    summary: 'Has the session of a provider act for another account of its person.',
    permission: 'open',
    bodyBound: 'sign-in',
    answer: SHOWN,
    handle: switchAccount,
  }),
];

/** @throws Refused 400, 401, 429; CONTROL_STALE */
async function signIn(call: ConsoleCall): Promise<void> {
  const { endpoint, context } = call;
  const { parts, pages, signIns, addresses } = endpoint;
  const credentials = credentialsIn(call.body);
  const { email, key } = credentials;
  const signingIn = { signIns, address: () => addresses.of(context.req), secret: key, name: email };
  const grant = signedIn(signingIn, () => parts.access.grantForKey(email, key));
  if (grant === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized);
  const { sessions } = pages;
  const session = sessions.begin(credentials);
  await recordKeySession(parts, grant, session, clientOf(call));
  const { text } = session;
  const cookie = sessionCookie(text, Math.floor(sessions.sessionMs / 1000), parts.isSecure);
  call.json(shownTo(call, sessions.opened(text)), { 'Set-Cookie': cookie });
}

/** Removes the cookie and invalidates the session in every process. @throws Refused 401, 403; CONTROL_STALE */
async function signOut(call: ConsoleCall): Promise<void> {
  const { endpoint, context } = call;
  const { parts, pages } = endpoint;
  const { name, untilMs, grant } = sessionOf(pages, context.req);
  const logout = await providerLogout(endpoint, name);
  const { email, account, keyName } = grant;
  const note = noteOf({
    action: 'signOut',
    actor: email,
    source: `CONSOLE - ${keyName}`,
    ...clientOf(call),
    reason: '',
  });
  const command = { type: 'SignOut', session: name, untilMs } as const;
  await askControl(parts.control, { type: 'Audited', account, note, command }, 'SignedOut');
  const shown = logout === undefined ? SIGNED_OUT : { ...SIGNED_OUT, provider_logout: logout };
  call.json(shown, { 'Set-Cookie': sessionCookie('', 0, parts.isSecure) });
}

/** The address at which the browser also ends the session of the provider. */
async function providerLogout({ parts }: ConsoleEndpoint, name: string): Promise<string | undefined> {
  const session = parts.access.sessionNamed(name);
  if (session === undefined || session.provider === '') return undefined;
  const tokens = parsed(Buffer.from(parts.sealing().open(session.tokens))) as ProviderTokens;
  return parts.providers?.logoutUrl(session.provider, tokens, `${originOf(parts.publicUrls.search)}/console/`);
}

/** A session of a provider acts for another account of its person from here on. @throws Refused 400, 401, 403, 404 */
function switchAccount(call: ConsoleCall): void {
  const { endpoint, context } = call;
  const { pages, parts } = endpoint;
  const { grant } = sessionOf(pages, context.req);
  const given = parsed(call.body) as { readonly customer_id?: unknown } | null;
  const account = accountIdOfUuid(textIn('customer_id', given?.customer_id));
  const isTheirs = parts.access.providedAccounts(grant.email).some((each) => each.account === account);
  const text = sessionInCookie(context.req.headers.cookie) as string;
  const switched = account === undefined || !isTheirs ? undefined : pages.sessions.switched(text, account);
  if (switched === undefined) throw new RefusedRequest(notFound('account'));
  const seconds = Math.ceil((switched.untilMs - parts.clock.nowMs()) / 1000);
  const cookie = sessionCookie(switched.text, seconds, parts.isSecure);
  call.json(shownTo(call, pages.sessions.opened(switched.text)), { 'Set-Cookie': cookie });
}

function currentSession({ endpoint, context }: ConsoleCall): OpenedSession | undefined {
  const text = sessionInCookie(context.headers.cookie);
  return text === undefined ? undefined : endpoint.pages.sessions.opened(text);
}

function shownTo(call: ConsoleCall, session: OpenedSession | undefined): object {
  const { parts } = call.endpoint;
  if (session === undefined)
    return parts.providers === undefined ? SIGNED_OUT : { ...SIGNED_OUT, providers: parts.providers.all };
  const { grant, name, untilMs, csrf } = session;
  const { email, account, isTeam, role, rights, isReadOnly, keyName } = grant;
  return {
    signed_in: true,
    email,
    customer_id: isTeam ? uuidOf(account) : email,
    role,
    rights: rights.some(),
    readonly: isReadOnly,
    key: keyName,
    operator: parts.isOperator(grant),
    until: new Date(untilMs).toISOString(),
    csrf,
    ...(parts.access.sessionNamed(name)?.provider && { accounts: accountsShown(call, email) }),
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
