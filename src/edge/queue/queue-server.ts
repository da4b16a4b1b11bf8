/** The queue's face as a server: what it is made of, put together. */
import { queueProtocolRefusal, queueRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import { type Application, createApplication } from '../http/application.js';
import type { SocketParts } from '../http/face.js';
import { type FaceServer, PlainRequest } from '../http/index.js';
import { RouteTable } from '../http/route-table.js';
import type { QueueCall } from './queue-call.js';
import { QueueFace, type QueueFaceParts } from './queue-face.js';
import { QueueHandler } from './queue-handler.js';
import { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';

export interface QueueServerParts extends Omit<QueueFaceParts, 'limits' | 'aliases'>, SocketParts {
  /** Those not given have their defaults. */
  readonly limits?: Partial<QueueFaceLimits>;
  readonly aliases?: QueueFaceParts['aliases'];
}

export type QueueServer = FaceServer;

export function createQueueServer(parts: QueueServerParts): QueueServer {
  const limits = { ...DEFAULT_QUEUE_FACE_LIMITS, ...parts.limits };
  const face = new QueueFace({ ...parts, limits, aliases: parts.aliases ?? [] });
  const handler = new QueueHandler(face, createQueueApp(face));
  return face.serve(parts, {
    handle: handler.handle.bind(handler),
    connectRefusal: SHARED_REFUSALS.methodNotAllowed,
    allowedMethods: 'GET, POST, PUT, PATCH, DELETE',
    protocolRefusal: queueProtocolRefusal,
    takesPlain: true,
  });
}

/**
 * The rarer calls as an application: their routes, and who may use them. Routes write through their call, so that a plain
 * one does without Koa, which stands on Node's objects.
 */
function createQueueApp(face: QueueFace): Application<QueueCall> {
  const table = new RouteTable(QUEUE_FACE_ROUTES, { allowsLastSlash: true, ignoresCase: true, answersHead: true });
  const run = async (call: QueueCall) => {
    const { route, path } = table.find(call.request, call.path);
    if (route.permission === 'change') call.mustBeAllowedToChange();
    else if (route.permission === 'publish') call.mustBeAllowedToPublish();
    await route.handle(call, { path, query: {}, body: {} });
  };
  const refuse = (call: QueueCall, failure: unknown) => call.refuse(face.incidents.refused(failure, queueRefusalOf));
  const application = createApplication({ name: 'queue', log: face.parts.log, run, refuse });
  return (call) => {
    if (call.request instanceof PlainRequest) run(call).catch((failure) => refuse(call, failure));
    else application(call);
  };
}
