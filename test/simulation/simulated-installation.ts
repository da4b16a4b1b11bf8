/**
 * A cluster with a course that follows from one seed: processes with the real runtime on simulated ports, clients and
 * faults. A calm period follows, in which every operation must succeed, and then all promises are checked.
 */
import type { ShardName } from '../../src/kernel/index.js';
import { kvPartition, newDatabaseId, shardOf } from '../../src/protocol/index.js';
import { type Faults, randomFaults } from './faults.js';
import { replayedDigests } from './folds.js';
import { History } from './history.js';
import { checkGateways, checkHistories } from './history-checks.js';
import { checkChain, checkLedger, entriesOf } from './journal-checks.js';
import { Nemesis } from './nemesis.js';
import { SeededRandom } from './seeded-random.js';
import { SimKit } from './sim-kit.js';
import { type NodeOptions, type SimNode, startNode } from './sim-node.js';
import { Violation } from './violation.js';
import { Client, type Place } from './workload.js';

export interface SimulatedInstallationOptions {
  /** The faults; by default chosen by the seed. */
  readonly faults?: Faults;
  /** The virtual time with faults. */
  readonly stormMs?: number;
  /** Called with every line of the trace. */
  readonly onLine?: (line: string) => void;
}

const STORM_MS = 25_000;
/**
 * The limit of the calm period after the last fault: elections end, cuts are repaired, sessions expire, and a shard
 * may be taken over twice.
 */
const CALM_LIMIT_MS = 120_000;
const READ_AGAIN_MS = 300;
/**
 * The time after which no operation is in flight: work that a paused process held back has been executed and stored.
 */
const REST_MS = 15_000;
const SHARD_COUNT = 2;
const PLACE_COUNT = 6;
const RESTART_AFTER_MS = { low: 200, high: 6000 };

export class SimulatedInstallation {
  readonly kit: SimKit;
  readonly history = new History();
  readonly shards: readonly ShardName[];
  nodes: SimNode[] = [];
  takeovers = 0;
  snapshots = 0;
  private readonly faults: Faults;
  readonly places: readonly Place[];
  private readonly random: SeededRandom;
  private readonly nodeOptions: NodeOptions;
  private clients: Client[] = [];
  private named = 0;

  constructor(
    readonly seed: number,
    private readonly options: SimulatedInstallationOptions = {},
  ) {
    this.faults = options.faults ?? randomFaults(new SeededRandom(seed ^ 0x5eed));
    this.kit = new SimKit(seed, this.faults);
    if (options.onLine !== undefined) this.kit.scheduler.trace.onLine = options.onLine;
    this.random = this.kit.random.fork();
    this.shards = Array.from({ length: SHARD_COUNT }, (_, index) => `KV_${index}` as ShardName);
    for (const shard of this.shards) this.kit.server.createStream(shard);
    const [readsNeedBarrier, hasSnapshots] = [this.random.chance(0.15), this.random.chance(0.6)];
    this.nodeOptions = { shards: this.shards, readsNeedBarrier, hasSnapshots };
    this.places = this.choosePlaces();
  }

  /** @throws Violation */
  async run(): Promise<void> {
    this.startNodes();
    this.startClients();
    await this.runFaults();
    this.stopClients();
    const silent = await this.readAll();
    await this.pass(REST_MS);
    // The checks of journal and clients come first, because they say more than a missing answer.
    this.check();
    if (silent !== undefined) throw silent;
    this.checkDigests();
  }

  startNodes(): void {
    const count = 2 + this.random.below(2);
    for (let index = 0; index < count; index += 1) this.startNode();
  }

  startClients(): void {
    const count = 3 + this.random.below(3);
    this.clients = Array.from({ length: count }, () => this.newClient(`c${this.named++}`));
    for (const client of this.clients) client.start();
  }

  stopClients(): void {
    for (const client of this.clients) client.stop();
  }

  async runFaults(): Promise<void> {
    const nemesis = new Nemesis(this.kit, this.faults, this.shards, {
      members: () => this.nodes.map((node) => node.member),
      crash: (member) => this.crash(this.nodes.find((node) => node.member === member)),
      leave: (member) => this.leave(this.nodes.find((node) => node.member === member)),
    });
    nemesis.start();
    await this.kit.scheduler.run(this.options.stormMs ?? STORM_MS);
    nemesis.stop();
    this.kit.endFaults();
    await this.pass(RESTART_AFTER_MS.high);
  }

  /** Advances virtual time. */
  async pass(durationMs: number): Promise<void> {
    await this.kit.scheduler.run(this.kit.scheduler.nowMs + durationMs);
  }

  crash(node: SimNode | undefined): void {
    if (node === undefined) return;
    node.member.process.crash();
    this.replace(node);
  }

  /** Reads every key through every process until all have answered or the time is over. */
  async readAll(): Promise<Violation | undefined> {
    const { scheduler } = this.kit;
    const reader = this.newClient('reader');
    const unread = new Set<string>();
    const read = (place: Place, node: SimNode): void => {
      const server = { process: node.member.process, gateway: node.gateway };
      reader.ask(place, { type: 'get' }, server, (ending) => {
        if (ending.kind === 'answered') unread.delete(`${place.key} at ${node.name}`);
        else scheduler.at(scheduler.nowMs + READ_AGAIN_MS, undefined, 'timer', 'reader', () => read(place, node));
      });
    };
    for (const node of this.nodes) {
      for (const place of this.places) {
        unread.add(`${place.key} at ${node.name}`);
        read(place, node);
      }
    }
    await scheduler.run(scheduler.nowMs + CALM_LIMIT_MS, () => unread.size === 0);
    if (unread.size === 0) return undefined;
    return new Violation('it comes back when the faults end', `unread: ${[...unread].join(', ')}`);
  }

  /** @throws Violation */
  check(): void {
    checkGateways(this.history);
    const entries = this.shards.map((shard) => entriesOf(this.kit.server, shard));
    for (const [index, shard] of this.shards.entries()) checkChain(shard, entries[index] ?? []);
    checkLedger(this.history, entries.flat());
    checkHistories(this.history, this.places);
  }

  private checkDigests(): void {
    const replayed = replayedDigests(this.shards.flatMap((shard) => entriesOf(this.kit.server, shard)));
    for (const node of this.nodes) {
      for (const [partition, live] of node.digests()) {
        const expected = replayed.get(partition);
        if (expected === undefined || live === expected) continue;
        throw new Violation('replay gives the live state', `${partition} at ${node.name}: ${live}, not ${expected}`);
      }
    }
  }

  private leave(node: SimNode | undefined): void {
    if (node === undefined) return;
    this.kit.stop(node.member.process, () => node.stop());
    this.replace(node);
  }

  private replace(node: SimNode): void {
    const { scheduler } = this.kit;
    this.nodes = this.nodes.filter((other) => other !== node);
    const backMs = scheduler.nowMs + this.random.between(RESTART_AFTER_MS.low, RESTART_AFTER_MS.high);
    scheduler.at(backMs, undefined, 'timer', 'restart', () => this.startNode());
  }

  private startNode(): void {
    this.named += 1;
    const member = this.kit.addMember(`p${this.named}`, (_level, event) => {
      if (event === 'shard.serving') this.takeovers += 1;
      if (event === 'shard.snapshotted') this.snapshots += 1;
    });
    this.nodes.push(startNode(member, this.nodeOptions));
  }

  private newClient(name: string): Client {
    const servers = () => this.nodes.map((node) => ({ process: node.member.process, gateway: node.gateway }));
    const thinkMs = this.random.pick([20, 60, 150]);
    return new Client(name, this.places, servers, this.history, this.kit.scheduler, this.random.fork(), thinkMs);
  }

  /** Four registers and two counters, distributed over the shards independently of the seed. */
  private choosePlaces(): Place[] {
    const places: Place[] = [];
    while (places.length < PLACE_COUNT) {
      const database = newDatabaseId(this.random);
      const partition = kvPartition(database, 0);
      if (shardOf('kv', partition, SHARD_COUNT) !== this.shards[places.length % SHARD_COUNT]) continue;
      const kind = places.length < 4 ? 'register' : 'counter';
      places.push({ key: `${kind}-${places.length}`, kind, database, partition });
    }
    return places;
  }
}
