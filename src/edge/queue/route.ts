/** How routes of the queue and of workflows are declared. Each answers by its call. */
import { type Parameter, queryParameter } from '../http/openapi/parts.js';
import { type Route as HttpRoute, routesOf } from '../http/route.js';
import type { QueueCall } from './queue-call.js';

/** The read-only token may `read`; a suspended account may not `publish`. */
export type QueueRight = 'read' | 'change' | 'publish';
export const route = routesOf<QueueCall, QueueRight>();

/**
 * `bodyBound`: a `message`'s, or a `batch`'s; else that of JSON. `boundBy`: the `day`, as all that publishes; or nothing,
 * since a `run` that has begun would fail, after some attempts, for what others ask.
 */
export type Route = HttpRoute<QueueCall, QueueRight>;

/** Parameters of the query, each a text. */
export function filters(names: Iterable<string>): readonly Parameter[] {
  return [...names].map((name) => queryParameter(name));
}
