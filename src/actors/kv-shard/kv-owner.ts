/**
 * The shards of databases in a process that may own them: their shared memory bound, their background work and their
 * metrics.
 */

import { decodeKvDelivery, encodeKvDelivery } from '../../codec/remote/index.js';
import { type Audience, KvEngine, permissionsOf } from '../../domain/kv/index.js';
import { type KeptObjects, loadKept } from '../../journal/backup/index.js';
import { loadBranch, readBranch } from '../../journal/index.js';
import { type DatabaseId, MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type {
  Bus,
  Clock,
  DataLimits,
  IndexFiles,
  KnownDatabase,
  Meter,
  OutboxAccounts,
  ProcessPorts,
  QueueGateway,
  StorageGauge,
  Subscription,
  Timer,
  Timers,
} from '../../ports/index.js';
import { type KvDelivery, parseKvPartition } from '../../protocol/index.js';
import {
  DEFAULT_ANSWER_MEMORY,
  type OwnedPlane,
  type OwnedShards,
  type PlaneParts,
  type ShardHost,
  watchShards,
  YieldBudget,
} from '../runtime/index.js';
import { HeldData } from './held-data.js';
import { KvFold } from './kv-fold.js';
import { serveKvShard } from './kv-gateway.js';
import { KvGauges } from './kv-gauges.js';
import { KvPlane } from './kv-plane.js';
import type { KvWork } from './kv-work.js';
import { LoadedTotals } from './loaded-totals.js';
import type { OutboxParts } from './outbox-relay.js';
import type { ProcessInfo } from './process-info.js';
import { AccountRefusals, QueueMessages, type QueueMessagesPorts } from './queue-messages.js';
import { type LoadKept, MAX_REPLACEMENT_BYTES } from './replacements.js';
import type { BranchStates } from './resident-partitions.js';

/** A tenth of the time after which a partition counts as idle. */
const EVERY_MS = 60_000;

interface PassivationParts {
  readonly clock: Clock;
  readonly timers: Timers;
  planes(): Iterable<{ readonly plane: Pick<KvPlane, 'passivateIdle'> }>;
}

/** Regularly tells each owner in this process to unload its idle partitions. */
class Passivation {
  #timer: Timer | undefined;

  constructor(private readonly parts: PassivationParts) {}

  start(): void {
    this.#timer = this.parts.timers.every(EVERY_MS, () => {
      for (const { plane } of this.parts.planes()) plane.passivateIdle(this.parts.clock.nowMs());
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

/** Receives events for the clients of one process. */
interface Hearer {
  readonly edge: SessionId;
  receive(delivery: KvDelivery): void;
}

/** Sends events to the processes with listening clients: directly within this process, over the bus to others. */
export class KvDeliveries {
  readonly #here = new Map<SessionId, Hearer>();

  constructor(private readonly bus: Bus) {}

  deliver(edge: SessionId, delivery: KvDelivery): void {
    const hearer = this.#here.get(edge);
    if (hearer !== undefined) hearer.receive(delivery);
    else this.bus.publish({ kind: 'edge', session: edge }, encodeKvDelivery(delivery));
  }

  /** Subscribes to the events of owners in this process and in others. */
  hear(hearer: Hearer): Subscription {
    const { edge } = hearer;
    this.#here.set(edge, hearer);
    const heard = this.bus.subscribe({ kind: 'edge', session: edge }, (payload) =>
      hearer.receive(decodeKvDelivery(payload)),
    );
    return {
      stop: () => {
        heard.stop();
        this.#here.delete(edge);
      },
    };
  }
}

export interface KvOwnerPorts extends ProcessPorts {
  readonly storage: StorageGauge;
  readonly meter: Meter;
  readonly dataLimits: DataLimits;
  readonly deliveries: KvDeliveries;
  readonly processInfo: ProcessInfo;
  readonly indexFiles: IndexFiles;
  /** The queue, for messages of commands. */
  readonly queue: Pick<QueueGateway, 'ask'>;
  readonly accounts: OutboxAccounts;
  readonly destinations: QueueMessagesPorts['destinations'];
  /** Undefined: this process does not know the database yet. */
  branchOf(database: DatabaseId): KnownDatabase | undefined;
  own(plane: OwnedPlane<KvWork, KvPlane>): OwnedShards<KvWork, KvPlane>;
}

export interface KvOwnerOptions {
  readonly shards: readonly ShardName[];
  /** The bound of keys and values of all databases. */
  readonly dataBytes: number;
  /** A caller in another process stops waiting after this silence of the owner. */
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
  readonly #totals: LoadedTotals;
  readonly #passivation: Passivation;
  readonly #loadKept: LoadKept;
  readonly #outbox: OutboxParts;
  readonly #branches: BranchStates;

  constructor(
    private readonly ports: KvOwnerPorts,
    private readonly options: KvOwnerOptions,
  ) {
    const { clock, timers, log, metrics, bus, meter } = ports;
    const { shards, dataBytes, silenceMs } = options;
    this.#held = new HeldData(dataBytes, { timers, log, loaded: () => this.#loaded() });
    this.#totals = new LoadedTotals(clock, () => this.#engines());
    this.#loadKept = keptLoader(ports);
    this.#outbox = outboxParts(ports);
    this.#branches = branchStates(ports);
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
    metrics.gauge('millrace_outbox_messages', () => this.#totals.now.outbox.messages);
    metrics.gauge('millrace_outbox_lag_seconds', () => this.#outboxLag());
    metrics.gauge('millrace_index_documents', () => this.#totals.now.indexes.documents);
    metrics.gauge('millrace_index_pending_changes', () => this.#totals.now.indexes.pending);
    metrics.gauge('millrace_index_bytes', () => this.#totals.now.indexes.bytes);
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

  /** Seconds for which the oldest message has waited. */
  #outboxLag(): number {
    const { oldestAtMs } = this.#totals.now.outbox;
    return oldestAtMs === undefined ? 0 : Math.max(0, this.ports.clock.nowMs() - oldestAtMs) / 1000;
  }

  *#engines() {
    for (const [, engine] of this.#loaded()) yield engine;
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
        branches: this.#branches,
        outbox: this.#outbox,
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
    engine.searches.hasFiles = true;
    engine.graphs.hasFiles = true;
    return new KvFold(engine);
  }
}

function outboxParts({ accounts, destinations, random, queue, branchOf }: KvOwnerPorts): OutboxParts {
  const refusals = new AccountRefusals();
  return {
    queue,
    refusals,
    holds: (database) => {
      const known = branchOf(database);
      if (known === undefined) return 'unknown';
      return known.holdsMessages ? 'held' : 'sent';
    },
    composerFor: (partition) =>
      new QueueMessages({ accounts, destinations, random, refusals }, parseKvPartition(partition).database),
  };
}

/** The objects of a branch are stored before its record, so a process without the record looks for them. */
function branchStates({ branchOf, journal, objects, log, clock, timers }: KvOwnerPorts): BranchStates {
  return {
    mayBe: (database) => branchOf(database)?.isBranch !== false,
    load: async (partition, fold) => {
      const { database, index } = parseKvPartition(partition);
      const [state] = (await readBranch(objects, database, index))?.partitions ?? [];
      if (state === undefined) {
        if (branchOf(database)?.isBranch !== true) return undefined;
        throw new MillraceError('NOT_FOUND', 'the first data of this branch is gone: discard the branch', { database });
      }
      return loadBranch({ journal, objects, log }, state, fold, MAX_REPLACEMENT_BYTES, pauses(clock, timers));
    },
  };
}

function pauses(clock: Clock, timers: Timers): () => Promise<void> {
  const budget = new YieldBudget(clock, timers);
  return async () => {
    if (budget.isSpent) await budget.yield();
  };
}

/** Loads a kept moment of a partition in small steps, so that the process continues to serve requests. */
function keptLoader({ clock, timers, ...kept }: KeptObjects & { clock: Clock; timers: Timers }): LoadKept {
  return async (manifest, fold, maxBytes) => loadKept(kept, manifest, fold, maxBytes, pauses(clock, timers));
}
