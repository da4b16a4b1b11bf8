/**
 * The shards of databases in a process that may own them: what all of them share of its memory, what is done beside
 * answering, and what the metrics show of them.
 */
import { type Audience, KvEngine, permissionsOf } from '../../domain/kv/index.js';
import type { ShardName } from '../../kernel/index.js';
import type { DataLimits, Meter, ProcessPorts, StorageGauge } from '../../ports/index.js';
import {
  DEFAULT_ANSWER_MEMORY,
  type OwnedPlane,
  type OwnedShards,
  type PlaneParts,
  type ShardHost,
  watchShards,
} from '../runtime/index.js';
import { HeldData } from './held-data.js';
import { keptLoader } from './kept-loader.js';
import type { KvDeliveries } from './kv-deliveries.js';
import { KvFold } from './kv-fold.js';
import { serveKvShard } from './kv-gateway.js';
import { KvGauges } from './kv-gauges.js';
import { KvPlane } from './kv-plane.js';
import type { KvWork } from './kv-work.js';
import { Passivation } from './passivation.js';
import type { ProcessInfo } from './process-info.js';
import type { LoadKept } from './replacements.js';

export interface KvOwnerPorts extends ProcessPorts {
  readonly storage: StorageGauge;
  readonly meter: Meter;
  readonly dataLimits: DataLimits;
  readonly deliveries: KvDeliveries;
  readonly processInfo: ProcessInfo;
  own(plane: OwnedPlane<KvWork, KvPlane>): OwnedShards<KvWork, KvPlane>;
}

export interface KvOwnerOptions {
  readonly shards: readonly ShardName[];
  /** Keys and values of all databases may take so much. */
  readonly dataBytes: number;
  /** After which a caller in another process waits no more. */
  readonly silenceMs: number;
  readonly maxAnswerBytes: number;
  /** Expired keys removed in one share of a turn. */
  readonly expiryKeysPerTick: number;
}

const EXPIRY_EVERY_MS = 100;
const PASSIVATE_AFTER_MS = 600_000;

export class KvOwner {
  readonly #held: HeldData;
  readonly #owned: OwnedShards<KvWork, KvPlane>;
  readonly #gauges: KvGauges;
  readonly #passivation: Passivation;
  readonly #loadKept: LoadKept;

  constructor(
    private readonly ports: KvOwnerPorts,
    private readonly options: KvOwnerOptions,
  ) {
    const { clock, timers, log, metrics, bus, meter } = ports;
    const { shards, dataBytes, silenceMs } = options;
    this.#held = new HeldData(dataBytes, { timers, log, loaded: () => this.#loaded() });
    this.#loadKept = keptLoader(ports);
    this.#owned = ports.own({
      shards,
      createPlane: (activation) => this.#createPlane(activation),
      serve: (actor) => serveKvShard(bus, actor, DEFAULT_ANSWER_MEMORY, { clock, timers, silenceMs }),
      onSnapshot: (plane, { manifest }) => plane.adoptManifest(manifest),
    });
    this.#passivation = new Passivation({ clock, timers, planes: () => this.#owned.planes() });
    this.#gauges = new KvGauges({ clock, timers, meter, owners: () => this.#owned.planes() });
    metrics.gauge('millrace_data_bytes', () => this.#held.usedBytes);
    metrics.gauge('millrace_data_limit_bytes', () => this.#held.limitBytes);
    watchShards(metrics, this.host, shards);
  }

  get host(): ShardHost<KvWork> {
    return this.#owned.host;
  }

  start(): void {
    this.#owned.start();
    this.#gauges.start();
    this.#held.start();
    this.#passivation.start();
  }

  async stop(): Promise<void> {
    this.#passivation.stop();
    this.#gauges.stop();
    this.#held.stop();
    await this.#owned.stop();
  }

  *#loaded() {
    for (const { plane } of this.#owned.planes()) {
      for (const [name, { engine }] of plane.loaded()) yield [name, engine] as const;
    }
  }

  #createPlane({ activation: { epoch }, actor, history, loadPartition }: PlaneParts<KvWork>): KvPlane {
    const { random, deliveries } = this.ports;
    const activation = `${epoch}-${Buffer.from(random.bytes(6)).toString('hex')}`;
    return new KvPlane(
      {
        ...this.ports,
        activation,
        permissionsOf: (user, rules) => permissionsOf(rules, user),
        deliver: (edge, partition, events) => deliveries.deliver(edge, { partition, activation, events }),
        history,
        createFold: (audience) => this.#createFold(audience),
        loadPartition,
        loadKept: this.#loadKept,
        held: this.#held,
        onReady: () => actor().resume(),
        onFailure: (error) => actor().fail(error),
      },
      {
        expiryKeysPerTick: this.options.expiryKeysPerTick,
        expiryEveryMs: EXPIRY_EVERY_MS,
        passivateAfterMs: PASSIVATE_AFTER_MS,
      },
    );
  }

  #createFold(audience: Audience): KvFold {
    const engine = new KvEngine(this.ports.random, this.ports.processInfo, audience);
    engine.maxAnswerBytes = this.options.maxAnswerBytes;
    return new KvFold(engine);
  }
}
