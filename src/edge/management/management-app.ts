/**
 * The management API as a Koa application: refusals, other endpoints on the port, field spelling, credentials and
 * rate, body, routes.
 *
 * Order of checks: cross-site requests (403), credentials (401), rate (429), body size (413), accepted answer (406),
 * route (404, 405), rights (403), query and body (400), named objects (404). A read-only key is refused before any
 * object is looked up.
 */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { getOrCreate, STRANGERS } from '../../kernel/index.js';
import type { ManagementGrant } from '../../ports/index.js';
import { MANAGEMENT_REFUSALS, managementRefusalOf, queueBodyTooLarge, SHARED_REFUSALS } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { PlainAnswer } from '../http/answer-shape.js';
import { answer, answersRefusals, createApplication, readsBody, type Stage } from '../http/application.js';
import { basicCredentials, bearerToken } from '../http/credentials.js';
import { isLongBody, MAX_STRANGERS_BODY_BYTES, RequestBodyReader } from '../http/index.js';
import { parsed } from '../http/json-scanner.js';
import { RefusedRequest } from '../http/refused.js';
import { requestOf } from '../http/request-class.js';
import { changesAnything, Nothing, openPathsOf } from '../http/route.js';
import { routed } from '../http/routing.js';
import { signedIn } from '../http/signing-in.js';
import { staleHeader } from '../http/stale-header.js';
import { isOfPage, refuseOtherSites, sessionOf } from '../sessions/page-requests.js';
import { mustBeEntitled } from '../team-permissions.js';
import type { FieldSpelling } from '../wire-alias.js';
import { ManagementCall, type ManagementRoute } from './management-call.js';
import type { ManagementEndpoint } from './management-endpoint.js';

const compress = promisify<string, Buffer>(gzip);
const TYPE = 'application/json; charset=utf-8';
const ROUTING = { allowsLastSlash: true, answersHead: true, isFirstAlone: true };
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="management", charset="UTF-8"' };

const GZIP = { 'Content-Encoding': 'gzip' } as const;

interface ConstantAnswer {
  readonly route: ManagementRoute;
  readonly fields: FieldSpelling;
  readonly isCompressed: boolean;
}

/** Texts of answers that are the same for every call. Their number is that of such routes and of spellings. */
class ConstantAnswers {
  readonly #texts = new Map<ManagementRoute, Map<FieldSpelling, Promise<string>>>();
  readonly #compressed = new WeakMap<Promise<string>, Promise<Buffer>>();

  /** @param make  called once */
  textOf({ route, fields, isCompressed }: ConstantAnswer, make: () => Promise<string>): Promise<string | Buffer> {
    const ofRoute = getOrCreate(this.#texts, route, () => new Map<FieldSpelling, Promise<string>>());
    const text = getOrCreate(ofRoute, fields, () => {
      const made = make();
      // The next call tries again.
      made.catch(() => ofRoute.delete(fields));
      return made;
    });
    if (!isCompressed) return text;
    let compressed = this.#compressed.get(text);
    if (compressed === undefined) {
      compressed = text.then((whole) => compress(whole));
      this.#compressed.set(text, compressed);
    }
    return compressed;
  }
}

interface State {
  /** The spelling of the fields in request and answer. */
  fields: FieldSpelling;
  call: ManagementCall;
  /** Undefined for a path that needs no credentials. */
  grant: ManagementGrant | undefined;
}

export function createManagementApp(endpoint: ManagementEndpoint, routes: readonly ManagementRoute[]) {
  const { log, mount, limits } = endpoint.parts;
  const refusals: Stage<State> = answersRefusals({
    refusedOf: (failure) => endpoint.incidents.refused(failure, managementRefusalOf),
    textOf: ({ refusal }, { fields }) => JSON.stringify({ error: fields?.text(refusal.text) ?? refusal.text }),
    type: TYPE,
    headersOf: () => PRIVATE_HEADERS,
    isDraining: () => endpoint.isDraining,
  });
  const body: Stage<State> = readsBody({
    bodies: new RequestBodyReader(endpoint.budget),
    tenantOf: ({ state }) => state.grant?.account ?? STRANGERS,
    limitBytesOf: () => limits.maxBodyBytes,
  });
  const constants = new ConstantAnswers();
  const router = routed<ManagementRoute, State>(routes, ROUTING, async (context, route, path) => {
    const { call, fields, body: bytes } = context.state;
    if (route.permission !== 'open') {
      if (changesAnything(route) && call.grant.isReadOnly) throw new RefusedRequest(MANAGEMENT_REFUSALS.readOnly);
      mustBeEntitled(call.grant, route, path);
    }
    const query = requestOf(route.query, context.query);
    const input = requestOf(route.body, route.body === Nothing ? {} : fields.neutral(jsonOf(bytes)));
    const handled = () => route.handle(call, { path, query, body: input });
    const made = async () => JSON.stringify(fields.spelled(await handled()));
    if (route.isConstant === true) {
      const isCompressed = context.acceptsEncodings('gzip', 'identity') === 'gzip';
      const text = await constants.textOf({ route, fields, isCompressed }, made);
      const headers = { ...PRIVATE_HEADERS, Vary: 'Accept-Encoding', ...(isCompressed && GZIP) };
      answer(context, { status: 200, text, type: TYPE, headers, isLast: endpoint.isDraining });
      return;
    }
    const result = await handled();
    const headers = { ...PRIVATE_HEADERS, ...staleHeader(call) };
    const isPlain = result instanceof PlainAnswer;
    const text = isPlain ? result.text : JSON.stringify(fields.spelled(result));
    answer(context, { status: 200, text, type: isPlain ? result.type : TYPE, headers, isLast: endpoint.isDraining });
  });
  return createApplication('management', log, [
    ...mount,
    refusals,
    judges(endpoint, openPathsOf(routes)),
    body,
    acceptsJson,
    router,
  ]);
}

/** Checks the caller before the body is read. @throws Refused 401, 403, 404, 413, 429; CONTROL_STALE */
function judges(endpoint: ManagementEndpoint, openPaths: ReadonlySet<string>): Stage<State> {
  return (context, next) => {
    const { req: request, state } = context;
    // An absolute target is a proxy request, and may be no valid URL.
    const isPath = context.url.startsWith('/');
    const { path, fields } = endpoint.spellings.of(isPath ? context.path : '', request.headers);
    state.fields = fields;
    refuseOtherSites(request);
    state.grant = openPaths.has(path) ? undefined : grantFor(endpoint, request);
    if (!isPath) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    if (state.grant === undefined && isLongBody(request)) {
      throw new RefusedRequest(queueBodyTooLarge(MAX_STRANGERS_BODY_BYTES));
    }
    state.call = new ManagementCall(endpoint, state.grant, endpoint.addresses.of(request));
    context.path = path;
    return next();
  };
}

const acceptsJson: Stage<State> = (context, next) => {
  if (context.accepts('json', 'text/csv') === false) throw new RefusedRequest(MANAGEMENT_REFUSALS.jsonOnly);
  return next();
};

/** @throws Refused 401, 403, 429; CONTROL_STALE */
function grantFor(endpoint: ManagementEndpoint, request: IncomingMessage): ManagementGrant {
  const { authorization } = request.headers;
  const isPage = authorization === undefined && isOfPage(request);
  const grant = isPage ? sessionOf(endpoint.pages, request).grant : grantForKey(endpoint, request, authorization);
  const caller = `${grant.email} ${grant.account} ${grant.keyName}`;
  if (!endpoint.bursts.take(caller, endpoint.parts.limits.maxCallsPerSecond)) {
    throw new RefusedRequest(MANAGEMENT_REFUSALS.tooManyCalls);
  }
  return grant;
}

/** @throws Refused 401, 429; CONTROL_STALE */
function grantForKey(
  { signIns, addresses, parts, pages }: ManagementEndpoint,
  request: IncomingMessage,
  authorization: string | undefined,
): ManagementGrant {
  const credentials = basicCredentials(authorization);
  const session = bearerToken(authorization);
  const secret = credentials?.key ?? session;
  if (secret === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, CHALLENGE);
  const signingIn = { signIns, address: () => addresses.of(request), secret, name: credentials?.email };
  const grant = signedIn(signingIn, () =>
    credentials === undefined
      ? pages.sessions.grantOfProvider(secret)
      : parts.access.grantForKey(credentials.email, secret),
  );
  if (grant === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.unauthorized, CHALLENGE);
  return grant;
}

function jsonOf(body: Buffer | undefined): unknown {
  return body === undefined || body.length === 0 ? undefined : parsed(body);
}
