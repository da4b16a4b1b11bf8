/** An installation that is connected, with its layout verified. */
import type { ClusterLayout } from '../cluster-layout.js';
import type { NatsConnections, NatsOptions } from '../connection.js';
import type { Names } from '../subjects.js';

export interface OpenedNats {
  readonly options: NatsOptions;
  readonly connections: NatsConnections;
  readonly names: Names;
  readonly layout: ClusterLayout;
  readonly serverVersion: string;
  /** True when the operating system's lock makes this the only process that can own anything. */
  readonly isExclusive: boolean;
  close(): Promise<void>;
}
