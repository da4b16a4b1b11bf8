/**
 * A whole cluster from one seed: processes with the real runtime on simulated ports, clients, faults; then
 * calm, in which everything must come back; and then every promise is checked.
 */
import { kvPartition, newDatabaseId, shardOf } from '../../src/messages/index.js';
import type { PartitionName, ShardName } from '../../src/kernel/index.js';
import { checkLinearizability } from '../support/linearizability.js';
import { counterModel, registerModel } from '../support/linearizability-models.js';
import { type Faults, swarm } from './faults.js';
import { History } from './history.js';
import { checkChain, checkLedger, entriesOf, Violation } from './journal-checks.js';
import { Nemesis } from './nemesis.js';
import { replayedDigests } from './replayed-digests.js';
import { SeededRandom } from './seeded-random.js';
import { SimKit } from './sim-kit.js';
import { type SimNode, startNode } from './sim-node.js';
import { Client, type Place } from './workload.js';

export interface WorldOptions {
  /** Default: drawn from the seed. */
  readonly faults?: Faults;
  /** Virtual time with faults. */
  readonly stormMs?: number;
  /** Hears every line of the trace. */
  readonly onLine?: (line: string) => void;
}

export interface RunReport {
  readonly seed: number;
  readonly traceHash: string;
  readonly violation: Violation | undefined;
  readonly traceTail: readonly string[];
  readonly virtualMs: number;
  readonly events: number;
  readonly answered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly takeovers: number;
}

const STORM_MS = 25_000;
/** After the last fault: elections end, cuts mend, sessions expire, a shard is taken over twice. */
const CALM_LIMIT_MS = 120_000;
const READ_AGAIN_MS = 300;
const SHARD_COUNT = 2;
const LINES_OF_TAIL = 60;
const RESTART_AFTER_MS = { low: 200, high: 6000 };

export class World {
  readonly kit: SimKit;
  readonly history = new History();
  readonly shards: readonly ShardName[];
  private readonly faults: Faults;
  private readonly places: readonly Place[];
  private readonly random: SeededRandom;
  private nodes: SimNode[] = [];
  private named = 0;

  constructor(
    readonly seed: number,
    private readonly options: WorldOptions = {},
  ) {
    this.faults = options.faults ?? swarm(new SeededRandom(seed ^ 0x5eed));
    this.kit = new SimKit(seed, this.faults);
    if (options.onLine !== undefined) this.kit.scheduler.trace.onLine = options.onLine;
    this.random = this.kit.random.fork();
    this.shards = Array.from({ length: SHARD_COUNT }, (_, index) => `KV_${index}` as ShardName);
    for (const shard of this.shards) this.kit.server.createStream(shard);
    this.places = this.choosePlaces();
  }

  /** Never throws for a broken promise: it is in the report. */
  async run(): Promise<RunReport> {
    let violation: Violation | undefined;
    try {
      await this.storm();
      await this.calm();
      this.check();
    } catch (error) {
      violation = error instanceof Violation ? error : new Violation('nothing throws', String((error as Error).stack));
      this.kit.scheduler.trace.note('checker', violation.message);
    }
    return this.report(violation);
  }

  private async storm(): Promise<void> {
    const { scheduler } = this.kit;
    const processCount = 2 + this.random.below(2);
    for (let index = 0; index < processCount; index += 1) this.startNode();
    const clients = Array.from({ length: 3 + this.random.below(3) }, (_, index) => this.newClient(`c${index}`));
    for (const client of clients) client.start();
    const nemesis = new Nemesis(this.kit, this.faults, this.shards, {
      members: () => this.nodes.map((node) => node.member),
      crash: (member) => {
        member.process.crash();
        this.nodes = this.nodes.filter((node) => node.member !== member);
        const backMs = scheduler.nowMs + this.random.between(RESTART_AFTER_MS.low, RESTART_AFTER_MS.high);
        scheduler.at(backMs, undefined, 'timer', 'restart', () => this.startNode());
      },
    });
    nemesis.start();
    await scheduler.run(this.options.stormMs ?? STORM_MS);
    nemesis.stop();
    for (const client of clients) client.stop();
  }

  /** Everything works again: every key must become readable through every process. */
  private async calm(): Promise<void> {
    const { scheduler } = this.kit;
    this.kit.endFaults();
    const limitMs = scheduler.nowMs + CALM_LIMIT_MS;
    await scheduler.run(scheduler.nowMs + RESTART_AFTER_MS.high);
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
    await scheduler.run(limitMs, () => unread.size === 0);
    if (unread.size > 0) throw new Violation('it comes back when the faults end', `unread: ${[...unread].join(', ')}`);
  }

  private check(): void {
    const broken = this.history.attempts.find(({ ending }) => ending.kind === 'broken');
    if (broken?.ending.kind === 'broken') {
      throw new Violation(
        'a gateway fails as promised',
        `${broken.client} ${broken.key}: ${String(broken.ending.error)}`,
      );
    }
    const entries = this.shards.map((shard) => entriesOf(this.kit.server, shard));
    for (const [index, shard] of this.shards.entries()) checkChain(shard, entries[index] ?? []);
    checkLedger(this.history, entries.flat());
    this.checkHistories();
    this.checkDigests(replayedDigests(entries.flat()));
  }

  private checkHistories(): void {
    const operations = this.history.operations();
    const kindOf = new Map(this.places.map(({ key, kind }) => [key, kind]));
    const ofKind = (kind: Place['kind']) => operations.filter(({ key }) => kindOf.get(key) === kind);
    for (const verdict of [
      checkLinearizability(ofKind('register') as never, registerModel),
      checkLinearizability(ofKind('counter') as never, counterModel),
    ]) {
      if (verdict.kind === 'impossible') throw new Violation('histories are linearizable', verdict.explanation);
      if (verdict.kind === 'undecided') throw new Violation('the checker decides', `gave up on ${verdict.key}`);
    }
  }

  private checkDigests(replayed: ReadonlyMap<PartitionName, string>): void {
    for (const node of this.nodes) {
      for (const [partition, live] of node.digests()) {
        const expected = replayed.get(partition);
        if (expected !== undefined && live !== expected) {
          throw new Violation(
            'replay gives the live state',
            `${partition} at ${node.name}: ${live}, replayed: ${expected}`,
          );
        }
      }
    }
  }

  private startNode(): void {
    this.named += 1;
    const member = this.kit.addMember(`p${this.named}`);
    this.nodes.push(startNode(member, this.shards));
  }

  private newClient(name: string): Client {
    const servers = () => this.nodes.map((node) => ({ process: node.member.process, gateway: node.gateway }));
    const thinkMs = this.random.pick([20, 60, 150]);
    return new Client(name, this.places, servers, this.history, this.kit.scheduler, this.random.fork(), thinkMs);
  }

  /** Four registers and two counters over both shards. */
  private choosePlaces(): Place[] {
    const places: Place[] = [];
    while (places.length < 6) {
      const database = newDatabaseId(this.random);
      const partition = kvPartition(database, 0);
      // Every other place on the other shard, so that each shard has its share whatever the dice say.
      if (shardOf('kv', partition, SHARD_COUNT) !== this.shards[places.length % SHARD_COUNT]) continue;
      const kind = places.length < 4 ? 'register' : 'counter';
      places.push({ key: `${kind}-${places.length}`, kind, database, partition });
    }
    return places;
  }

  private report(violation: Violation | undefined): RunReport {
    const { scheduler } = this.kit;
    return {
      seed: this.seed,
      traceHash: scheduler.trace.hash,
      violation,
      traceTail: violation === undefined ? [] : scheduler.trace.tail(LINES_OF_TAIL),
      virtualMs: scheduler.nowMs,
      events: scheduler.eventsRun,
      answered: this.history.count('answered'),
      failed: this.history.count('failed'),
      unknown: this.history.count('unknown'),
      takeovers: 0,
    };
  }
}
