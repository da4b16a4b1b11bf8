/**
 * What the cluster's status has to alarm about, in the log: told by whoever owns the control shard, since one is enough.
 *
 *  ALT1 an alarm is told when it was there at two looks, one after the other: what moves is on its way and no alarm
 *  ALT2 each is told once, and once when it is over
 */
import type { Bus, ClusterWatch, Log, Timer, Timers } from '../../ports/index.js';
import { ALARM_LOOK_MS } from './cluster-limits.js';

export interface AlarmTellerPorts {
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly cluster: ClusterWatch;
  readonly timers: Timers;
  readonly log: Log;
  /** Does this process own the control shard? */
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
    // Whoever hears nobody cannot say who is away: what was so is so until it is asked again.
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
