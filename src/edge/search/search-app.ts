/**
 * The data planes of search indexes and of indexes of vectors as middleware: `/search/<id>/<command>/<index name>` and
 * `/vector/<id>/<command>/<namespace>`. Requests with other paths go to the next middleware.
 *
 * Order of checks: token, command, method, rights, name, body, limits. No work starts before all checks have passed.
 */
import type { Middleware } from 'koa';
import type { SearchGrant } from '../../ports/index.js';
import { databaseIdOfUuid } from '../../protocol/index.js';
import { SEARCH_REFUSALS, searchRefusalOf } from '../error-map.js';
import { write } from '../http/answer.js';
import { answersRefusals, type PipelineContext, readsBody, type Stage, takeOver } from '../http/application.js';
import { bearerToken } from '../http/credentials.js';
import { isLongBody } from '../http/index.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import type { Described } from '../http/route.js';
import { routed } from '../http/routing.js';
import { signedIn } from '../http/signing-in.js';
import { RESET_ALL_ROUTE, SEARCH_ROUTES } from './commands/index.js';
import { answerHeaders, isPreflight, preflightHeaders } from './cors.js';
import { SearchCall } from './search-call.js';
import { SearchEndpoint, type SearchHandlerParts } from './search-endpoint.js';
import type { SearchRoute } from './search-route.js';
import { nameProblem, parseSearchTarget, type SearchTarget } from './search-target.js';
import { VECTOR_ROUTES } from './vectors/index.js';
import { VectorCall, type VectorRoute } from './vectors/vector-call.js';
import { MAX_VECTOR_BODY_BYTES, MAX_VECTOR_UPSERT_BYTES } from './vectors/vector-limits.js';

interface State {
  target: SearchTarget;
  grant: SearchGrant;
}

const INDEX_NAME = 'index name';
const NAME_PART = '/*index';

const ROUTING = { allowsLastSlash: true, notFound: SEARCH_REFUSALS.commandNotFound };
const NAMESPACE = 'namespace';
const NAMESPACE_PART = '/*namespace';

/** The words of commands that may change documents. */
const CHANGING: ReadonlySet<string | undefined> = new Set(
  [...SEARCH_ROUTES, ...VECTOR_ROUTES]
    .filter(({ permission }) => permission === 'write')
    .map(({ paths: [path] }) => path.split('/')[3]),
);

/** May the command change documents? False for an unknown command. */
export function changesDocuments(name: string): boolean {
  return CHANGING.has(name);
}

export function createSearchHandler(parts: SearchHandlerParts): Middleware {
  const endpoint = new SearchEndpoint(parts);
  const refusals: Stage<State> = answersRefusals({
    refusedOf: (failure) => endpoint.incidents.refused(failure, searchRefusalOf),
    textOf: ({ refusal: { status, text: error } }) => JSON.stringify({ error, status }),
    headersOf: answerHeaders,
    isDraining: () => endpoint.isDraining,
  });
  const routers = { search: searchRouter(endpoint), vector: vectorRouter(endpoint) };
  return (context, next) => {
    const target = parseSearchTarget(context.url);
    if (target === undefined) return next();
    const typed = context as PipelineContext<State>;
    if (isPreflight(context.req)) return answerPreflight(endpoint, typed);
    return refusals(typed, () => {
      typed.state.target = target;
      typed.state.grant = grantOf(endpoint, typed, target);
      return routers[target.plane](typed, next);
    });
  };
}

function searchRouter(endpoint: SearchEndpoint): Stage<State> {
  const bodies = bodiesOf(endpoint, endpoint.limits.maxUpsertBytes, endpoint.limits.maxBodyBytes);
  const routing = { ...ROUTING, patternsOf };
  return routed<SearchRoute, State>(SEARCH_ROUTES, routing, async (context, route) => {
    mayCall(route, context.state);
    mustFit(route, context.state.target);
    await bodies(context, route, () => route.handle(new SearchCall(endpoint, context), NO_INPUT));
  });
}

function vectorRouter(endpoint: SearchEndpoint): Stage<State> {
  const bodies = bodiesOf(endpoint, MAX_VECTOR_UPSERT_BYTES, MAX_VECTOR_BODY_BYTES);
  const routing = { ...ROUTING, patternsOf: namespacePatterns };
  return routed<VectorRoute, State>(VECTOR_ROUTES, routing, async (context, route) => {
    const { target } = context.state;
    mayCall(route, context.state);
    const problem = target.name === undefined ? undefined : nameProblem(NAMESPACE, target.name);
    if (problem !== undefined) throw invalid(problem);
    await bodies(context, route, () => route.handle(new VectorCall(endpoint, context), NO_INPUT));
  });
}

/** The default namespace has no name; one that a command does not need is ignored. */
function namespacePatterns({ paths: [path] }: VectorRoute): readonly string[] {
  const isNamed = path.endsWith(NAMESPACE_PART);
  return isNamed ? [`${path}?`, path.slice(0, -NAMESPACE_PART.length)] : [path, `${path}/*ignored`];
}

const NO_INPUT = { path: {}, query: {}, body: {} };

/** @returns reads the body and then runs the call */
function bodiesOf({ bodies }: SearchEndpoint, maxUpsertBytes: number, maxBodyBytes: number) {
  const bound = { bodies, tenantOf, isOfAnyMethod: true };
  const usual: Stage<State> = readsBody({ ...bound, limitBytesOf: () => maxBodyBytes });
  const ofUpsert: Stage<State> = readsBody({ ...bound, limitBytesOf: () => maxUpsertBytes });
  return (context: PipelineContext<State>, { bodyBound }: Pick<Described, 'bodyBound'>, run: () => unknown) =>
    (bodyBound === 'upsert' ? ofUpsert : usual)(context, async () => run());
}

/** @throws Refused 403 */
function mayCall({ permission }: Pick<Described, 'permission'>, { grant }: State): void {
  if (grant.role === 'read-only' && permission !== 'read') throw new RefusedRequest(SEARCH_REFUSALS.readOnly);
}

function tenantOf({ state }: PipelineContext<State>): string {
  return state.grant.index;
}

/** A missing name has its own refusal, and a name that a command does not need is ignored. */
function patternsOf(route: SearchRoute): readonly string[] {
  const [path] = route.paths;
  if (!isNamed(route)) return [path, `${path}/*ignored`];
  const bare = path.slice(0, -NAME_PART.length);
  const isTaken = SEARCH_ROUTES.some((other) => other.paths[0] === bare);
  return [`${path}?`, ...(isTaken ? [] : [bare])];
}

function isNamed({ paths: [path] }: SearchRoute): boolean {
  return path.endsWith(NAME_PART);
}

/** An invalid id is answered like another account's. @throws Refused 401, 429; CONTROL_STALE */
function grantOf(
  endpoint: SearchEndpoint,
  { req: request, state }: PipelineContext<State>,
  { id, plane }: SearchTarget,
): SearchGrant {
  const { parts, signIns, addresses } = endpoint;
  const token = state.passed?.token ?? bearerToken(request.headers.authorization);
  if (token === undefined) throw new RefusedRequest(SEARCH_REFUSALS.unauthorized);
  const index = databaseIdOfUuid(id);
  const signingIn = { signIns, address: () => addresses.of(request), secret: token };
  const grant = signedIn(signingIn, () =>
    index === undefined ? undefined : parts.access.grantForSearch(index, token),
  );
  if (grant === undefined || (grant.vectors === undefined) !== (plane === 'search')) {
    throw new RefusedRequest(SEARCH_REFUSALS.unauthorized);
  }
  return grant;
}

/** @throws Refused 400 for a missing or invalid name */
function mustFit(route: SearchRoute, { name, isMalformed, isAll }: SearchTarget): void {
  if (isMalformed) throw invalid(`${INDEX_NAME}: malformed percent-encoding`);
  if (!isNamed(route) && (route !== RESET_ALL_ROUTE || isAll)) return;
  if (name === undefined) throw invalid(`${INDEX_NAME} is missing: it follows the command in the path`);
  const problem = nameProblem(INDEX_NAME, name);
  if (problem !== undefined) throw invalid(problem);
}

/** Answers with only a head. Any client may ask, so a long body is not read. */
async function answerPreflight(endpoint: SearchEndpoint, context: PipelineContext<State>): Promise<void> {
  const { req: request } = context;
  const how = { status: 200, text: '', type: '', isLast: endpoint.isDraining, leavesBody: isLongBody(request) };
  write(takeOver(context), { ...how, headers: preflightHeaders(request) });
}
