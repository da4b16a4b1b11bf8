/**
 * The first checks of a queue call, with or without Koa: its words, and its credentials. Only webhooks of workflows
 * need no token: their URL is the secret.
 */
import { headerValue } from '../../domain/queue/index.js';
import type { QueueGrant } from '../../ports/index.js';
import { QUEUE_REFUSALS, queueRefusalOf } from '../error-map.js';
import { writeRefusal } from '../http/answer.js';
import { takeOver } from '../http/application.js';
import { isLongBody } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { signedIn } from '../http/signing-in.js';
import { PORTAL_TOKEN, portalGrant, portalLinkIn } from './applications/portal-links.js';
import { type CallWords, readWords } from './call-words.js';
import { decodedName } from './destination.js';
import { type CallExchange, cutOff, QueueCall, type QueueRoute, rawHeadersOf } from './queue-call.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { BATCH_ROUTE } from './routes/batch.js';
import { ROUTED } from './routes/index.js';
import { isSentByRun } from './run-headers.js';
import { RUN_ID } from './run-names.js';
import { grantForHook, HOOKS, hookIn, mustBeOpen } from './workflow-hooks.js';

const RUNS = '/v2/workflows/runs/';
const WAIT = '/v2/wait/';
const APPLICATIONS = '/v2/apps/';
/** The endpoint reports the result of its run. */
const FINISHES = /(^|&)cancel=false(&|$)/;

/** Routes of endpoints in the middle of a run, with the fixed beginnings of their paths. */
export const RUN_ROUTES: readonly BegunRoute[] = ROUTED.filter(({ boundBy }) => boundBy === 'run').map((route) => ({
  route,
  start: route.paths[0].replace(/[:*].*$/, ''),
}));

/** @throws Refused 401, 403, 404, 405, 429; CONTROL_STALE */
export function callOf(endpoint: QueueEndpoint, exchange: CallExchange): QueueCall {
  const { path } = exchange.target;
  const words = wordsOf(endpoint, exchange);
  if (!path.startsWith(HOOKS)) return new QueueCall(endpoint, exchange, words, grantOf(endpoint, exchange, words));
  const call = new QueueCall(endpoint, exchange, words, grantForHook(endpoint, hookIn(path)));
  mustBeOpen(call);
  return call;
}

/** Notes what a call of an endpoint is about: it decides the form of refusals, and the run that they fail. */
export function noteRun(call: QueueCall): void {
  const { path, request, words } = call;
  call.isByEndpoint = isByRun(call.exchange);
  call.isOfRun = call.isByEndpoint && request.method !== 'GET';
  if (path.startsWith(WAIT)) call.runOfStep = headerValue(words.configuration, RUN_ID);
  else if (request.method === 'DELETE' && path.startsWith(RUNS) && FINISHES.test(words.rest)) {
    call.runOfStep = decodedName(path.slice(RUNS.length));
  }
}

/** Checks the rights of a call after its route is known. @returns the largest size of its body. @throws Refused 403 */
export function admitted(call: QueueCall, { permission, bodyBound }: QueueRoute): number {
  if (permission === 'change') call.mustBeAllowedToChange();
  else if (permission === 'publish') call.mustBeAllowedToPublish();
  const { maxBatchBytes, maxBodyBytes, maxJsonBytes } = call.endpoint.parts.limits;
  if (bodyBound === 'batch') return maxBatchBytes;
  return Math.min(maxBodyBytes, bodyBound === 'message' ? call.grant.terms.limits.maxMessageBytes : maxJsonBytes);
}

/** Refuses a call whose account is not known yet. */
export function failEarly(endpoint: QueueEndpoint, exchange: CallExchange, failure: unknown): void {
  const refused = endpoint.incidents.refused(failure, queueRefusalOf);
  const { request, response, context } = exchange;
  if (context !== undefined) takeOver(context);
  if (refused.isPassing && mayBeOfRun(endpoint, exchange)) cutOff(request);
  else writeRefusal({ request, response }, refused, { isLast: endpoint.isDraining, leavesBody: isLongBody(request) });
}

function mayBeOfRun(endpoint: QueueEndpoint, exchange: CallExchange): boolean {
  const { path } = exchange.target;
  return (
    isByRun(exchange) || isAt(BATCH_ROUTE.paths[0], path) || isSentByRun(wordsOf(endpoint, exchange).configuration)
  );
}

function wordsOf({ spellings, parts }: QueueEndpoint, exchange: CallExchange): CallWords {
  const isOurs = (token: string) => parts.access.grantForQueueToken(token) !== undefined;
  return readWords(spellings, rawHeadersOf(exchange), exchange.target.query, isOurs);
}

/** A missing token does not count as a failed sign-in. @throws Refused 401, 429; CONTROL_STALE */
function grantOf(endpoint: QueueEndpoint, { request, passed, target }: CallExchange, words: CallWords): QueueGrant {
  const token = passed?.token ?? words.token;
  if (token === undefined) throw new RefusedRequest(QUEUE_REFUSALS.unauthorized);
  const { signIns, addresses, parts } = endpoint;
  const signingIn = { signIns, address: () => addresses.of(request), secret: token };
  const grant = signedIn(signingIn, () =>
    token.startsWith(PORTAL_TOKEN) ? grantForPortal(endpoint, token) : parts.access.grantForQueueToken(token),
  );
  if (grant === undefined) throw new RefusedRequest(QUEUE_REFUSALS.unauthorized);
  // Frequent calls are not routed: PTL1 (a token opens the routes of its application, and no other).
  if (grant.portal !== undefined && !target.path.startsWith(APPLICATIONS))
    throw new RefusedRequest(QUEUE_REFUSALS.notOfPortal);
  return grant;
}

function grantForPortal({ parts }: QueueEndpoint, token: string): QueueGrant | undefined {
  const link = portalLinkIn(parts.sealing, token, parts.clock.nowMs());
  return link && portalGrant(link, parts.access.grantForAccount(link.account));
}

function isByRun({ request, target: { path } }: CallExchange): boolean {
  return RUN_ROUTES.some((begun) => isOf(begun, request.method, path));
}

export interface BegunRoute {
  readonly route: QueueRoute;
  readonly start: string;
}

/** Whether the route serves this call; the rest of the path after its fixed beginning is its parameter. */
export function isOf({ route, start }: BegunRoute, method: string | undefined, path: string): boolean {
  if (!path.startsWith(start) || path.length === start.length) return false;
  const name = method?.toLowerCase();
  return route.methods.some((each) => each === name);
}

export function isAt(route: string, path: string): boolean {
  return path === route || path === `${route}/`;
}
