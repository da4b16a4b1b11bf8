/** An installation that is connected, with its layout verified. */
import type { Check, Metrics } from '../../../ports/index.js';
import type { NatsConnections, NatsOptions } from '../connection.js';
import type { ClusterLayout } from '../layout-record.js';
import type { Names } from '../subjects.js';

/** Written after the first start has created all streams: a stream that is missing later was lost. */
export const LAYOUT_MARK = 'layout.json';

export const NOT_CONNECTED: Check = { ok: false, detail: 'not connected' };

export interface OpenedNats {
  readonly options: NatsOptions;
  readonly connections: NatsConnections;
  readonly names: Names;
  readonly layout: ClusterLayout;
  readonly serverVersion: string;
  /** True when the operating system's lock makes this the only process that can own anything. */
  readonly isExclusive: boolean;
  /** Whether it is usable, and the reason if not. */
  check(): Check;
  close(): Promise<void>;
}

/** Adds metrics about the connections, which alarms use. */
export function watchedNats(nats: OpenedNats, metrics: Metrics): OpenedNats {
  const { appends, reads, control } = nats.connections;
  for (const [role, link] of Object.entries({ appends, reads, control })) {
    const reconnects = metrics.counter('millrace_nats_reconnects_total', role);
    link.onReconnect(() => reconnects.add());
    metrics.gauge('millrace_nats_connected', () => Number(link.isConnected()), role);
  }
  return nats;
}
