/**
 * The data plane of search indexes, on any port: `/search/<id>/<command>/<index name>`.
 *
 * Order of checks: token, command, method, rights, name, body, limits. No work starts before all checks have passed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { assert } from '../../kernel/index.js';
import type { SearchGrant } from '../../ports/index.js';
import { databaseIdOfUuid } from '../../protocol/index.js';
import { queueBodyTooLarge, SEARCH_REFUSALS, SHARED_REFUSALS, searchRefusalOf } from '../error-map.js';
import { bearerToken } from '../http/credentials.js';
import { FaceRequest, isLongBody, PlainRequest } from '../http/index.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { foundRoute } from '../http/request-metrics.js';
import { signedIn } from '../http/signing-in.js';
import { SEARCH_ROUTES } from './commands/index.js';
import { isPreflight, preflightHeaders } from './cors.js';
import { SearchAnswer, SearchCall } from './search-call.js';
import { SearchFace, type SearchHandlerParts } from './search-face.js';
import type { SearchRoute } from './search-route.js';
import { nameProblem, parseSearchTarget, type SearchTarget } from './search-target.js';

const INDEX_NAME = 'index name';

/** The routes of one word in the path: a command about one index, about all of them, or both. */
interface Command {
  readonly named?: SearchRoute;
  readonly ofAll?: SearchRoute;
}

const COMMANDS = new Map<string, Command>();
for (const route of SEARCH_ROUTES) {
  const [, , , command = '', index] = route.paths[0].split('/');
  COMMANDS.set(command, { ...COMMANDS.get(command), [index === undefined ? 'ofAll' : 'named']: route });
}

/** May the command change documents? False for an unknown command. */
export function changesDocuments(name: string): boolean {
  const command = COMMANDS.get(name);
  return command !== undefined && [command.named, command.ofAll].some((route) => route?.permission === 'write');
}

/** @returns false, without any effect, for other paths. Requests come from this program's servers */
export type SearchHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The handler as Koa middleware: other paths go to the next one. */
export function searchMiddleware(handle: SearchHandler): Middleware {
  return async (context, next) => {
    if (!handle(context.req, context.res)) return next();
    context.respond = false;
  };
}

export function createSearchHandler(parts: SearchHandlerParts): SearchHandler {
  const face = new SearchFace(parts);
  return (request, response) => {
    const target = parseSearchTarget(request.url ?? '');
    if (target === undefined) return false;
    const answer = new SearchAnswer(face, request, response);
    if (isPreflight(request)) {
      answer.empty(preflightHeaders(request));
      return true;
    }
    try {
      receive(answer, target);
    } catch (failure) {
      answer.refuse(face.incidents.refused(failure, searchRefusalOf), isLongBody(request));
    }
    return true;
  };
}

function receive(answer: SearchAnswer, target: SearchTarget): void {
  const { face, request, response } = answer;
  const grant = grantOf(face, request, target);
  const command = commandOf(request, target);
  foundRoute(request, (command.named ?? command.ofAll)?.paths[0] as string);
  const { permission } = (command.named ?? command.ofAll) as SearchRoute;
  if (grant.role === 'read-only' && permission !== 'read') throw new RefusedRequest(SEARCH_REFUSALS.readOnly);
  const route = routeOf(command, target);
  const { maxUpsertBytes, maxBodyBytes } = face.limits;
  const limitBytes = route.bodyBound === 'upsert' ? maxUpsertBytes : maxBodyBytes;
  const isReceived = request instanceof FaceRequest || (request as unknown) instanceof PlainRequest;
  assert(isReceived, 'a request that no face server has received');
  face.bodies.read({ request: request as FaceRequest, response }, grant.index, limitBytes, (outcome) => {
    switch (outcome.kind) {
      case 'whole':
        void run(answer, route, new SearchCall(face, answer, target, grant, outcome.body));
        return;
      case 'too-large':
        answer.refuse(new RefusedRequest(queueBodyTooLarge(limitBytes)));
        return;
      case 'overloaded':
        answer.refuse(new RefusedRequest(SHARED_REFUSALS.overloaded));
        return;
      case 'aborted':
    }
  });
}

async function run(answer: SearchAnswer, route: SearchRoute, call: SearchCall): Promise<void> {
  try {
    await route.handle(call, { path: {}, query: {}, body: {} });
  } catch (failure) {
    answer.refuse(call.face.incidents.refused(failure, searchRefusalOf));
  }
}

/** An invalid id is answered like another account's. @throws Refused 401, 429; CONTROL_STALE */
function grantOf(face: SearchFace, request: IncomingMessage, { id }: SearchTarget): SearchGrant {
  const { parts, signIns, addresses } = face;
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) throw new RefusedRequest(SEARCH_REFUSALS.unauthorized);
  const index = databaseIdOfUuid(id);
  const signingIn = { signIns, address: () => addresses.of(request), secret: token };
  const grant = signedIn(signingIn, () =>
    index === undefined ? undefined : parts.access.grantForSearch(index, token),
  );
  if (grant === undefined) throw new RefusedRequest(SEARCH_REFUSALS.unauthorized);
  return grant;
}

/** @throws Refused 404, 405 */
function commandOf({ method = '' }: IncomingMessage, target: SearchTarget): Command {
  const command = COMMANDS.get(target.command);
  if (command === undefined) throw new RefusedRequest(SEARCH_REFUSALS.commandNotFound);
  const methods = (command.named ?? command.ofAll)?.methods.map((each) => each.toUpperCase()) ?? [];
  if (methods.includes(method)) return command;
  throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: methods.join(', ') });
}

/** @throws Refused 400 for an invalid name */
function routeOf({ named, ofAll }: Command, { name, isMalformed, isAll }: SearchTarget): SearchRoute {
  if (isMalformed) throw invalid(`${INDEX_NAME}: malformed percent-encoding`);
  if (named === undefined) return ofAll as SearchRoute;
  if (name === undefined) {
    if (ofAll !== undefined && isAll) return ofAll;
    throw invalid(`${INDEX_NAME} is missing: it follows the command in the path`);
  }
  const problem = nameProblem(INDEX_NAME, name);
  if (problem !== undefined) throw invalid(problem);
  return named;
}
