/**
 * The HTTP pipeline on Koa, and the middleware that endpoints share: refusals, bodies, declared routes.
 *
 *  KOA1 the body is read before the first middleware that awaits: its pieces arrive in the same tick as the request
 *       and would be lost without a reader
 *  KOA2 every failure is answered once, in the documented form, and never with a stack trace
 */
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import Router, { type RouterMiddleware } from '@koa/router';
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
  /** Ignores the case of letters in a path that has no `*` part. */
  readonly ignoresCase?: boolean;
  /** Answers HEAD for a route with GET. */
  readonly answersHead?: boolean;
  /** Counts only the first of several matching paths: `/v2/teams/member` names no team. */
  readonly isFirstAlone?: boolean;
  /** Does the route take methods that it does not declare? Default: no. */
  takesAnyMethod?(route: R): boolean;
  /** The refusal of an unknown path. Default: 404 `no such route`. */
  readonly notFound?: Refusal;
}

type Run<R, State> = (context: PipelineContext<State>, route: R, path: PathParts) => Promise<void>;

/** The routes of one pattern, with their methods. */
interface PatternRoutes<R> {
  readonly pattern: string;
  /** In metrics. */
  readonly label: string;
  readonly routes: readonly { readonly route: R; readonly methods: readonly string[]; readonly takesAny: boolean }[];
}

/**
 * Registers declared routes with @koa/router. Fixed path parts take precedence over parameters, and parameters over a
 * part that takes the rest of the path; the more fixed parts, and the further left they are, the earlier.
 *
 * The router tries its routes one after the other, so each fixed beginning of a path has a router with its routes.
 * @throws Refused 404, 405 with the allowed methods
 */
export function routed<R extends Described, State = object>(
  routes: readonly R[],
  options: RoutingOptions<R>,
  run: Run<R, State>,
): Stage<State> {
  const { notFound = SHARED_REFUSALS.routeNotFound } = options;
  const all = patternsIn(routes, options);
  const routerOf = (beginning?: string) => {
    const fitting = all.filter(({ pattern }) => [undefined, beginning].includes(beginningOf(pattern)));
    return routerFor(fitting, options, run);
  };
  const routers = new Map(all.map(({ pattern }) => [beginningOf(pattern), routerOf(beginningOf(pattern))]));
  const others = routerOf();
  return (context) => {
    const matched = routers.get(context.path.toLowerCase().split('/', BEGINNING_PARTS).join('/')) ?? others;
    return matched(context, async () => {
      const { allowedMethods = [] } = context.state;
      throw allowedMethods.length > 0 ? notAllowed(allowedMethods) : new RefusedRequest(notFound);
    });
  };
}

/** The empty part before the first slash, and two more. */
const BEGINNING_PARTS = 3;

/** Undefined: the first parts of the path are not all fixed. */
function beginningOf(pattern: string): string | undefined {
  const parts = pattern.toLowerCase().split('/', BEGINNING_PARTS);
  return parts.some((part) => /^[:*]/.test(part)) ? undefined : parts.join('/');
}

/** Sorted by precedence. */
function patternsIn<R extends Described>(
  routes: readonly R[],
  options: RoutingOptions<R>,
): readonly PatternRoutes<R>[] {
  const patterns = new Map<string, R[]>();
  for (const route of routes) {
    for (const path of options.patternsOf?.(route) ?? route.paths) {
      patterns.set(path, [...(patterns.get(path) ?? []), route]);
    }
  }
  const sorted = [...patterns].sort(([a], [b]) => compareText(rankOf(a), rankOf(b)));
  return sorted.map(([pattern, group]) => ({
    pattern,
    label: options.patternsOf === undefined ? pattern : (group[0]?.paths[0] as string),
    routes: group.map((route) => ({
      route,
      methods: methodsOf(route, options.answersHead === true),
      takesAny: options.takesAnyMethod?.(route) === true,
    })),
  }));
}

function routerFor<R extends Described, State>(
  patterns: readonly PatternRoutes<R>[],
  { allowsLastSlash = false, ignoresCase = false, isFirstAlone = false }: RoutingOptions<R>,
  run: Run<R, State>,
): Stage<State> {
  const router = new Router();
  for (const { pattern, label, routes } of patterns) {
    const rawParts = rawPartsOf(pattern);
    const answer: RouterMiddleware = async (context, next) => {
      const { state } = context;
      state.allowedMethods ??= [];
      const allowed: string[] = state.allowedMethods;
      // A passed call is counted by the route of the endpoint that passes it.
      const found = () => state.passed === undefined && foundRoute(context.req, label);
      if (allowed.length === 0) found();
      const fitting = routes.find(({ methods, takesAny }) => takesAny || methods.includes(context.method));
      if (fitting !== undefined) {
        found();
        const raw = rawParts.map(([name, at]) => [name, context.captures?.[at] ?? '']);
        await run(context as PipelineContext<State>, fitting.route, { ...context.params, ...Object.fromEntries(raw) });
        return;
      }
      allowed.push(...routes.flatMap(({ methods }) => methods));
      if (isFirstAlone) throw notAllowed(allowed);
      await next();
    };
    const sensitive = !ignoresCase || rawParts.length > 0;
    router.register(expressionOf(pattern), METHODS, answer, { sensitive, strict: !allowsLastSlash });
  }
  return router.routes() as Stage<State>;
}

function notAllowed(allowed: readonly string[]): RefusedRequest {
  return new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: [...new Set(allowed)].join(', ') });
}

function methodsOf({ methods }: Described, answersHead: boolean): string[] {
  const named = methods.map((method: Method) => method.toUpperCase());
  return answersHead && named.includes('GET') ? ['HEAD', ...named] : named;
}

/** In the language of @koa/router: a part that may be empty stands in braces. */
function expressionOf(path: string): string {
  return path.replace(/\*(\w+)\?$/, '{*$1}');
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
