/** The queue's face as a server: what it is made of, put together. */
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import type { SocketParts } from '../http/face.js';
import type { FaceServer } from '../http/index.js';
import { createQueueApp } from './queue-app.js';
import { QueueFace, type QueueFaceParts } from './queue-face.js';
import { QueueHandler } from './queue-handler.js';
import { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';

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
  });
}
