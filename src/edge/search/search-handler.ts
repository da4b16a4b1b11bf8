/**
 * The data plane of search indexes, for whoever has the port: `/search/<id>/<command>/<index name>`.
 *
 * Order of judgement: token, command, method, what the token may do, name, body, limits. Nothing is done before all of
 * it is judged.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../kernel/index.js';
import { databaseIdOfUuid } from '../../messages/index.js';
import type { SearchGrant } from '../../ports/index.js';
import { queueBodyTooLarge, SEARCH_REFUSALS, searchRefusalOf } from '../error-map.js';
import { FaceRequest } from '../http/index.js';
import { invalid, Refused } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { SEARCH_COMMANDS, type SearchCommand } from './commands/index.js';
import { isPreflight, preflightHeaders } from './cors.js';
import { SearchAnswer, SearchCall } from './search-call.js';
import { SearchFace, type SearchHandlerParts } from './search-face.js';
import { nameProblem, parseSearchTarget, type SearchTarget } from './search-target.js';

const BEARER = /^bearer +(\S+) *$/i;
const INDEX_NAME = 'index name';

/** @returns false, and has done nothing, for the path of something else. Requests are those of a face server */
export type SearchHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

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
      answer.refuseUnread(refusedBy(face, failure));
    }
    return true;
  };
}

function receive(answer: SearchAnswer, target: SearchTarget): void {
  const { face, request, response } = answer;
  const grant = grantOf(face, request, target);
  const command = commandOf(request, target);
  if (grant.role === 'read-only' && !command.isRead) throw new Refused(SEARCH_REFUSALS.readOnly);
  judgeName(command, target);
  const limitBytes = command.isUpsert === true ? face.limits.maxUpsertBytes : face.limits.maxBodyBytes;
  assert(request instanceof FaceRequest, 'a request that no face server has received');
  face.bodies.read({ request, response }, grant.index, limitBytes, (outcome) => {
    switch (outcome.kind) {
      case 'whole':
        void run(answer, command, new SearchCall(face, answer, target, grant, outcome.body));
        return;
      case 'too-large':
        answer.refuse(new Refused(queueBodyTooLarge(limitBytes)));
        return;
      case 'overloaded':
        answer.refuse(new Refused(SEARCH_REFUSALS.overloaded));
        return;
      case 'aborted':
    }
  });
}

async function run(answer: SearchAnswer, command: SearchCommand, call: SearchCall): Promise<void> {
  try {
    await command.run(call);
  } catch (failure) {
    answer.refuse(refusedBy(call.face, failure));
  }
}

/** An id that is none says no more than one of somebody else. @throws Refused 401, 429; CONTROL_STALE */
function grantOf(face: SearchFace, request: IncomingMessage, { id }: SearchTarget): SearchGrant {
  const { parts, signIns, addresses } = face;
  const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) throw new Refused(SEARCH_REFUSALS.unauthorized);
  const index = databaseIdOfUuid(id);
  const signingIn = { signIns, address: () => addresses.of(request), secret: token };
  const grant = signedIn(signingIn, () =>
    index === undefined ? undefined : parts.access.grantForSearch(index, token),
  );
  if (grant === undefined) throw new Refused(SEARCH_REFUSALS.unauthorized);
  return grant;
}

/** @throws Refused 404, 405 */
function commandOf({ method }: IncomingMessage, target: SearchTarget): SearchCommand {
  const command = SEARCH_COMMANDS.get(target.command);
  if (command === undefined) throw new Refused(SEARCH_REFUSALS.commandNotFound);
  if (method === 'POST' || method === command.alsoBy) return command;
  const allow = command.alsoBy === undefined ? 'POST' : `POST, ${command.alsoBy}`;
  throw new Refused(SEARCH_REFUSALS.methodNotAllowed, { Allow: allow });
}

/** @throws Refused 400 */
function judgeName({ scope }: SearchCommand, { name, isMalformed, isAll }: SearchTarget): void {
  if (isMalformed) throw invalid(`${INDEX_NAME}: malformed percent-encoding`);
  if (scope === 'unnamed') return;
  if (name === undefined) {
    if (scope === 'either' && isAll) return;
    throw invalid(`${INDEX_NAME} is missing: it follows the command in the path`);
  }
  const problem = nameProblem(INDEX_NAME, name);
  if (problem !== undefined) throw invalid(problem);
}

function refusedBy(face: SearchFace, failure: unknown): Refused {
  if (failure instanceof Refused) return failure;
  return new Refused(face.incidents.told(searchRefusalOf(failure), failure));
}
