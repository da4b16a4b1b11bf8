/** Runs the relays of triggers of databases in the shards of this process. Without triggers there is no relay. */
import type { Trigger } from '../../domain/control/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { Metrics, Timer } from '../../ports/index.js';
import type { ProcessControl } from '../control/index.js';
import { type RelayPlace, relayPlaces } from './layout-parts.js';
import { TriggerRelay, type TriggerRelayPorts } from './trigger-relay.js';

/** Relays follow a change of the triggers, or of the owned shards, after so long. */
const LOOK_EVERY_MS = 250;

export interface TriggerRelaysPorts extends Omit<TriggerRelayPorts, 'accounts'> {
  readonly metrics: Metrics;
  readonly control: Pick<ProcessControl, 'accounts' | 'view'>;
  /** Of the databases' shards in this process. */
  readonly host: { ownedShards(): readonly (readonly [ShardName, number])[] };
}

export class TriggerRelays {
  readonly #relays = new Map<string, TriggerRelay>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: TriggerRelaysPorts,
    private readonly kvShards: number,
  ) {
    const { metrics } = ports;
    metrics.gauge('millrace_triggers', () => this.#relays.size);
    metrics.gauge('millrace_trigger_lag_seconds', () => this.#lagMs / 1000);
  }

  start(): void {
    this.ports.control.view.whenAccessChanged(() => this.#look());
    this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const relay of this.#relays.values()) relay.stop();
    this.#relays.clear();
  }

  get #lagMs(): number {
    return Math.max(0, ...[...this.#relays.values()].map(({ lagMs }) => lagMs));
  }

  #look(): void {
    if (this.#isStopped) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    const wanted = new Map<string, { trigger: Trigger; place: RelayPlace }>();
    const triggers = this.ports.control.view.state.triggers.byId;
    if (triggers.size > 0) {
      this.#timer = this.ports.timers.after(LOOK_EVERY_MS, () => this.#look());
      const owned = new Set(this.ports.host.ownedShards().map(([shard]) => shard));
      for (const trigger of triggers.values()) {
        if (trigger.isPaused || this.#isHeld(trigger)) continue;
        for (const place of this.#placesOf(trigger)) {
          // The switch of the layouts gives a journal an end.
          if (owned.has(place.shard)) wanted.set(`${place.source} ${place.end ?? ''}`, { trigger, place });
        }
      }
    }
    for (const [name, relay] of this.#relays) {
      if (wanted.get(name)?.trigger === relay.trigger) continue;
      relay.stop();
      this.#relays.delete(name);
    }
    for (const [name, { trigger, place }] of wanted) if (!this.#relays.has(name)) this.#begin(name, trigger, place);
  }

  /** The triggers of a branch send no record, as its commands send no message, unless it was made live. */
  #isHeld({ database }: Trigger): boolean {
    return this.ports.control.view.state.live(database)?.branch?.isLive === false;
  }

  #placesOf(trigger: Trigger): readonly RelayPlace[] {
    const layout = this.ports.control.view.state.live(trigger.database);
    return layout === undefined ? [] : relayPlaces(trigger, layout, this.kvShards);
  }

  #begin(name: string, trigger: Trigger, place: RelayPlace): void {
    const { accounts } = this.ports.control;
    const relay = new TriggerRelay({ ...this.ports, accounts }, trigger, place);
    this.#relays.set(name, relay);
    relay.start();
  }
}
