/** An installation that is connected, with its layout verified. */
import type { Check } from '../../../ports/index.js';
import type { NatsConnections, NatsOptions } from '../connection.js';
import type { ClusterLayout } from '../layout-record.js';
import type { Names } from '../subjects.js';

export const NOT_CONNECTED: Check = { ok: false, detail: 'not connected' };

export interface OpenedNats {
  readonly options: NatsOptions;
  readonly connections: NatsConnections;
  readonly names: Names;
  readonly layout: ClusterLayout;
  readonly serverVersion: string;
  /** True when the operating system's lock makes this the only process that can own anything. */
  readonly isExclusive: boolean;
  /** Whether it can be used, and if not, why. */
  check(): Check;
  close(): Promise<void>;
}
