/** Settings in the shape that faces take them. */
import type { Config } from './schema.js';
import type { Secret } from './secret.js';

/**
 * Bounds of the key-value face; those of other faces are behind them: a message's account has its plan, management itself.
 * @param maxTenantBytes what all requests of one database may hold
 */
export function kvBoundsOf({ http, bounds, ownership }: Config, maxTenantBytes: number) {
  return {
    // What can never fit is said to be too large, not to come too early.
    maxBodyBytes: Math.min(http.httpMaxBodyBytes, maxTenantBytes),
    maxAnswerBytes: bounds.maxAnswerBytes,
    maxRoomWaitMs: ownership.requestHoldMs,
  };
}

/** Bounds of the native protocol. */
export function nativeBoundsOf(config: Config) {
  const { maxConnections, maxConnectionsPerAddress } = httpFaceOptionsOf(config).limits;
  const { requestHoldMs } = config.ownership;
  return { maxConnections, maxConnectionsPerAddress, maxDoubtMs: requestHoldMs, maxRoomWaitMs: requestHoldMs };
}

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

/** A setting of headers as headers. They may be credentials: nobody shows them. */
export function headersOfSetting(setting: Secret | undefined): Record<string, string> {
  const pairs = setting?.reveal().split(',') ?? [];
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
