/** The queue's face as a server: what it is made of, put together. */
import { describeError } from '../../kernel/index.js';
import type { Freshness } from '../../ports/index.js';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import { createFaceServer, type FaceServer, type TlsTexts } from '../http/index.js';
import { createQueueApp } from './queue-app.js';
import { QueueFace, type QueueFaceParts } from './queue-face.js';
import { QueueHandler } from './queue-handler.js';
import { DEFAULT_QUEUE_FACE_LIMITS, type QueueFaceLimits } from './queue-limits.js';

export interface QueueServerParts extends Omit<QueueFaceParts, 'limits' | 'aliases' | 'trustedProxies'> {
  /** Those not given have their defaults. */
  readonly limits?: Partial<QueueFaceLimits>;
  readonly aliases?: QueueFaceParts['aliases'];
  /** Whose `X-Forwarded-For` counts; none when not given. */
  readonly trustedProxies?: QueueFaceParts['trustedProxies'];
  /** Without them the face speaks plain HTTP. */
  readonly tls?: TlsTexts;
  /** Left out: nobody waits for it. */
  readonly freshness?: Freshness;
}

export type QueueServer = FaceServer;

const METHODS = 'GET, POST, PUT, PATCH, DELETE';

export function createQueueServer(parts: QueueServerParts): QueueServer {
  const limits = { ...DEFAULT_QUEUE_FACE_LIMITS, ...parts.limits };
  const { aliases = [], trustedProxies = [] } = parts;
  const face = new QueueFace({ ...parts, limits, aliases, trustedProxies });
  const handler = new QueueHandler(face, createQueueApp(face));
  return createFaceServer(
    limits,
    parts.tls,
    {
      handle: (request, response) => handler.handle(request, response),
      connectRefusal: SHARED_REFUSALS.methodNotAllowed,
      allowedMethods: METHODS,
      protocolRefusal: queueProtocolRefusal,
      acceptFailed: (error) => parts.log.warn('queue.accept-failed', { error: describeError(error) }),
      drain: () => {
        face.isDraining = true;
      },
    },
    parts.freshness,
  );
}
