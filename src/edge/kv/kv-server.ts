/** Builds the server of the REST endpoint. */
import type { Middleware } from 'koa';
import { protocolRefusal, REFUSALS } from '../error-map.js';
import { passedTo } from '../http/application.js';
import type { SocketParts } from '../http/face.js';
import type { FaceServer } from '../http/index.js';
import { ALLOWED_METHODS } from './cors.js';
import { KvFace, type KvFaceParts } from './kv-face.js';
import { KvHandler } from './kv-handler.js';
import { DEFAULT_KV_FACE_LIMITS, type KvFaceLimits } from './kv-limits.js';

export interface KvServerParts extends Omit<KvFaceParts, 'limits' | 'aliases'>, SocketParts {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<KvFaceLimits>;
  readonly aliases?: KvFaceParts['aliases'];
}

export interface KvServer extends FaceServer {
  /** Answers the call in `state.passed` of another endpoint's context. */
  readonly passed: Middleware;
}

export function createKvServer(parts: KvServerParts): KvServer {
  const limits = { ...DEFAULT_KV_FACE_LIMITS, ...parts.limits };
  const face = new KvFace({ ...parts, limits, aliases: parts.aliases ?? [] });
  const handler = new KvHandler(face);
  const behaviour = {
    handle: handler.handle.bind(handler),
    handlePlain: handler.handle.bind(handler),
    connectRefusal: REFUSALS.methodNotAllowed,
    allowedMethods: ALLOWED_METHODS,
    protocolRefusal,
  };
  const server = face.serve(parts, behaviour, () => handler.close());
  return { ...server, passed: passedTo((exchange, call) => handler.answerPassed(exchange, call)) };
}
