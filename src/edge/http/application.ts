/**
 * The HTTP pipeline on Koa, and the middleware that endpoints share: refusals, bodies, declared routes.
 *
 *  KOA1 the body is read before the first middleware that awaits: its pieces arrive in the same tick as the request
 *       and would be lost without a reader
 *  KOA2 every failure is answered once, in the documented form, and never with a stack trace
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa, { type Middleware, type ParameterizedContext } from 'koa';
import { assert, describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { type Refusal, SHARED_REFUSALS } from '../error-map.js';
import { type Answer, writeRefusal } from './answer.js';
import { bodyRefused, RefusedRequest } from './refused.js';
import { BODILESS_METHODS, discardBody, FaceRequest, isLongBody, type RequestBodyReader } from './request-body.js';
import { foundRoute } from './request-metrics.js';
import type { Described, Method, PathParts } from './route.js';

/**
 * A call that another endpoint of this process makes for a client. The other endpoint has checked the client and read
 * the body, and these members replace the members of the client's request.
 */
export interface PassedCall {
  /** The target, as a client of the called endpoint would send it. */
  readonly url: string;
  readonly token: string;
  /** Alternating names and values, without credentials. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** State that this file leaves for later middleware. */
export interface PipelineState {
  /** The body, after `readsBody`. */
  body?: Buffer;
  /** Default: the body was not requested. */
  isBodyAsked?: boolean;
  /** Default: the request is the client's own. */
  passed?: PassedCall;
  /** Methods of the declared paths that match, until a route with the request's method is found. */
  allowedMethods?: string[];
}

export type PipelineContext<State = object> = ParameterizedContext<State & PipelineState>;
export type Stage<State = object> = (context: PipelineContext<State>, next: () => Promise<unknown>) => Promise<unknown>;

/** @param name of the endpoint: the first word of its log events */
export function createApplication(
  name: string,
  log: Log,
  stages: readonly Middleware[],
): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Koa();
  // `answersRefusals` answers errors; Koa would print them.
  app.silent = true;
  app.on('error', (error) => log.error(`${name}.request.failed`, { error: describeError(error) }));
  for (const stage of stages) app.use(stage);
  const callback = app.callback();
  return (request, response) => void callback(request, response);
}

/** Sets Koa's response. Koa does not write to a client that has disconnected. */
export function answer(context: PipelineContext, { status, text, type, headers = {}, isLast }: Answer): void {
  context.status = status;
  context.set(headers);
  if (type !== '') context.set('Content-Type', type ?? 'application/json');
  if (isLast) context.set('Connection', 'close');
  context.body = text;
}

/** Gives the response to a handler that streams it. */
export function takeOver(context: PipelineContext): ServerResponse {
  context.respond = false;
  return context.res;
}

/** Middleware of an endpoint that does not stand on Koa, for calls that Koa's endpoints pass to it. */
export function passedTo(
  run: (exchange: { readonly request: FaceRequest; readonly response: ServerResponse }, call: PassedCall) => void,
): Middleware {
  return async (context) => {
    const { req: request, state } = context as PipelineContext;
    assert(request instanceof FaceRequest, 'a request that no server of ours has received');
    assert(state.passed !== undefined, 'a call that was not passed');
    run({ request, response: takeOver(context) }, state.passed);
  };
}

export interface RefusalStyle<State> {
  refusedOf(failure: unknown): RefusedRequest;
  /** The body of the answer. Default: `{"error": "…"}`. */
  textOf?(refused: RefusedRequest, state: Partial<State>): string;
  readonly type?: string;
  /** Default: none. */
  headersOf?(context: PipelineContext<State>): Readonly<Record<string, string>>;
  isDraining(): boolean;
  /** Default: every refusal. */
  leavesBodyOf?(refusal: Refusal): boolean;
}

/**
 * Answers failures (KOA2: once, in the documented form). A long body that was not requested is left unread, and the
 * connection closes after the answer.
 */
export function answersRefusals<State = object>(style: RefusalStyle<State>): Stage<State> {
  return async (context, next) => {
    try {
      await next();
    } catch (failure) {
      const refused = style.refusedOf(failure);
      const { req: request, res: response } = context;
      if (response.headersSent) {
        takeOver(context).destroy();
        return;
      }
      const { refusal, headers } = refused;
      const text = style.textOf?.(refused, context.state) ?? JSON.stringify({ error: refusal.text });
      const mayLeaveBody = context.state.isBodyAsked !== true && (style.leavesBodyOf?.(refusal) ?? true);
      const leavesBody = mayLeaveBody && isLongBody(request);
      const how = {
        text,
        headers: style.headersOf?.(context) ?? {},
        isLast: style.isDraining(),
        ...(style.type ? { type: style.type } : {}),
      };
      takeOver(context);
      writeRefusal({ request, response }, { refusal, headers }, { ...how, leavesBody });
    }
  };
}

export interface BodyBound<State> {
  readonly bodies: RequestBodyReader;
  /** The tenant whose budget holds the body. */
  tenantOf(context: PipelineContext<State>): string;
  limitBytesOf(context: PipelineContext<State>): number;
  /** Reads the body of a GET or HEAD, too. Default: it has no meaning and is discarded. */
  readonly isOfAnyMethod?: boolean;
}

/** Reads the body; methods without a body get an empty buffer. @throws Refused 413, 503 */
export function readsBody<State = object>(bound: BodyBound<State>): Stage<State> {
  return async (context, next) => {
    const { req: request, res: response, state } = context;
    state.isBodyAsked = true;
    state.body = state.passed?.body ?? Buffer.alloc(0);
    if (state.passed !== undefined) return next();
    if (bound.isOfAnyMethod !== true && BODILESS_METHODS.has(request.method)) discardBody(request);
    else {
      assert(request instanceof FaceRequest, 'a request that no server of ours has received');
      const limitBytes = bound.limitBytesOf(context);
      const outcome = await new Promise<Parameters<Parameters<RequestBodyReader['read']>[3]>[0]>((resolve) =>
        bound.bodies.read({ request, response }, bound.tenantOf(context), limitBytes, resolve),
      );
      if (outcome.kind === 'aborted') {
        takeOver(context);
        return;
      }
      if (outcome.kind !== 'whole') throw bodyRefused(outcome, limitBytes);
      state.body = outcome.body;
    }
    return next();
  };
}

export interface RoutingOptions<R extends Described = Described> {
  /** The paths under which a route is found. Default: those that it declares. */
  patternsOf?(route: R): readonly string[];
  /** Accepts a slash at the end of a path. */
  readonly allowsLastSlash?: boolean;
  /** Answers HEAD for a route with GET. */
  readonly answersHead?: boolean;
  /** Counts only the first of several matching paths: `/v2/teams/member` names no team. */
  readonly isFirstAlone?: boolean;
  /** The refusal of an unknown path. Default: 404 `no such route`. */
  readonly notFound?: Refusal;
}

/**
 * Registers declared routes with @koa/router. Fixed path parts take precedence over parameters, and parameters over a
 * part that takes the rest of the path; the more fixed parts, and the further left they are, the earlier.
 * @throws Refused 404, 405 with the allowed methods
 */
export function routed<R extends Described, State = object>(
  routes: readonly R[],
  options: RoutingOptions<R>,
  run: (context: PipelineContext<State>, route: R, path: PathParts) => Promise<void>,
): Stage<State> {
  const { allowsLastSlash = false, answersHead = false, isFirstAlone = false } = options;
  const { notFound = SHARED_REFUSALS.routeNotFound } = options;
  const router = new Router({ sensitive: true, strict: !allowsLastSlash });
  const declared = new Map<string, R[]>();
  for (const route of routes) {
    for (const path of options.patternsOf?.(route) ?? route.paths) {
      declared.set(path, [...(declared.get(path) ?? []), route]);
    }
  }
  const paths = [...declared.keys()].sort((a, b) => compareText(rankOf(a), rankOf(b)));
  for (const path of paths) {
    const group = declared.get(path) as [R, ...R[]];
    const label = options.patternsOf === undefined ? path : group[0].paths[0];
    const rawParts = rawPartsOf(path);
    router.all(patternOf(path), async (context, next) => {
      const { state } = context;
      state.allowedMethods ??= [];
      const allowed: string[] = state.allowedMethods;
      // A passed call is counted by the route of the endpoint that passes it.
      const found = () => state.passed === undefined && foundRoute(context.req, label);
      if (allowed.length === 0) found();
      const route = group.find((each) => methodsOf(each, answersHead).includes(context.method));
      if (route !== undefined) {
        found();
        const raw = rawParts.map(([name, at]) => [name, context.captures?.[at] ?? '']);
        await run(context as PipelineContext<State>, route, { ...context.params, ...Object.fromEntries(raw) });
        return;
      }
      allowed.push(...group.flatMap((each) => methodsOf(each, answersHead)));
      if (isFirstAlone) throw notAllowed(allowed);
      await next();
    });
  }
  const matched = router.routes() as Stage<State>;
  return (context) =>
    matched(context, async () => {
      const { allowedMethods = [] } = context.state;
      throw allowedMethods.length > 0 ? notAllowed(allowedMethods) : new RefusedRequest(notFound);
    });
}

function notAllowed(allowed: readonly string[]): RefusedRequest {
  return new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: [...new Set(allowed)].join(', ') });
}

function methodsOf({ methods }: Described, answersHead: boolean): string[] {
  const named = methods.map((method: Method) => method.toUpperCase());
  return answersHead && named.includes('GET') ? ['HEAD', ...named] : named;
}

/** The pattern of @koa/router: a part that may be empty stands in braces, with its slash. */
function patternOf(path: string): string {
  return path.replace(/\/\*(\w+)\?$/, '{/*$1}');
}

/** The parts that are not decoded, and their numbers among all parts. */
function rawPartsOf(path: string): readonly (readonly [name: string, at: number])[] {
  const parts = [...path.matchAll(/([:*])(\w+)/g)];
  return parts.flatMap(([, mark, name = ''], at) => (mark === '*' ? [[name, at] as const] : []));
}

/** Sorts parameters after fixed parts, part by part. */
function rankOf(path: string): string {
  return path
    .split('/')
    .map((part) => (part.startsWith('*') ? '2' : part.startsWith(':') ? '1' : '0'))
    .join('');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
