/**
 * The rarer calls as a Koa application: routing, and failures turned into answers. Routes write through their call,
 * as publishes do; Koa's own rendering is not used.
 */
import Router from '@koa/router';
import Koa from 'koa';
import { describeError } from '../../kernel/index.js';
import { QUEUE_REFUSALS } from '../error-map.js';
import { Refused } from '../http/refused.js';
import { refusedBy } from './failures.js';
import type { QueueCall } from './queue-call.js';
import type { QueueFace } from './queue-face.js';
import type { Application } from './queue-handler.js';
import { batchRoutes } from './routes/batch.js';
import { dlqRoutes } from './routes/dlq.js';
import { eventRoutes } from './routes/events.js';
import { flowControlRoutes } from './routes/flow-control.js';
import { keyRoutes } from './routes/keys.js';
import { messageRoutes } from './routes/messages.js';
import { queueRoutes } from './routes/queues.js';
import type { Routes } from './routes/routes.js';
import { scheduleRoutes } from './routes/schedules.js';
import { topicRoutes } from './routes/topics.js';
import { triggerRoutes } from './routes/trigger.js';
import { workflowDlqRoutes } from './routes/workflow-dlq.js';
import { workflowEventRoutes } from './routes/workflow-events.js';
import { workflowLogRoutes } from './routes/workflow-logs.js';
import { workflowRunRoutes } from './routes/workflow-runs.js';

const RESOURCES: readonly Routes[] = [
  batchRoutes,
  messageRoutes,
  queueRoutes,
  topicRoutes,
  scheduleRoutes,
  dlqRoutes,
  eventRoutes,
  flowControlRoutes,
  keyRoutes,
  triggerRoutes,
  workflowRunRoutes,
  workflowEventRoutes,
  workflowLogRoutes,
  workflowDlqRoutes,
];

export function createQueueApp(face: QueueFace): Application {
  const router = new Router();
  for (const addTo of RESOURCES) {
    addTo((method, path, handle) => {
      router[method](path, async (context) => handle(context.state.call, context.params));
    });
  }
  const calls = new WeakMap<object, QueueCall>();
  const app = new Koa();
  // Errors are answered and logged below; Koa would print them.
  app.silent = true;
  app.on('error', (error) => face.parts.log.error('queue.request.failed', { error: describeError(error) }));
  app.use(async (context, next) => {
    const call = calls.get(context.req) as QueueCall;
    context.state.call = call;
    // Answers are written by the call.
    context.respond = false;
    try {
      await next();
      if (!call.response.headersSent) throw unrouted(context);
    } catch (failure) {
      call.refuse(refusedBy(face, failure));
    }
  });
  app.use(router.routes());
  app.use(router.allowedMethods());
  const callback = app.callback();
  return (call) => {
    calls.set(call.request, call);
    void callback(call.request, call.response);
  };
}

/** The router has found out which methods the path would take, and left it at that. */
function unrouted({ response }: Koa.Context): Refused {
  const allow = response.headers.allow as string | undefined;
  response.remove('Allow');
  return allow === undefined
    ? new Refused(QUEUE_REFUSALS.routeNotFound)
    : new Refused(QUEUE_REFUSALS.methodNotAllowed, { Allow: allow });
}
