/**
 * `/console/api/sign-in/<provider>`: sign-in with an identity provider, for browsers and for devices without one.
 *
 *  CPR1 the answer of a provider counts only in the browser that began the sign-in: state, nonce and verifier are in a
 *       sealed cookie, which no other site can set or read
 *  CPR2 after a sign-in the browser goes to a page of this console, never to another address
 *  CPR3 a refusal names its kind in the address of the sign-in page, and its reason in the audit log
 */
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { IdentityProviders, ProviderIdentity } from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { notFound, tooManyFailures } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { type AnswerShape, json } from '../http/answer-shape.js';
import { parsed } from '../http/json-scanner.js';
import { record, TEXT } from '../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { type SealedSession, sessionCookie, shownSessionId } from '../sessions/sealed-sessions.js';
import { recordProviderSession, type SignInClient } from '../sessions/session-start.js';
import { type ConsoleCall, type ConsoleRoute, consoleRoute } from './console-call.js';

/** Paths below it need no session. */
export const SIGN_IN_ROOT = '/console/api/sign-in/';
const SIGN_IN = `${SIGN_IN_ROOT}:provider` as const;
const COOKIE = 'millrace_sign_in';
/** A person signs in at the provider within this time. */
const SIGN_IN_MS = 10 * 60_000;
const HOME = '/console/';
/** Pages of the console (CPR2): no second slash, which would begin a host. */
const PAGE = /^\/console(?:\/(?!\/)[\w\-./~%]*)?(?:\?[\w\-./~%=&+:,]*)?$/;
const MAX_PAGE_CHARACTERS = 1024;
const REDIRECT: AnswerShape = { kind: 'other', type: 'text/plain', description: 'Leads the browser on.' };

export const PROVIDER_ROUTES: readonly ConsoleRoute[] = [
  consoleRoute(`GET ${SIGN_IN}`, {
    summary: 'Leads the browser to the identity provider.',
    permission: 'open',
    answer: REDIRECT,
    statuses: [302],
    handle: (call, { path }) => leadToProvider(call, path.provider ?? ''),
  }),
  consoleRoute(`GET ${SIGN_IN}/callback`, {
    summary: 'Begins a session with the answer of the identity provider.',
    permission: 'open',
    answer: REDIRECT,
    statuses: [302],
    handle: (call, { path }) => finishSignIn(call, path.provider ?? ''),
  }),
  consoleRoute(`POST ${SIGN_IN}/device`, {
    summary: 'Begins the sign-in of a device: the person confirms its code at the identity provider.',
    permission: 'open',
    bodyBound: 'sign-in',
    answer: json(record({ device: TEXT, user_code: TEXT, url: TEXT, interval_ms: { type: 'integer' } }), 'The code.'),
    handle: (call, { path }) => beginDevice(call, path.provider ?? ''),
  }),
  consoleRoute(`POST ${SIGN_IN}/device/session`, {
    summary: 'Begins the session of a device, after the person has confirmed its code.',
    permission: 'open',
    bodyBound: 'sign-in',
    answer: json(
      record({ session: TEXT, session_id: TEXT, until: TEXT, email: TEXT }),
      'The session, or `{"pending":true}`.',
    ),
    handle: (call, { path }) => finishDevice(call, path.provider ?? ''),
  }),
];

interface Waiting {
  /** One kind of text is never taken for the other. */
  readonly kind: 'browser' | 'device';
  readonly provider: string;
  readonly untilMs: number;
}

type BegunHere = Waiting & {
  readonly kind: 'browser';
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly to: string;
};
type DeviceHere = Waiting & { readonly kind: 'device'; readonly deviceCode: string };

type Refused = 'refused' | 'expired' | 'unavailable' | 'no-role' | 'no-email' | 'other-subject';

/** @throws Refused 404, 429 */
async function leadToProvider(call: ConsoleCall, provider: string): Promise<void> {
  const { context, endpoint } = call;
  const { parts } = endpoint;
  const providers = providersOf(call, provider);
  const to = new URLSearchParams(call.query).get('to') ?? HOME;
  try {
    const { url, ...begun } = await providers.begin(provider, callbackOf(call, provider));
    const untilMs = Math.trunc(parts.clock.nowMs()) + SIGN_IN_MS;
    const waiting: BegunHere = { kind: 'browser', provider, untilMs, to: isPage(to) ? to : HOME, ...begun };
    leadOn(call, url, [signInCookie(call, parts.sealing().seal(JSON.stringify(waiting)), SIGN_IN_MS / 1000)]);
  } catch (error) {
    await refuse(call, provider, { kind: kindOf(error), reason: describeError(error) });
  }
  context.set(PRIVATE_HEADERS);
}

/** @throws Refused 404, 429 */
async function finishSignIn(call: ConsoleCall, provider: string): Promise<void> {
  const { context, endpoint } = call;
  const providers = providersOf(call, provider);
  const waiting = openedWaiting<BegunHere>(call, cookieIn(context.headers.cookie), { kind: 'browser', provider });
  context.set(PRIVATE_HEADERS);
  if (waiting === undefined)
    return refuse(call, provider, { kind: 'expired', reason: 'no sign-in was begun in this browser' });
  try {
    const identity = await providers.finish(provider, `${callbackOf(call, provider)}${call.query}`, waiting);
    const { text } = await beginSession(call, provider, identity);
    const { sessions } = endpoint.pages;
    const cookie = sessionCookie(text, Math.floor(sessions.sessionMs / 1000), endpoint.parts.isSecure);
    return leadOn(call, waiting.to, [cookie, signInCookie(call, '', 0)]);
  } catch (error) {
    return refuse(call, provider, refusalOf(error));
  }
}

/** @throws Refused 404, 429, 503 */
async function beginDevice(call: ConsoleCall, provider: string): Promise<void> {
  const { clock, sealing } = call.endpoint.parts;
  const { deviceCode, userCode, url, intervalMs, untilMs } = await providersOf(call, provider).beginDevice(provider);
  const waiting: DeviceHere = {
    kind: 'device',
    provider,
    deviceCode,
    untilMs: Math.min(untilMs, clock.nowMs() + 2 * SIGN_IN_MS),
  };
  const device = sealing().seal(JSON.stringify(waiting));
  call.json({ device, user_code: userCode, url, interval_ms: intervalMs });
}

/** @throws Refused 400, 403, 404, 429, 503 */
async function finishDevice(call: ConsoleCall, provider: string): Promise<void> {
  const providers = providersOf(call, provider);
  const given = parsed(call.body) as { readonly device?: unknown } | null;
  const waiting = openedWaiting<DeviceHere>(call, String(given?.device ?? ''), { kind: 'device', provider });
  if (waiting === undefined) throw invalid('device: is unknown, or its time has ended');
  try {
    const identity = await providers.finishDevice(provider, waiting.deviceCode);
    if (identity === undefined) return call.json({ pending: true });
    const { text, name, untilMs } = await beginSession(call, provider, identity);
    const until = new Date(untilMs).toISOString();
    return call.json({ session: text, session_id: shownSessionId(name), until, email: identity.email });
  } catch (error) {
    const { kind, reason } = refusalOf(error);
    if (kind === 'unavailable') throw error;
    noteRefusal(call, provider, reason);
    throw new RefusedRequest({ status: 403, text: `the sign-in was refused: ${reason}` });
  }
}

class SignInRefusal extends Error {
  constructor(
    readonly kind: Refused,
    reason: string,
  ) {
    super(reason);
  }
}

/** @throws SignInRefusal; Refused by the control actor; errors of the connection to it */
async function beginSession(call: ConsoleCall, provider: string, identity: ProviderIdentity): Promise<SealedSession> {
  const { parts, pages } = call.endpoint;
  const { email, subject, groups, tokens } = identity;
  if (email === undefined) throw new SignInRefusal('no-email', `${provider} gave no verified e-mail of ${subject}`);
  const roles = parts.access.rolesOfGroups(parts.providers?.rolesOf(provider) ?? [], groups, provider);
  const account = roles[0]?.account;
  if (account === undefined) throw new SignInRefusal('no-role', `no group of ${email} has a role`);
  const session = pages.sessions.begin({ email, account });
  const { name, untilMs } = session;
  const sealed = parts.sealing().seal(JSON.stringify(tokens));
  await recordProviderSession(
    parts.control,
    { name, email, account, provider, ...clientOf(call), untilMs, tokens: sealed },
    { subject, roles },
  );
  return session;
}

/** @throws Refused 404 without providers, 429 after many refused sign-ins of the address */
function providersOf({ endpoint, context }: ConsoleCall, provider: string): IdentityProviders {
  const { providers } = endpoint.parts;
  if (providers?.all.some(({ name }) => name === provider) !== true)
    throw new RefusedRequest(notFound('identity provider'));
  const wait = endpoint.signIns.isQuiet ? undefined : endpoint.signIns.waitOf(endpoint.addresses.of(context.req), '');
  if (wait !== undefined) throw new RefusedRequest(tooManyFailures(wait));
  return providers;
}

function openedWaiting<Kind extends Waiting>(
  call: ConsoleCall,
  sealed: string,
  { kind, provider }: Pick<Kind, 'kind' | 'provider'>,
): Kind | undefined {
  const { sealing, clock } = call.endpoint.parts;
  try {
    const opened = JSON.parse(sealing().open(sealed)) as Kind;
    const isThis = opened.kind === kind && opened.provider === provider;
    return isThis && opened.untilMs > clock.nowMs() ? opened : undefined;
  } catch {
    return undefined;
  }
}

async function refuse(
  call: ConsoleCall,
  provider: string,
  { kind, reason }: { readonly kind: Refused; readonly reason: string },
): Promise<void> {
  if (kind !== 'unavailable') noteRefusal(call, provider, reason);
  else call.endpoint.parts.log.warn('sign-in.provider-unavailable', { provider, cause: reason });
  leadOn(call, `${HOME}?refused=${kind}`, [signInCookie(call, '', 0)]);
}

/** Counted as a failed sign-in, which notes it in the log of the first account. */
function noteRefusal({ endpoint, context }: ConsoleCall, provider: string, reason: string): void {
  const { signIns, addresses } = endpoint;
  signIns.failed(addresses.of(context.req), undefined, { source: `PROVIDER - ${provider}`, reason });
}

function refusalOf(error: unknown): { readonly kind: Refused; readonly reason: string } {
  if (error instanceof SignInRefusal) return { kind: error.kind, reason: error.message };
  if (error instanceof RefusedRequest) {
    const { status, text } = error.refusal;
    return { kind: status === 400 ? 'other-subject' : 'unavailable', reason: text };
  }
  return { kind: kindOf(error), reason: describeError(error) };
}

function kindOf(error: unknown): Refused {
  return isMillraceError(error, 'INVALID') ? 'refused' : 'unavailable';
}

export function clientOf({ endpoint, context }: ConsoleCall): SignInClient {
  return { ip: endpoint.addresses.of(context.req), agent: context.get('user-agent') };
}

function callbackOf({ endpoint }: ConsoleCall, provider: string): string {
  return `${originOf(endpoint.parts.publicUrls.search)}/console/api/sign-in/${provider}/callback`;
}

/** The console's address for providers. */
export function originOf(publicUrl: string): string {
  return new URL(publicUrl.includes('://') ? publicUrl : `http://${publicUrl}`).origin;
}

function isPage(to: string): boolean {
  return to.length <= MAX_PAGE_CHARACTERS && PAGE.test(to) && !to.includes('//') && !to.includes('..');
}

function leadOn({ context }: ConsoleCall, url: string, cookies: readonly string[]): void {
  context.set('Set-Cookie', [...cookies]);
  context.redirect(url);
}

/** Lax: the browser sends it when the provider leads back, which `Strict` would prevent. */
function signInCookie({ endpoint }: ConsoleCall, sealed: string, seconds: number): string {
  const secure = endpoint.parts.isSecure ? '; Secure' : '';
  return `${COOKIE}=${encodeURIComponent(sealed)}; Path=/console/api/sign-in; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieIn(cookies: string | undefined): string {
  const found = cookies?.split(';').find((part) => part.trim().startsWith(`${COOKIE}=`));
  const value = found?.trim().slice(COOKIE.length + 1) ?? '';
  return /^[\w%.\-:]*$/.test(value) ? decodeURIComponent(value.replace(/%(?![0-9A-Fa-f]{2})/g, '')) : '';
}

/** The accounts of a provider's session, as its page shows them. */
export function accountsShown(call: ConsoleCall, email: string): object[] {
  return call.endpoint.parts.access
    .providedAccounts(email)
    .map(({ account, name, role }) => ({ customer_id: uuidOf(account), name, role }));
}
