/** Builds the server of the queue endpoint. */
import type { Middleware } from 'koa';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import { createApplication, passedTo } from '../http/application.js';
import type { SocketParts } from '../http/endpoint.js';
import type { EndpointServer } from '../http/index.js';
import { splitTarget } from './destination.js';
import { HotCalls, hotRouteAt } from './hot-calls.js';
import { createQueueApp } from './queue-app.js';
import { QueueEndpoint, type QueueEndpointParts } from './queue-endpoint.js';
import { DEFAULT_QUEUE_ENDPOINT_LIMITS, type QueueEndpointLimits } from './queue-limits.js';

export interface QueueServerParts extends Omit<QueueEndpointParts, 'limits' | 'aliases'>, SocketParts {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<QueueEndpointLimits>;
  readonly aliases?: QueueEndpointParts['aliases'];
}

export interface QueueServer extends EndpointServer {
  /** Answers the call in `state.passed` of another endpoint's context. */
  readonly passed: Middleware;
}

export function createQueueServer(parts: QueueServerParts): QueueServer {
  const limits = { ...DEFAULT_QUEUE_ENDPOINT_LIMITS, ...parts.limits };
  const endpoint = new QueueEndpoint({ ...parts, limits, aliases: parts.aliases ?? [] });
  const app = createQueueApp(endpoint);
  const hot = new HotCalls(endpoint, createApplication('queue', parts.log, [app]));
  const server = endpoint.serve(parts, {
    handle: hot.handle.bind(hot),
    connectRefusal: SHARED_REFUSALS.methodNotAllowed,
    allowedMethods: 'GET, POST, PUT, PATCH, DELETE',
    protocolRefusal: queueProtocolRefusal,
    handlePlain: hot.handlePlain.bind(hot),
  });
  const frequent = passedTo((exchange, passed) => hot.pass(exchange, passed));
  const passed: Middleware = (context, next) => {
    const isHot = hotRouteAt(context.method, splitTarget(context.url).path) !== undefined;
    return isHot ? frequent(context, next) : app(context, next);
  };
  return { ...server, passed };
}
