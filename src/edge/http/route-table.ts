/**
 * Finds the declared route for a method and a path.
 *
 *  RT1 fixed path parts take precedence over parameters, and parameters over a part that takes the rest of the path;
 *      the more fixed parts, and the further left they are, the earlier a route is tried
 *  RT2 an unknown path is refused with 404, a known path with another method with 405 and the allowed methods
 */
import type { IncomingMessage } from 'node:http';
import { SHARED_REFUSALS } from '../error-map.js';
import { RefusedRequest } from './refused.js';
import { foundRoute } from './request-metrics.js';
import type { Described, Method, PathParts } from './route.js';

export interface TableOptions {
  /** Accepts a slash at the end of a path that has no `*` part. */
  readonly allowsLastSlash?: boolean;
  /** Ignores the case of letters in a path that has no `*` part. */
  readonly ignoresCase?: boolean;
  /** Answers HEAD for a route with GET. */
  readonly answersHead?: boolean;
  /** Counts only the first of several matching paths: `/v2/teams/member` names no team. */
  readonly isFirstAlone?: boolean;
}

export interface FoundRoute<R> {
  readonly route: R;
  readonly path: PathParts;
}

interface Entry<R> {
  readonly declared: string;
  readonly pattern: RegExp;
  readonly methods: readonly string[];
  readonly route: R;
}

export class RouteTable<R extends Described> {
  readonly #entries: readonly Entry<R>[];

  constructor(
    routes: readonly R[],
    private readonly options: TableOptions = {},
  ) {
    const entries = routes.flatMap((route) =>
      route.paths.map((declared) => ({
        declared,
        pattern: patternOf(declared, options),
        methods: methodsOf(route, options),
        route,
      })),
    );
    this.#entries = entries.sort((a, b) => compareText(rankOf(a.declared), rankOf(b.declared)));
  }

  /** Also sets the request's label in metrics. @throws Refused 404, 405 */
  find(request: IncomingMessage, path: string): FoundRoute<R> {
    const method = request.method as string;
    const { isFirstAlone = false } = this.options;
    let fitting = this.#entries.filter(({ pattern }) => pattern.test(path));
    const [first] = fitting;
    if (first === undefined) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    if (isFirstAlone) fitting = fitting.filter(({ declared }) => declared === first.declared);
    foundRoute(request, first.declared);
    const entry = fitting.find(({ methods }) => methods.includes(method));
    if (entry === undefined) {
      const allowed = new Set(fitting.flatMap(({ methods }) => methods));
      throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: [...allowed].join(', ') });
    }
    foundRoute(request, entry.declared);
    return { route: entry.route, path: partsOf(entry, path) };
  }
}

function methodsOf({ methods }: Described, { answersHead = false }: TableOptions): string[] {
  const named = methods.map((method: Method) => method.toUpperCase());
  return answersHead && named.includes('GET') ? ['HEAD', ...named] : named;
}

function patternOf(declared: string, { allowsLastSlash = false, ignoresCase = false }: TableOptions): RegExp {
  const takesAll = declared.includes('*');
  const pattern = declared
    .replaceAll(/[.+()[\]{}|^$\\]/g, '\\$&')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)\?/g, '(?<$1>.*)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.+)');
  return new RegExp(`^${pattern}${allowsLastSlash && !takesAll ? '/?' : ''}$`, ignoresCase && !takesAll ? 'is' : 's');
}

function partsOf<R>({ declared, pattern }: Entry<R>, path: string): PathParts {
  const parts: Record<string, string> = {};
  for (const [name, text] of Object.entries(pattern.exec(path)?.groups ?? {})) {
    parts[name] = declared.includes(`*${name}`) ? text : decoded(text);
  }
  return parts;
}

/** Invalid percent-encoding is taken literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
