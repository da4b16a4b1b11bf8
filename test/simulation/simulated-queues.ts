/**
 * A cluster with queues and a course that follows from one seed: processes, publishers, destinations and faults. A
 * calm period follows, in which every message must end. Every promise is checked during the whole run.
 */
import type { AccountTerms } from '../../src/domain/queue/index.js';
import type { AccountId, ShardName } from '../../src/kernel/index.js';
import { intakeOf, queuePartition, shardOf } from '../../src/protocol/index.js';
import { GENEROUS } from '../support/queue-shard-stand.js';
import { type Faults, randomFaults } from './faults.js';
import { checkChain, entriesOf } from './journal-checks.js';
import { Nemesis } from './nemesis.js';
import { SimDestinations } from './queue-destinations.js';
import { QueueHistory } from './queue-history.js';
import { SimIntakeLog } from './queue-intake.js';
import { type LedgerMessage, type LedgerRule, QueueLedger } from './queue-ledger.js';
import { type QueueNode, startQueueNode } from './queue-node.js';
import { FlowRule, QueueRule, ScheduleRule } from './queue-rules.js';
import { SinkChecks } from './queue-sink-checks.js';
import { checkStates } from './queue-states.js';
import { WorkflowClient } from './queue-workflow-client.js';
import { WorkflowRule } from './queue-workflow-rules.js';
import { drawHabits, FLOW_KEYS, GROUP, QUEUES, QueueClient } from './queue-workload.js';
import { SeededRandom } from './seeded-random.js';
import { SimKit, type SimMember } from './sim-kit.js';
import { Violation } from './violation.js';

export interface SimulatedQueuesOptions {
  /** The faults; by default chosen by the seed. */
  readonly faults?: Faults;
  readonly onLine?: (line: string) => void;
}

const STORM_MS = 15_000;
/**
 * The rounds of the calm period: each resumes everything that was paused and checks whether all messages have ended.
 */
const CALM_ROUNDS = 8;
const LOOKS_OF_ROUND = 60;
/** The time after which work that a paused process held back is stored and every shard has been compacted. */
const REST_MS = 12_000;
const LOOK_EVERY_MS = 500;
const SHARDS = ['QUEUE_0', 'QUEUE_1'] as ShardName[];
const RESTART_AFTER_MS = { low: 200, high: 6000 };
const OUTAGE_MS = { low: 60_000, high: 300_000 };
const INTAKE_TIMEOUT_MS = 1500;
/**
 * The largest error of a clock. Accepted ids are remembered for ten minutes, and a process that runs alone cannot
 * detect its wrong clock.
 */
const LARGEST_SKEW_MS = 20_000;
const TERMS: AccountTerms = { ...GENEROUS, limits: { ...GENEROUS.limits, maxGlobalParallelism: 12 } };

export class SimulatedQueues {
  readonly kit: SimKit;
  readonly history: QueueHistory;
  readonly ledger: QueueLedger;
  readonly destinations: SimDestinations;
  readonly workflows: WorkflowRule;
  takeovers = 0;
  snapshots = 0;
  private readonly faults: Faults;
  private readonly random: SeededRandom;
  private readonly hasSnapshots: boolean;
  private readonly accounts: readonly AccountId[];
  private readonly terms = new Map<AccountId, AccountTerms>();
  private nodes: QueueNode[] = [];
  private clients: QueueClient[] = [];
  private workflowClients: WorkflowClient[] = [];
  private named = 0;
  private allBackAtMs = 0;
  private hasEndedFaults = false;
  /** The number of operators' commands without an answer. */
  private asked = 0;
  private found: Violation | undefined;

  constructor(seed: number, options: SimulatedQueuesOptions = {}) {
    this.faults = options.faults ?? withSmallSkew(randomFaults(new SeededRandom(seed ^ 0x9ee)));
    this.kit = new SimKit(seed, this.faults);
    const { scheduler, server } = this.kit;
    if (options.onLine !== undefined) scheduler.trace.onLine = options.onLine;
    this.random = this.kit.random.fork();
    // The start is shortly before a full minute, so that schedules fire during the faults.
    scheduler.nowMs = 60_000 - this.random.between(2000, STORM_MS);
    this.hasSnapshots = this.random.chance(0.6);
    const report = (promise: string, message: string) => {
      this.found ??= new Violation(promise, message);
    };
    const queues = new QueueRule(report);
    this.workflows = new WorkflowRule(report);
    const sink = new SinkChecks(report, queues, this.workflows);
    const trace: LedgerRule = {
      event: (event, partition) => {
        scheduler.trace.note('journal', `${partition.slice(6, 10)} ${event.type} ${'id' in event ? event.id : ''}`);
      },
    };
    const rules = [trace, sink, queues, new FlowRule(report), new ScheduleRule(report), this.workflows];
    this.ledger = new QueueLedger(report, rules);
    this.history = new QueueHistory(this.ledger, report);
    const isReachable = this.random.chance(0.5);
    const chance = (high: number) => (isReachable || options.faults !== undefined ? 0 : this.random.between(0, high));
    this.destinations = new SimDestinations(scheduler, this.random.fork(), {
      lost: chance(0.1),
      answerLost: chance(0.1),
    });
    sink.watch(this.destinations, this.ledger);
    for (const shard of SHARDS) {
      server.createStream(shard);
      server.createStream(intakeOf(shard));
      this.ledger.watch(server, shard);
    }
    this.accounts = accountsOfEachShard();
    for (const account of this.accounts) this.terms.set(account, TERMS);
  }

  /** @throws Violation */
  async run(): Promise<void> {
    this.startNodes();
    this.startClients();
    await this.runFaults();
    await this.endFaults();
    this.history.check((message) => this.mayWait(message));
    if (this.workflows.openWaits > 0)
      throw new Violation('a wait ends at its deadline', `${this.workflows.openWaits} do not`);
    this.throwFound();
    await this.pass(REST_MS);
    for (const shard of SHARDS) checkChain(shard, entriesOf(this.kit.server, shard));
    await checkStates(this.kit, SHARDS, this.nodes);
    this.throwFound();
  }

  private startNodes(): void {
    const count = 2 + this.random.below(2);
    for (let index = 0; index < count; index += 1) this.startNode();
  }

  private startClients(): void {
    const { random, kit } = this;
    const habits = drawHabits(random);
    const thinkMs = random.pick([40, 100, 250]);
    this.clients = Array.from({ length: 2 + random.below(3) }, (_, index) => {
      const nodes = () => this.nodes;
      const { scheduler } = kit;
      return new QueueClient(
        `c${index}`,
        this.accounts,
        nodes,
        this.history,
        scheduler,
        random.fork(),
        habits,
        thinkMs,
      );
    });
    for (const account of this.accounts) {
      const endpoints = ['good', 'flaky'].map((host) => ({ url: `https://${host}.example/group`, name: undefined }));
      this.insist(account, { type: 'UpsertEndpoints', group: GROUP, endpoints });
      for (const [name, parallelism] of Object.entries(QUEUES))
        if (name !== 'one') this.insist(account, { type: 'SetQueue', name, parallelism, isPaused: false });
    }
    for (const client of this.clients) client.start();
    this.startWorkflows(random.chance(0.5) ? 1 + random.below(2) : 0, thinkMs);
  }

  private startWorkflows(count: number, thinkMs: number): void {
    const { ledger, accounts, workflows: rule } = this;
    const { scheduler } = this.kit;
    const terms = { accounts, nodes: () => this.nodes, ledger, rule, scheduler, thinkMs };
    this.workflowClients = Array.from(
      { length: count },
      (_, index) => new WorkflowClient(`w${index}`, terms, this.random.fork()),
    );
    for (const client of this.workflowClients) client.start();
  }

  private async runFaults(): Promise<void> {
    const { kit } = this;
    const nodeOf = (member: SimMember) => this.nodes.find((node) => node.member === member);
    const nemesis = new Nemesis(kit, this.faults, [...SHARDS, ...SHARDS.map(intakeOf)], {
      members: () => this.nodes.map((node) => node.member),
      crash: (member) => this.crash(nodeOf(member)),
      leave: (member) => this.leave(nodeOf(member)),
    });
    nemesis.start();
    if (this.random.chance(0.3)) this.suspendSometimes();
    if (this.faults.crashEveryMs > 0 && this.random.chance(0.3)) this.cutPower();
    await this.until(kit.scheduler.nowMs + STORM_MS);
    nemesis.stop();
    for (const client of [...this.clients, ...this.workflowClients]) client.stop();
  }

  /** Ends all faults and resumes all processes, so that all messages end. */
  private async endFaults(): Promise<void> {
    const { kit } = this;
    this.hasEndedFaults = true;
    kit.endFaults();
    this.destinations.endFaults();
    await this.until(Math.max(kit.scheduler.nowMs, this.allBackAtMs) + RESTART_AFTER_MS.high);
    for (const account of this.accounts) this.setTerms(account, TERMS);
    for (let rounds = 0; rounds < CALM_ROUNDS; rounds += 1) {
      this.release();
      for (let looks = 0; looks < LOOKS_OF_ROUND; looks += 1) {
        await this.pass(LOOK_EVERY_MS);
        if (this.asked === 0 && this.hasEnded()) return;
      }
    }
    if (this.asked > 0) throw new Violation('it comes back when the faults end', `${this.asked} have no answer`);
  }

  /** Repeated in each round, because a resumed process may execute an operator's pause late. */
  private release(): void {
    for (const account of this.accounts) {
      for (const name of Object.keys(QUEUES)) this.insist(account, { type: 'PauseQueue', name, isPaused: false });
      for (const key of FLOW_KEYS) this.insist(account, { type: 'PauseFlow', key, isPaused: false });
    }
  }

  private insist(account: AccountId, command: Parameters<QueueClient['insist']>[2]): void {
    this.asked += 1;
    const node = () => (this.nodes.length === 0 ? undefined : this.random.pick(this.nodes));
    this.clients[0]?.insist(node, account, command, () => {
      this.asked -= 1;
    });
  }

  private hasEnded(): boolean {
    const { pending, messages, told } = this.ledger;
    for (const message of pending) if (!this.mayWait(message)) return false;
    for (const id of told) if (!messages.has(id)) return false;
    return this.workflows.openWaits === 0;
  }

  /** Returns true for messages that are due in a month: they must stay pending. */
  private mayWait({ dueAtMs, hasStarted }: LedgerMessage): boolean {
    return dueAtMs > this.ledger.clockMs + 86_400_000 && !hasStarted;
  }

  private suspendSometimes(): void {
    const { scheduler } = this.kit;
    const inMs = this.random.between(500, 8000);
    scheduler.at(scheduler.nowMs + inMs, undefined, 'timer', 'operator', () => {
      if (this.hasEndedFaults) return;
      const account = this.random.pick(this.accounts);
      const isActive = this.terms.get(account)?.state === 'active';
      this.setTerms(account, { ...TERMS, state: isActive ? 'passive' : 'active' });
      this.suspendSometimes();
    });
  }

  private setTerms(account: AccountId, terms: AccountTerms): void {
    this.kit.scheduler.trace.note('operator', `${account} is ${terms.state}`);
    this.terms.set(account, terms);
    for (const node of this.nodes) node.member.process.timers.soon(() => node.accountsChanged());
  }

  /** Stops all processes for some minutes, so that ticks are missed and much work is overdue afterwards. */
  private cutPower(): void {
    const { scheduler } = this.kit;
    const atMs = scheduler.nowMs + this.random.between(0.3, 0.9) * STORM_MS;
    scheduler.at(atMs, undefined, 'timer', 'power cut', () => {
      const outageMs = this.random.between(OUTAGE_MS.low, OUTAGE_MS.high);
      scheduler.trace.note('operator', `nobody is there for ${Math.round(outageMs)} ms`);
      for (const node of [...this.nodes]) this.crash(node, outageMs);
    });
  }

  private crash(node: QueueNode | undefined, forMs = 0): void {
    if (node === undefined) return;
    node.member.process.crash();
    this.replace(node, forMs);
  }

  private leave(node: QueueNode | undefined): void {
    if (node === undefined) return;
    this.kit.stop(node.member.process, () => node.stop());
    this.replace(node);
  }

  private replace(node: QueueNode, afterMs = 0): void {
    const { scheduler } = this.kit;
    this.nodes = this.nodes.filter((other) => other !== node);
    const backMs = scheduler.nowMs + afterMs + this.random.between(RESTART_AFTER_MS.low, RESTART_AFTER_MS.high);
    this.allBackAtMs = Math.max(this.allBackAtMs, backMs);
    scheduler.at(backMs, undefined, 'timer', 'restart', () => this.startNode());
  }

  private startNode(): void {
    this.named += 1;
    const { kit } = this;
    const member = kit.addMember(`p${this.named}`, (_level, event) => {
      if (event === 'shard.serving') this.takeovers += 1;
      if (event === 'shard.snapshotted') this.snapshots += 1;
    });
    const heardAtMs = kit.scheduler.nowMs + (this.random.chance(0.3) ? this.random.between(0, 6000) : 0);
    const accounts = {
      termsOf: (account: AccountId) => (kit.scheduler.nowMs < heardAtMs ? undefined : this.terms.get(account)),
    };
    const intake = new SimIntakeLog(member.link, kit.server, member.journal, INTAKE_TIMEOUT_MS);
    const { hasSnapshots, destinations } = this;
    this.nodes.push(startQueueNode(member, { shards: SHARDS, hasSnapshots, destinations, intake, accounts }));
  }

  private async pass(durationMs: number): Promise<void> {
    await this.until(this.kit.scheduler.nowMs + durationMs);
  }

  private async until(endMs: number): Promise<void> {
    await this.kit.scheduler.run(endMs, () => this.found !== undefined);
    this.throwFound();
  }

  private throwFound(): void {
    if (this.found !== undefined) throw this.found;
  }
}

function withSmallSkew(faults: Faults): Faults {
  return { ...faults, wallSkewMs: Math.min(faults.wallSkewMs, LARGEST_SKEW_MS) };
}

/** Two accounts of the first shard and one of the second. */
function accountsOfEachShard(): AccountId[] {
  const accounts: AccountId[] = [];
  for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
    const account = `ac-${letter.repeat(16)}` as AccountId;
    const shard = shardOf('queue', queuePartition(account), SHARDS.length);
    if (shard === SHARDS[accounts.length % SHARDS.length]) accounts.push(account);
    if (accounts.length === SHARDS.length + 1) break;
  }
  return accounts;
}
