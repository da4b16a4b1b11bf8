/** Settings in the form that endpoints expect. */
import type { Config } from './schema.js';
import type { Secret } from './secret.js';

/**
 * Limits of the key-value endpoint; the queue has limits in the account's plan, management has fixed ones.
 * @param maxTenantBytes the budget for all requests of one database
 */
export function kvBoundsOf({ http, bounds, ownership }: Config, maxTenantBytes: number) {
  return {
    // A body that can never fit is refused as too large, not as a temporary overload.
    maxBodyBytes: Math.min(http.httpMaxBodyBytes, maxTenantBytes),
    maxAnswerBytes: bounds.maxAnswerBytes,
    maxRoomWaitMs: ownership.requestHoldMs,
  };
}

/** Limits of the RESP endpoint. */
export function nativeBoundsOf(config: Config) {
  const { maxConnections, maxConnectionsPerAddress } = httpEndpointOptionsOf(config).limits;
  const { requestHoldMs } = config.ownership;
  return { maxConnections, maxConnectionsPerAddress, maxDoubtMs: requestHoldMs, maxRoomWaitMs: requestHoldMs };
}

/** Options of every HTTP endpoint. */
export function httpEndpointOptionsOf({ http, endpoints, sharedBy }: Config) {
  return {
    limits: {
      headersTimeoutMs: http.httpHeadersTimeoutMs,
      requestTimeoutMs: http.httpRequestTimeoutMs,
      connectionsCheckingIntervalMs: http.httpConnectionsCheckMs,
      keepAliveTimeoutMs: http.httpKeepAliveMs,
      // The supervisor gives connections to the workers in turn.
      maxConnections: Math.ceil(http.httpMaxConnections / sharedBy),
      maxConnectionsPerAddress: Math.ceil(http.httpMaxConnectionsPerAddress / sharedBy),
    },
    aliases: endpoints.wireAlias === undefined ? [] : [endpoints.wireAlias],
  };
}

/** Parses a setting of headers, which may be credentials and are never shown. */
export function headersOfSetting(setting: Secret | undefined): Record<string, string> {
  const pairs = setting?.reveal().split(',') ?? [];
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
