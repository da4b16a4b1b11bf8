/** Builds the server of the REST endpoint. */
import type { Middleware } from 'koa';
import { protocolRefusal, REFUSALS } from '../error-map.js';
import { passedTo } from '../http/application.js';
import type { SocketParts } from '../http/endpoint.js';
import type { EndpointServer } from '../http/index.js';
import { ALLOWED_METHODS } from './cors.js';
import { KvEndpoint, type KvEndpointParts } from './kv-endpoint.js';
import { KvHandler } from './kv-handler.js';
import { DEFAULT_KV_ENDPOINT_LIMITS, type KvEndpointLimits } from './kv-limits.js';

export interface KvServerParts extends Omit<KvEndpointParts, 'limits' | 'aliases'>, SocketParts {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<KvEndpointLimits>;
  readonly aliases?: KvEndpointParts['aliases'];
}

export interface KvServer extends EndpointServer {
  /** Answers the call in `state.passed` of another endpoint's context. */
  readonly passed: Middleware;
}

export function createKvServer(parts: KvServerParts): KvServer {
  const limits = { ...DEFAULT_KV_ENDPOINT_LIMITS, ...parts.limits };
  const endpoint = new KvEndpoint({ ...parts, limits, aliases: parts.aliases ?? [] });
  const handler = new KvHandler(endpoint);
  const behaviour = {
    handle: handler.handle.bind(handler),
    handlePlain: handler.handle.bind(handler),
    connectRefusal: REFUSALS.methodNotAllowed,
    allowedMethods: ALLOWED_METHODS,
    protocolRefusal,
  };
  const server = endpoint.serve(parts, behaviour, () => handler.close());
  return { ...server, passed: passedTo((exchange, call) => handler.answerPassed(exchange, call)) };
}
