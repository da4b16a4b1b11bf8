/** The key-value face as a server: what it is made of, put together. */
import { describeError } from '../../kernel/index.js';
import type { Freshness } from '../../ports/index.js';
import { protocolRefusal, REFUSALS } from '../error-map.js';
import { createFaceServer, type FaceServer, type TlsTexts } from '../http/index.js';
import { ALLOWED_METHODS } from './cors.js';
import { KvFace, type KvFaceParts } from './kv-face.js';
import { KvHandler } from './kv-handler.js';
import { DEFAULT_KV_FACE_LIMITS, type KvFaceLimits } from './kv-limits.js';

export interface KvServerParts extends Omit<KvFaceParts, 'limits' | 'aliases'> {
  /** Those not given have their defaults. */
  readonly limits?: Partial<KvFaceLimits>;
  readonly aliases?: KvFaceParts['aliases'];
  /** Without them the face speaks plain HTTP. */
  readonly tls?: TlsTexts;
  /** Left out: nobody waits for it. */
  readonly freshness?: Freshness;
}

export type KvServer = FaceServer;

export function createKvServer(parts: KvServerParts): KvServer {
  const limits = { ...DEFAULT_KV_FACE_LIMITS, ...parts.limits };
  const face = new KvFace({ ...parts, limits, aliases: parts.aliases ?? [] });
  const handler = new KvHandler(face);
  return createFaceServer(
    limits,
    parts.tls,
    {
      handle: (request, response) => handler.handle(request, response),
      connectRefusal: REFUSALS.methodNotAllowed,
      allowedMethods: ALLOWED_METHODS,
      protocolRefusal,
      acceptFailed: (error) => parts.log.warn('kv.accept-failed', { error: describeError(error) }),
      drain: () => {
        face.answers.isDraining = true;
        handler.close();
      },
    },
    parts.freshness,
  );
}
