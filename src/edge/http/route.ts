/**
 * The declaration of an endpoint's route: path, permission, body, query and answer. Routing, validation and the
 * OpenAPI document are derived from it.
 */
import type { AnswerShape } from './answer-shape.js';
import type { BodyShape } from './body-shape.js';
import type { ApiParameter } from './openapi/parts.js';
import type { ClassOf } from './request-class.js';

export type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';

/** Path parts by name: `:name` decoded, `*name` raw. */
export type PathParts = Readonly<Record<string, string>>;

/** The class of a missing body or query. */
export class Nothing {}

/** The description of a route, without its handler. */
export interface Described {
  /** The first is the main one. */
  readonly methods: readonly [Method, ...Method[]];
  /**
   * The first is the main one; all have the same part names. `:name` is one part, `*name` the rest with its slashes;
   * with a `?` it may be empty.
   */
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  /** Details after the summary. */
  readonly description?: string;
  /** In the endpoint's terms; `open`: no sign-in needed. */
  readonly permission: string;
  /** A list that shows only the resources on which the caller has the right. */
  readonly answersSome?: true;
  readonly body: ClassOf<object>;
  readonly query: ClassOf<object>;
  /** The form of the body if it has no class. */
  readonly bodyShape?: BodyShape;
  /** A valid body, as JSON. */
  readonly example?: unknown;
  /** The endpoint's limit for the body, if not its usual one. */
  readonly bodyBound?: string;
  /** The rate limit of the route, if not the endpoint's limit per second. */
  readonly boundBy?: string;
  /** Parameters outside the query class, and descriptions of path parameters. */
  readonly parameters: readonly ApiParameter[];
  readonly answer: AnswerShape;
  /** Statuses of success. Default: 200. */
  readonly statuses?: readonly number[];
  /** The answer is the same for every call, so its text is made once. */
  readonly isConstant?: true;
  /** Values in the examples of a call, where those of sample-call.ts do not fit. */
  readonly sample?: {
    readonly path?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** The path as it is called, where the document has it under the name of another path. */
  readonly calledAs?: string;
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
  /** Alternatives to the main method and path. */
  readonly alsoMethods?: readonly Method[];
  readonly alsoPaths?: readonly string[];
};

/** Declares the routes of an endpoint. */
export function routesOf<Call, Right extends string>() {
  return <Body extends object = Nothing, Query extends object = Nothing>(
    at: At,
    declared: DeclaredRoute<Call, Right, Body, Query>,
  ) => described(at, declared) as Route<Call, Right>;
}

/** Describes a route that has its handler elsewhere. */
export function described<Body extends object = Nothing, Query extends object = Nothing>(
  at: At,
  declared: Omit<DeclaredRoute<never, string, Body, Query>, 'handle'>,
): Described {
  const [method = '', path = ''] = at.split(' ');
  const { alsoMethods = [], alsoPaths = [], body = Nothing, query = Nothing, parameters = [], ...rest } = declared;
  const methods: Described['methods'] = [method.toLowerCase() as Method, ...alsoMethods];
  return { ...rest, methods, paths: [path, ...alsoPaths], body, query, parameters };
}

/** Can the route change data? Decided by its main method. */
export function changesAnything({ methods: [method] }: Pick<Described, 'methods'>): boolean {
  return method !== 'get';
}

/** Paths of the routes that need no sign-in. */
export function openPathsOf(routes: readonly Described[]): ReadonlySet<string> {
  return new Set(routes.filter(({ permission }) => permission === 'open').flatMap(({ paths }) => paths));
}
