/** The limits of the management endpoint, with their reasons. The control actor checks the limits of accounts. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface ManagementEndpointLimits extends HttpLimits {
  /** Calls per second of one API key at this process; 0: no limit. */
  readonly maxCallsPerSecond: number;
}

export const DEFAULT_MANAGEMENT_ENDPOINT_LIMITS: ManagementEndpointLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // Restoring a database may take minutes without traffic on the connection.
  stalledSocketTimeoutMs: 600_000,
  maxHeaderBytes: 16 * 1024,
  maxHeadersCount: 100,
  listenBacklog: 1_024,
  maxConnections: 8_192,
  maxConnectionsPerAddress: 2_048,
  // A thousand allowed addresses are about 20 KiB.
  maxBodyBytes: 64 * 1024,
  // Each call costs the only control actor a turn; tools that list a hundred databases stay below.
  maxCallsPerSecond: 100,
};

/** The longest wait for an index's throughput, which most callers do not need. */
export const THROUGHPUT_WAIT_MS = 500;
