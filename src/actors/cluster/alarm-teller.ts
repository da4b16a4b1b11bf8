/**
 * Writes the alarms of the cluster's status to the log. Only the owner of the control shard does it, so each alarm is
 * logged by one process.
 *
 *  ALT1 an alarm is logged when two successive looks at the cluster show it; a state that passes is no alarm
 *  ALT2 each alarm is logged once, and once more when it is over
 */
import type { Bus, ClusterWatch, Log, Timer, Timers } from '../../ports/index.js';
import { ALARM_LOOK_MS } from './cluster-limits.js';

export interface AlarmTellerPorts {
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly cluster: ClusterWatch;
  readonly timers: Timers;
  readonly log: Log;
  isOwner(): boolean;
}

export class AlarmTeller {
  #seen: readonly string[] = [];
  readonly #told = new Set<string>();
  #timer: Timer | undefined;

  constructor(private readonly ports: AlarmTellerPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(ALARM_LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const { bus, cluster, log, isOwner } = this.ports;
    // Without a connection to NATS the status cannot be asked for; the alarms stay as they are until it can.
    if (!bus.isConnected()) return;
    const alarms = isOwner() ? (await cluster.look()).alarms : [];
    for (const alarm of alarms) {
      if (this.#told.has(alarm) || !this.#seen.includes(alarm)) continue;
      this.#told.add(alarm);
      log.error('cluster.alarm', { alarm });
    }
    for (const alarm of this.#told) {
      if (alarms.includes(alarm)) continue;
      this.#told.delete(alarm);
      if (isOwner()) log.info('cluster.alarm-over', { alarm });
    }
    this.#seen = alarms;
  }
}
