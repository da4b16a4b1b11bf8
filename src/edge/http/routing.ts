/**
 * Serves declared routes with @koa/router.
 *
 *  RT1 fixed path parts take precedence over parameters, and parameters over a part that takes the rest of the path;
 *      the more fixed parts, and the further left they are, the earlier a route is tried
 *  RT2 an unknown path is refused with 404, a known path with another method with 405 and the allowed methods
 */
import { METHODS } from 'node:http';
import Router, { type RouterMiddleware } from '@koa/router';
import { type Refusal, SHARED_REFUSALS } from '../error-map.js';
import type { PipelineContext, Stage } from './application.js';
import { RefusedRequest } from './refused.js';
import { foundRoute } from './request-metrics.js';
import type { Described, Method, PathParts } from './route.js';

export interface RoutingOptions<R extends Described = Described> {
  /** The paths under which a route is found. Default: those that it declares. */
  patternsOf?(route: R): readonly string[];
  /** Accepts a slash at the end of a path that has no `*` part. */
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
    const isExact = rawParts.length > 0;
    const how = { sensitive: isExact || !ignoresCase, strict: isExact || !allowsLastSlash };
    router.register(expressionOf(pattern), METHODS, answer, how);
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
