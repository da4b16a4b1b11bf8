/**
 * `/console/api/session`: sign-in, the current session, sign-out.
 *
 *  CSE1 the secret of a session is only in its cookie, which scripts cannot read; no body contains it
 */
import { uuidOf } from '../../protocol/index.js';
import { askControl } from '../control-asking.js';
import { MANAGEMENT_REFUSALS, SHARED_REFUSALS } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { answer as answerJson, type PipelineContext } from '../http/application.js';
import type { BasicCredentials } from '../http/credentials.js';
import { parsed } from '../http/json-bounds.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { refuseOtherOrigins, sessionOf } from '../sessions/page-requests.js';
import { type OpenedSession, sessionCookie, sessionInCookie } from '../sessions/sealed-sessions.js';
import type { ConsoleFace } from './console-face.js';
import { MAX_SIGN_IN_BYTES } from './console-limits.js';
import { bodyOf } from './page-body.js';

/** The answer without a session, not a failure: every page starts with this request. */
const NOBODY = { signed_in: false };
const MAX_TEXT_CHARACTERS = 1024;

/** @throws Refused; CONTROL_STALE */
export async function answerSession(face: ConsoleFace, context: PipelineContext): Promise<void> {
  switch (context.method) {
    case 'GET':
    case 'HEAD':
      answer(face, context, shownTo(face, currentSession(face, context)));
      return;
    case 'POST':
      await signIn(face, context);
      return;
    case 'DELETE':
      await signOut(face, context);
      return;
    default:
      throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: 'GET, HEAD, POST, DELETE' });
  }
}

async function signIn(face: ConsoleFace, context: PipelineContext): Promise<void> {
  const { parts, pages, signIns, addresses } = face;
  const { req: request } = context;
  // A page of another site could sign a user in with other credentials.
  refuseOtherOrigins(request, pages.publicUrls.search);
  const credentials = credentialsIn(await bodyOf(face, { request, response: context.res }, MAX_SIGN_IN_BYTES));
  const { email, key } = credentials;
  const signingIn = { signIns, address: () => addresses.of(request), secret: key, name: email };
  if (signedIn(signingIn, () => parts.access.grantForKey(email, key)) === undefined) {
    throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized);
  }
  const { sessions } = pages;
  const { text } = sessions.begin(credentials);
  const cookie = sessionCookie(text, Math.floor(sessions.sessionMs / 1000), parts.isSecure);
  answer(face, context, shownTo(face, sessions.opened(text)), { 'Set-Cookie': cookie });
}

/** Removes the cookie and invalidates the session in every process. */
async function signOut(face: ConsoleFace, context: PipelineContext): Promise<void> {
  const { parts, pages } = face;
  sessionOf(pages, context.req);
  const session = pages.sessions.named(sessionInCookie(context.req.headers.cookie) as string);
  if (session !== undefined) {
    const { name, untilMs } = session;
    await askControl(parts.control, { type: 'SignOut', session: name, untilMs }, 'SignedOut');
  }
  answer(face, context, NOBODY, { 'Set-Cookie': sessionCookie('', 0, parts.isSecure) });
}

function currentSession({ pages }: ConsoleFace, { req: request }: PipelineContext): OpenedSession | undefined {
  const text = sessionInCookie(request.headers.cookie);
  return text === undefined ? undefined : pages.sessions.opened(text);
}

function shownTo({ parts }: ConsoleFace, session: OpenedSession | undefined): object {
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

function answer(
  { parts }: ConsoleFace,
  context: PipelineContext,
  value: object,
  more: Readonly<Record<string, string>> = {},
): void {
  const headers = { ...PRIVATE_HEADERS, ...more };
  answerJson(context, { status: 200, text: JSON.stringify(value), headers, isLast: parts.isDraining() });
}
