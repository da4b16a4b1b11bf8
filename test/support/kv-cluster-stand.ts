/** Several processes with the whole runtime on in-memory adapters and manual time, for specs of ownership. */
import {
  type GaugedOwner,
  KvFold,
  KvPlane,
  KvShardGateway,
  type KvWork,
  serveKvShard,
} from '../../src/actors/kv-shard/index.js';
import {
  type Activation,
  ClockWatch,
  GuardedClock,
  Membership,
  Session,
  ShardActor,
  ShardCaller,
  ShardHost,
} from '../../src/actors/runtime/index.js';
import type { PlacementName } from '../../src/codec/leases/index.js';
import { KvEngine, type Reply } from '../../src/domain/kv/index.js';
import { type DatabaseId, MillraceError, type Random, type ShardName } from '../../src/kernel/index.js';
import { type BootTime, type Clock, type KvGateway, type LeaseStore, ROOMY } from '../../src/ports/index.js';
import { kvPartition, type Plane } from '../../src/protocol/index.js';
import { actorPorts } from './actor-ports.js';
import { LIMITS } from './kv-shard-stand.js';
import { ManualTime, MemoryJournal, MemoryLeaseStore, MemoryNetwork, MemoryObjectStore } from './memory/index.js';
import { NO_LISTENERS } from './no-listeners.js';
import { NO_METRICS } from './no-metrics.js';
import { RecordingLog } from './recording-log.js';
import { silentLog } from './silent-log.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
export const SHARD = 'KV_0' as ShardName;
export const TIMES = { heartbeatMs: 500, renewMs: 1000, readLeaseMs: 2000, takeoverMs: 3000, marginMs: 250 };
export const MAX_SKEW_MS = 2000;
const NO_BOOT_TIME: BootTime = { bootId: undefined, sinceBootMs: () => undefined };

export class KvClusterStand {
  readonly time = new ManualTime();
  readonly journal = new MemoryJournal({ clock: this.time, timers: this.time });
  readonly leases = new MemoryLeaseStore();
  readonly objects = new MemoryObjectStore();
  readonly network = new MemoryNetwork(this.time);
  readonly processes: KvProcess[] = [];

  constructor() {
    this.journal.createStream(SHARD);
  }

  /** @param aheadMs the difference of the machine's clock to the right time */
  async start(aheadMs = 0, planes: readonly Plane[] = ['kv'], place?: PlacementName): Promise<KvProcess> {
    const process = new KvProcess(this, this.processes.length + 1, aheadMs, planes, place);
    this.processes.push(process);
    void process.start();
    await this.time.advance(100);
    return process;
  }

  /** The processes that currently serve the shard. */
  owners(): KvProcess[] {
    return this.processes.filter(({ host }) => host.actorOf(SHARD)?.state === 'serving');
  }

  end(): void {
    for (const { host } of this.processes) {
      for (const actor of host.actors()) actor.end(new MillraceError('SHUTTING_DOWN', 'the test is over'));
    }
  }
}

export class KvProcess {
  /** The difference of the machine's wall clock to the right time; tests change it. */
  aheadMs: number;
  readonly clock: GuardedClock;
  readonly clocks: ClockWatch;
  readonly bus;
  readonly membership: Membership;
  readonly session: Session;
  readonly host: ShardHost<KvWork>;
  readonly gateway: KvGateway;
  /** The lines of its host of shards. */
  readonly log = new RecordingLog();
  readonly #planes = new WeakMap<ShardActor<KvWork>, KvPlane>();
  #isKilled = false;

  constructor(
    readonly stand: KvClusterStand,
    number: number,
    aheadMs: number,
    planes: readonly Plane[],
    place: PlacementName | undefined,
  ) {
    this.aheadMs = aheadMs;
    const { time, journal, network } = stand;
    const leases = this.#leases();
    let drawn = number * 1000;
    const draw = (): number => {
      drawn += 7;
      return drawn & 255;
    };
    const random: Random = { bytes: (count) => Uint8Array.from({ length: count }, draw), float: () => 0.5 };
    const machine: Clock = { nowMs: () => time.nowMs() + this.aheadMs, monotonicMs: () => time.monotonicMs() };
    this.bus = network.connect();
    this.membership = new Membership(this.bus, time);
    this.clock = new GuardedClock(machine, NO_BOOT_TIME, { jumpMs: 500, maxSkewMs: MAX_SKEW_MS });
    const { clock } = this;
    this.clocks = new ClockWatch(
      { clock, boot: NO_BOOT_TIME, leases, log: silentLog },
      { maxSkewMs: MAX_SKEW_MS, takeoverMs: TIMES.takeoverMs, isAlone: false, trustsMachine: false },
      this.membership,
    );
    const { clocks } = this;
    this.session = new Session(
      { leases, clock, clocks, timers: time, random, log: silentLog },
      TIMES,
      this.membership,
      planes,
      place,
    );
    this.host = new ShardHost<KvWork>(
      { journal, leases, clock, timers: time, log: this.log, metrics: NO_METRICS },
      {
        ...TIMES,
        lookEveryMs: 250,
        highWaterEveryMs: 1000,
        settleMs: 2000,
        restartBackoffMs: 250,
        followedWithinMs: 6000,
      },
      {
        shards: [SHARD],
        clusterId: 'cluster',
        isExclusive: false,
        readsNeedBarrier: false,
        createActor: (activation) => this.#createActor(activation, random),
        serve: (actor) => serveKvShard(this.bus, actor, { maxAnswers: 100, maxBytes: 1_000_000 }),
      },
      this.session,
      this.membership,
    );
    const caller = new ShardCaller(this.bus, time, time, random, {
      deadlineMs: 5000,
      tryMs: 1000,
      pauseMs: 50,
      settleMs: 1000,
      storingMs: 10_000,
    });
    const ports = { clock: time, timers: time, caller, host: this.host };
    this.gateway = new KvShardGateway(ports, { holdMs: 5000, retryEveryMs: 50 }, 1);
  }

  async start(): Promise<void> {
    this.membership.start();
    await this.session.start();
    this.host.start();
  }

  /** The owned shards, in any state. */
  owned(): GaugedOwner[] {
    return this.host.actors().flatMap((actor) => {
      const plane = this.#planes.get(actor);
      return plane === undefined ? [] : [{ actor, plane }];
    });
  }

  /** Disconnects the process from the others; its NATS connection still works. */
  disconnect(): void {
    this.bus.setConnected(false);
  }

  /** Kills the process: it sends and stores no more data. */
  kill(): void {
    this.#isKilled = true;
    this.disconnect();
  }

  #leases(): LeaseStore {
    const { leases } = this.stand;
    return {
      get: (key) => leases.get(key),
      keys: (prefix) => leases.keys(prefix),
      create: (key, value) => leases.create(key, value),
      update: (key, value, revision) => (this.#isKilled ? new Promise(() => {}) : leases.update(key, value, revision)),
      delete: (key) => leases.delete(key),
    };
  }

  async run(line: string): Promise<Reply | string> {
    const request = {
      database: DATABASE,
      partition: kvPartition(DATABASE, 0),
      mode: 'single' as const,
      commands: [line.split(' ')],
      bytes: line.length,
    };
    const answer = this.gateway.execute(request).then(
      ({ replies }) => replies[0] as Reply,
      (error: MillraceError) => error.code,
    );
    let isDone = false;
    void answer.then(() => {
      isDone = true;
    });
    while (!isDone) await this.stand.time.advance(10);
    return answer;
  }

  #createActor(activation: Activation, random: Random): ShardActor<KvWork> {
    const { time, journal, objects } = this.stand;
    const { clock } = this;
    const facts = { nowMicros: () => 0, info: () => new Map() };
    const plane = new KvPlane(
      {
        clock,
        timers: time,
        log: silentLog,
        storage: ROOMY,
        ...NO_LISTENERS,
        createFold: () => new KvFold(new KvEngine(random, facts)),
        loadPartition: async () => {},
      },
      { expiryKeysPerTick: 100, expiryEveryMs: 100, passivateAfterMs: 600_000 },
    );
    const actor = new ShardActor<KvWork>(
      actorPorts(journal, objects, time, { clock, random }),
      LIMITS,
      activation,
      plane,
    );
    this.#planes.set(actor, plane);
    return actor;
  }
}
