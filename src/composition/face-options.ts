/** Settings in the shape that faces take them. */
import type { Config } from '../config/index.js';
import type { createKvServer, createQueueServer, createRespServer } from '../edge/index.js';

type KvFaceOptions = Pick<Parameters<typeof createKvServer>[0], 'limits' | 'aliases'>;

/** @param maxBodyBytes what can never fit is said to be too large, not to come too early */
export function kvFaceOptionsOf({ http, faces, bounds, ownership }: Config, maxBodyBytes: number): KvFaceOptions {
  return {
    limits: {
      headersTimeoutMs: http.httpHeadersTimeoutMs,
      requestTimeoutMs: http.httpRequestTimeoutMs,
      connectionsCheckingIntervalMs: http.httpConnectionsCheckMs,
      keepAliveTimeoutMs: http.httpKeepAliveMs,
      maxConnections: http.httpMaxConnections,
      maxConnectionsPerAddress: http.httpMaxConnectionsPerAddress,
      maxBodyBytes: Math.min(http.httpMaxBodyBytes, maxBodyBytes),
      maxAnswerBytes: bounds.maxAnswerBytes,
      maxRoomWaitMs: ownership.requestHoldMs,
    },
    aliases: faces.wireAlias === undefined ? [] : [faces.wireAlias],
  };
}

/** A message is bounded by its account's plan, and the management API by its own defaults. */
export function withoutBodyLimit({
  limits = {},
  aliases = [],
}: KvFaceOptions): Pick<Parameters<typeof createQueueServer>[0], 'limits' | 'aliases'> {
  const { maxBodyBytes: _, maxAnswerBytes: __, maxRoomWaitMs: ___, ...shared } = limits;
  return { limits: shared, aliases };
}

export function respFaceOptionsOf({ http, ownership }: Config): Pick<Parameters<typeof createRespServer>[0], 'limits'> {
  const { httpMaxConnections: maxConnections, httpMaxConnectionsPerAddress: maxConnectionsPerAddress } = http;
  const { requestHoldMs: holdMs } = ownership;
  return { limits: { maxConnections, maxConnectionsPerAddress, maxDoubtMs: holdMs, maxRoomWaitMs: holdMs } };
}
