/** Every bound of the management face, with its reason. What an account may have is the control actor's to judge. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface ManagementFaceLimits extends HttpLimits {
  /** Calls a second of one API key, as far as this process sees them; 0: no limit. */
  readonly maxCallsPerSecond: number;
}

export const DEFAULT_MANAGEMENT_FACE_LIMITS: ManagementFaceLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // Restoring a database may take minutes, in which nothing moves.
  stalledSocketTimeoutMs: 600_000,
  maxHeaderBytes: 16 * 1024,
  maxHeadersCount: 100,
  listenBacklog: 1_024,
  maxConnections: 8_192,
  maxConnectionsPerAddress: 2_048,
  // A thousand allowed addresses are some 20 KiB.
  maxBodyBytes: 64 * 1024,
  // Each call costs the one control actor a turn; tools that walk a hundred databases stay below.
  maxCallsPerSecond: 100,
};

/** What an index is shown with is waited for no longer: it is of no interest to most who look. */
export const THROUGHPUT_WAIT_MS = 500;
