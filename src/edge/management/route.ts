/**
 * What a route of the management API is: one declaration, from which follow how it is reached, who may use it, what its
 * body and query must look like, what it answers, how it is audited, and how the OpenAPI document describes it.
 */

import type { ClassOf } from '../http/request-class.js';
import type { Permission } from '../team-permissions.js';
import type { ManagementCall } from './management-call.js';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Decoded parts of the path by name. */
export type PathParts = Readonly<Record<string, string>>;

export type AnswerShape =
  | { readonly kind: 'object' | 'list'; readonly of: ClassOf<object> }
  /** `"OK"`, in quotes. */
  | { readonly kind: 'ok' }
  | { readonly kind: 'texts' };

/** Of a route without a body, or without a query. */
export class Nothing {}

export interface Route<Body extends object = object, Query extends object = object> {
  /** The first is the usual one. */
  readonly methods: readonly [Method, ...Method[]];
  /** The first is the usual one; in all of them the same names. */
  readonly paths: readonly [string, ...string[]];
  readonly summary: string;
  /** Of the caller, in the account of the key; `open`: of anybody, signed in or not. */
  readonly permission: Permission | 'open';
  readonly body: ClassOf<Body>;
  readonly query: ClassOf<Query>;
  readonly answer: AnswerShape;
  handle(call: ManagementCall, input: Input<Body, Query>): Promise<unknown>;
}

export interface Input<Body, Query> {
  readonly path: PathParts;
  readonly body: Body;
  readonly query: Query;
}

type Declared<Body extends object, Query extends object> = Omit<
  Route<Body, Query>,
  'methods' | 'paths' | 'body' | 'query'
> & {
  readonly body?: ClassOf<Body>;
  readonly query?: ClassOf<Query>;
  /** Beside the usual one. */
  readonly alsoMethods?: readonly Method[];
  readonly alsoPaths?: readonly string[];
};

/** @param at method and path: `GET /v2/kv/databases` */
export function route<Body extends object = Nothing, Query extends object = Nothing>(
  at: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  declared: Declared<Body, Query>,
): Route {
  const [method = '', path = ''] = at.split(' ');
  const { alsoMethods = [], alsoPaths = [], body = Nothing, query = Nothing, ...rest } = declared;
  const whole = {
    ...rest,
    methods: [method.toLowerCase() as Method, ...alsoMethods],
    paths: [path, ...alsoPaths],
    body,
    query,
  };
  return whole as unknown as Route;
}

export function changesAnything({ methods: [method] }: Route): boolean {
  return method !== 'get';
}

export function one(type: ClassOf<object>): AnswerShape {
  return { kind: 'object', of: type };
}

export function listOf(type: ClassOf<object>): AnswerShape {
  return { kind: 'list', of: type };
}

export const OK_ANSWER: AnswerShape = { kind: 'ok' };
export const OK = 'OK';
export const TEXTS: AnswerShape = { kind: 'texts' };

/** Paths of the routes that anybody may use. */
export function openPathsOf(routes: readonly Route[]): ReadonlySet<string> {
  return new Set(routes.filter(({ permission }) => permission === 'open').flatMap(({ paths }) => paths));
}
