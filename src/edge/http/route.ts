/**
 * What a route of a face is: one declaration, from which follow how it is reached, who may use it, what its body and
 * query must look like, what it answers, and how the OpenAPI document describes it.
 */
import type { AnswerShape } from './answer-shape.js';
import type { BodyShape } from './body-shape.js';
import type { ApiParameter } from './openapi/parts.js';
import type { ClassOf } from './request-class.js';

export type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';

/** Parts of the path by name: `:name` decoded, `*name` as it stands there. */
export type PathParts = Readonly<Record<string, string>>;

/** The class of a body, or of a query, that a route does not have. */
export class Nothing {}

/** What a route says of itself, whoever carries it out. */
export interface Described {
  /** The first is the usual one. */
  readonly methods: readonly [Method, ...Method[]];
  /**
   * The first is the usual one; in all of them the same names. `:name` is one part, `*name` all that follows, slashes
   * included; with a `?` behind it there may be nothing.
   */
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  /** What the summary has no room for. */
  readonly description?: string;
  /** In the words of its face; `open`: of anybody, signed in or not. */
  readonly permission: string;
  readonly body: ClassOf<object>;
  readonly query: ClassOf<object>;
  /** What the body must look like where no class says so. */
  readonly bodyShape?: BodyShape;
  /** A body that is right, as JSON. */
  readonly example?: unknown;
  /** Which of its face's bounds the body has, where it is not that of most. */
  readonly bodyBound?: string;
  /** What bounds how often it is asked, where that is not its face's bound of a second. */
  readonly boundBy?: string;
  /** Parameters that the class of the query does not have, and what is to be said of those of the path. */
  readonly parameters: readonly ApiParameter[];
  readonly answer: AnswerShape;
  /** With which statuses it succeeds; left out: 200. */
  readonly statuses?: readonly number[];
}

interface Input<Body, Query> {
  readonly path: PathParts;
  readonly body: Body;
  readonly query: Query;
}

export interface Route<Call, Right extends string, Body extends object = object, Query extends object = object>
  extends Described {
  readonly permission: Right | 'open';
  readonly body: ClassOf<Body>;
  readonly query: ClassOf<Query>;
  handle(call: Call, input: Input<Body, Query>): unknown;
}

/** `GET /v2/kv/databases` */
export type At = `${'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

type LeftOut = 'methods' | 'paths' | 'body' | 'query' | 'parameters';

export type DeclaredRoute<Call, Right extends string, Body extends object, Query extends object> = Omit<
  Route<Call, Right, Body, Query>,
  LeftOut
> & {
  readonly body?: ClassOf<Body>;
  readonly query?: ClassOf<Query>;
  readonly parameters?: readonly ApiParameter[];
  /** Methods and paths by which it is reached beside the usual ones. */
  readonly alsoMethods?: readonly Method[];
  readonly alsoPaths?: readonly string[];
};

/** The word with which a face declares its routes. */
export function routesOf<Call, Right extends string>() {
  return <Body extends object = Nothing, Query extends object = Nothing>(
    at: At,
    declared: DeclaredRoute<Call, Right, Body, Query>,
  ) => described(at, declared) as unknown as Route<Call, Right>;
}

/** Describes a route that a handler in front carries out by itself. */
export function described<Body extends object = Nothing, Query extends object = Nothing>(
  at: At,
  declared: Omit<DeclaredRoute<never, string, Body, Query>, 'handle'>,
): Described {
  const [method = '', path = ''] = at.split(' ');
  const { alsoMethods = [], alsoPaths = [], body = Nothing, query = Nothing, parameters = [], ...rest } = declared;
  const methods: Described['methods'] = [method.toLowerCase() as Method, ...alsoMethods];
  return { ...rest, methods, paths: [path, ...alsoPaths], body, query, parameters };
}

/** May it change anything? Its usual method tells. */
export function changesAnything({ methods: [method] }: Pick<Described, 'methods'>): boolean {
  return method !== 'get';
}

/** Paths of the routes that anybody may use. */
export function openPathsOf(routes: readonly Described[]): ReadonlySet<string> {
  return new Set(routes.filter(({ permission }) => permission === 'open').flatMap(({ paths }) => paths));
}
