/** Builds the server of the queue endpoint. */
import type { Middleware } from 'koa';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import { createApplication, passedTo } from '../http/application.js';
import type { SocketParts } from '../http/face.js';
import type { FaceServer } from '../http/index.js';
import { splitTarget } from './destination.js';
import { HotCalls, hotRouteAt } from './hot-calls.js';
import { createQueueApp } from './queue-app.js';
import { QueueFace, type QueueFaceParts } from './queue-face.js';
import { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';

export interface QueueServerParts extends Omit<QueueFaceParts, 'limits' | 'aliases'>, SocketParts {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<QueueFaceLimits>;
  readonly aliases?: QueueFaceParts['aliases'];
}

export interface QueueServer extends FaceServer {
  /** Answers the call in `state.passed` of another endpoint's context. */
  readonly passed: Middleware;
}

export function createQueueServer(parts: QueueServerParts): QueueServer {
  const limits = { ...DEFAULT_QUEUE_FACE_LIMITS, ...parts.limits };
  const face = new QueueFace({ ...parts, limits, aliases: parts.aliases ?? [] });
  const app = createQueueApp(face);
  const hot = new HotCalls(face, createApplication('queue', parts.log, [app]));
  const server = face.serve(parts, {
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
