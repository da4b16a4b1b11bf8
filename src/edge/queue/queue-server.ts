/** Builds the server of the queue endpoint. */
import Koa, { type Middleware } from 'koa';
import { describeError } from '../../kernel/index.js';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import { passedTo } from '../http/application.js';
import type { SocketParts } from '../http/face.js';
import { type FaceServer, PlainRequest } from '../http/index.js';
import { RouteTable } from '../http/route-table.js';
import type { QueueCall } from './queue-call.js';
import { QueueFace, type QueueFaceParts } from './queue-face.js';
import { type QueueApplication, QueueHandler } from './queue-handler.js';
import { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';

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
  const handler = new QueueHandler(face, createQueueApp(face));
  const server = face.serve(parts, {
    handle: handler.handle.bind(handler),
    connectRefusal: SHARED_REFUSALS.methodNotAllowed,
    allowedMethods: 'GET, POST, PUT, PATCH, DELETE',
    protocolRefusal: queueProtocolRefusal,
    takesPlain: true,
  });
  const passed = passedTo(({ request, response }, call) => handler.handle(request, response, call));
  return { ...server, passed };
}

/**
 * Answers the less frequent calls. The handler has checked the token and read the body. A call has its own response
 * writer, so a plain request runs without Koa, which needs Node's objects.
 */
function createQueueApp(face: QueueFace): QueueApplication {
  const table = new RouteTable(QUEUE_FACE_ROUTES, { allowsLastSlash: true, ignoresCase: true, answersHead: true });
  const run = async (call: QueueCall) => {
    try {
      const { route, path } = table.find(call.request, call.path);
      if (route.permission === 'change') call.mustBeAllowedToChange();
      else if (route.permission === 'publish') call.mustBeAllowedToPublish();
      await route.handle(call, { path, query: {}, body: {} });
    } catch (failure) {
      call.fail(failure);
    }
  };
  const calls = new WeakMap<object, QueueCall>();
  const app = new Koa();
  // `run` answers and logs errors; Koa would print them.
  app.silent = true;
  app.on('error', (error) => face.parts.log.error('queue.request.failed', { error: describeError(error) }));
  app.use(async (context) => {
    context.respond = false;
    await run(calls.get(context.req) as QueueCall);
  });
  const callback = app.callback();
  return (call) => {
    if (call.request instanceof PlainRequest) {
      void run(call);
      return;
    }
    calls.set(call.request, call);
    void callback(call.request, call.response);
  };
}
