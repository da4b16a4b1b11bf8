/** Settings in the shape that faces take them. */
import type { Config } from '../config/index.js';

/** They hold for every face over HTTP. */
export function httpFaceOptionsOf({ http, faces }: Config) {
  return {
    limits: {
      headersTimeoutMs: http.httpHeadersTimeoutMs,
      requestTimeoutMs: http.httpRequestTimeoutMs,
      connectionsCheckingIntervalMs: http.httpConnectionsCheckMs,
      keepAliveTimeoutMs: http.httpKeepAliveMs,
      maxConnections: http.httpMaxConnections,
      maxConnectionsPerAddress: http.httpMaxConnectionsPerAddress,
    },
    aliases: faces.wireAlias === undefined ? [] : [faces.wireAlias],
  };
}
