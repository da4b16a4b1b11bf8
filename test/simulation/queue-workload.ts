/** Publishers and operators: each sends one request after the other to the gateway of a randomly chosen process. */
import {
  type CallbackSetting,
  type DeliverySettings,
  type FlowControlSetting,
  newMessageId,
  newScheduleId,
  type PublishItem,
  type QueueCommand,
  type QueueReply,
  type RawSettings,
} from '../../src/domain/queue/index.js';
import type { AccountId, ScheduleId } from '../../src/kernel/index.js';
import { PLAIN_SETTINGS } from '../support/queue-shard-stand.js';
import type { Publish, QueueHistory } from './queue-history.js';
import type { QueueNode } from './queue-node.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';

/** The time after which a client continues with another request; the earlier one stays open. */
const PATIENCE_MS = 12_000;
const AGAIN_MS = 300;
/** A delay beyond the end of every run. */
const FAR_SECONDS = 30 * 86_400;

/** Probabilities of message options in addition to the destination. Each seed has its own. */
export interface Habits {
  readonly delayed: number;
  readonly far: number;
  readonly queued: number;
  readonly flow: number;
  readonly callback: number;
  readonly deduplicated: number;
  readonly group: number;
  readonly batch: number;
  /** The share of commands that are not publishes. */
  readonly operations: number;
  readonly hosts: readonly string[];
}

const FLOWS: readonly FlowControlSetting[] = [
  { key: 'two', parallelism: 2, rate: undefined, periodSeconds: 1 },
  { key: 'rated', parallelism: undefined, rate: 3, periodSeconds: 2 },
  { key: 'both', parallelism: 1, rate: 2, periodSeconds: 1 },
];
/** The parallelism of each queue. `one` is not configured: it has the default of a queue that a message creates. */
export const QUEUES = { one: 1, two: 2, three: 3 } as const;
export const FLOW_KEYS = FLOWS.map(({ key }) => key);
export const GROUP = 'endpoints';
const GROUP_SETTINGS: RawSettings = {
  headers: [
    ['svc-retries', '1'],
    ['svc-retry-delay', '200'],
    ['svc-timeout', '2'],
  ],
  query: [],
};

export function drawHabits(random: SeededRandom): Habits {
  const sometimes = (high: number) => (random.chance(0.6) ? random.between(0, high) : 0);
  const hosts = ['flaky', 'slow', 'dead', 'deaf', 'final'].filter(() => random.chance(0.5));
  return {
    delayed: sometimes(0.4),
    far: sometimes(0.05),
    queued: sometimes(0.8),
    flow: sometimes(0.6),
    callback: sometimes(0.5),
    deduplicated: sometimes(0.5),
    group: sometimes(0.3),
    batch: sometimes(0.3),
    operations: sometimes(0.4),
    hosts: ['good', 'better', ...hosts],
  };
}

export class QueueClient {
  private isDone = false;

  constructor(
    private readonly name: string,
    private readonly accounts: readonly AccountId[],
    private readonly nodes: () => readonly QueueNode[],
    private readonly history: QueueHistory,
    private readonly scheduler: Scheduler,
    private readonly random: SeededRandom,
    private readonly habits: Habits,
    private readonly thinkMs: number,
  ) {}

  start(): void {
    this.later(this.random.between(0, 1000), () => this.act());
  }

  stop(): void {
    this.isDone = true;
  }

  private act(): void {
    const nodes = this.nodes();
    if (this.isDone) return;
    if (nodes.length === 0) {
      this.actAfterPause();
      return;
    }
    let hasMovedOn = false;
    const moveOn = () => {
      if (hasMovedOn) return;
      hasMovedOn = true;
      this.actAfterPause();
    };
    this.later(PATIENCE_MS, moveOn);
    const node = this.random.pick(nodes);
    const account = this.random.pick(this.accounts);
    if (this.random.chance(this.habits.operations)) this.ask(node, account, this.operation(), moveOn);
    else this.publishSome(node, account, moveOn);
  }

  /** Sometimes a second client publishes the same messages at the same time with its own ids. */
  private publishSome(node: QueueNode, account: AccountId, onEnd: () => void): void {
    const items = this.items();
    this.publish(node, account, items, onEnd);
    if (!items.some(({ deduplication }) => deduplication !== undefined) || this.random.chance(0.5)) return;
    const twins = items.map((item) => ({ ...item, id: newMessageId(this.random, this.scheduler.nowMs) }));
    this.publish(this.random.pick(this.nodes()), account, twins, () => {});
  }

  /** Sends the call to the process as an event; a paused process executes it when it resumes. */
  private publish(node: QueueNode, account: AccountId, items: readonly PublishItem[], onEnd: () => void): void {
    this.hand(node, () => {
      const publish = this.history.begin(items);
      node.gateway.publish(account, items).then(
        (reply) => {
          this.history.replied(publish, reply);
          this.note(node, publish);
          onEnd();
        },
        (error: unknown) => {
          this.history.failed(publish, error);
          this.note(node, publish);
          onEnd();
        },
      );
    });
  }

  private note({ name }: QueueNode, { items, told, why }: Publish): void {
    const ids = items.map(({ id }) => id.slice(0, 10)).join(' ');
    this.scheduler.trace.note(this.name, `publish of ${ids} at ${name}: ${told} ${why}`);
  }

  /** An answer has the outcome; without one the outcome is unknown. */
  private ask(node: QueueNode, account: AccountId, command: QueueCommand, onEnd: (reply?: QueueReply) => void): void {
    this.hand(node, () => {
      node.gateway.ask(account, command).then(
        (reply) => onEnd(reply),
        () => onEnd(),
      );
    });
  }

  /** Sends the command to processes in turn until one answers. */
  insist(node: () => QueueNode | undefined, account: AccountId, command: QueueCommand, onEnd: () => void): void {
    const target = node();
    let hasEnded = false;
    const end = (next: () => void) => {
      if (!hasEnded) next();
      hasEnded = true;
    };
    const again = () => end(() => this.later(AGAIN_MS, () => this.insist(node, account, command, onEnd)));
    this.later(PATIENCE_MS, again);
    if (target === undefined) again();
    else this.ask(target, account, command, (reply) => (reply === undefined ? again() : end(onEnd)));
  }

  private hand(node: QueueNode, action: () => void): void {
    const { scheduler } = this;
    const atMs = scheduler.nowMs + this.random.between(0.05, 1);
    scheduler.at(atMs, node.member.process, 'message', `${this.name} asks`, action);
  }

  private actAfterPause(): void {
    this.later(this.random.between(0, 2 * this.thinkMs), () => this.act());
  }

  private later(inMs: number, action: () => void): void {
    this.scheduler.at(this.scheduler.nowMs + inMs, undefined, 'timer', this.name, action);
  }

  private items(): PublishItem[] {
    const count = this.random.chance(this.habits.batch) ? 2 + this.random.below(5) : 1;
    return Array.from({ length: count }, () => this.item());
  }

  private item(): PublishItem {
    const { random, habits } = this;
    const isGroup = random.chance(habits.group);
    return {
      id: newMessageId(random, this.scheduler.nowMs),
      destination: isGroup
        ? { kind: 'group', name: GROUP, raw: GROUP_SETTINGS }
        : { kind: 'url', url: this.url(), settings: this.settings() },
      queueName: random.chance(habits.queued) ? random.pick(Object.keys(QUEUES)) : undefined,
      body: random.chance(0.1) ? new Uint8Array(0) : random.bytes(1 + random.below(120)),
      notBeforeMs: undefined,
      deduplication: random.chance(habits.deduplicated) ? { id: `d${random.below(40)}` } : undefined,
      callerIp: '192.0.2.1',
      isAlias: false,
    };
  }

  private url(): string {
    return `https://${this.random.pick(this.habits.hosts)}.example/`;
  }

  private settings(): DeliverySettings {
    const { random, habits } = this;
    const isFar = random.chance(habits.far);
    const delaySeconds = random.chance(habits.delayed) ? 1 + random.below(10) : 0;
    return {
      ...PLAIN_SETTINGS,
      maxRetries: random.below(3),
      retryDelay: random.pick(['0', '200', '1500']),
      timeoutSeconds: 2,
      delaySeconds: isFar ? FAR_SECONDS : delaySeconds,
      flowControl: random.chance(habits.flow) ? random.pick(FLOWS) : undefined,
      callback: random.chance(habits.callback) ? this.callback() : undefined,
      failureCallback: random.chance(habits.callback) ? this.callback() : undefined,
    };
  }

  private callback(): CallbackSetting {
    const settings = { ...PLAIN_SETTINGS, maxRetries: 1, retryDelay: '100', timeoutSeconds: 2 };
    return { url: this.random.chance(0.2) ? this.url() : 'https://callbacks.example/', settings };
  }

  private operation(): QueueCommand {
    const { random, history } = this;
    const isPaused = random.chance(0.5);
    const known = history.answered;
    const id = known.length === 0 ? newMessageId(random, this.scheduler.nowMs) : random.pick(known);
    const isOrder = (order: 'earliestFirst' | 'latestFirst') => order;
    const order = isOrder(random.pick(['earliestFirst', 'latestFirst']));
    const selector = { kind: 'filter', filter: {}, count: 1 + random.below(3), after: undefined, order } as const;
    switch (random.below(9)) {
      case 0:
        return { type: 'PauseQueue', name: random.pick(Object.keys(QUEUES)), isPaused };
      case 1:
        return { type: 'PauseFlow', key: random.pick(FLOW_KEYS), isPaused };
      case 2:
        return { type: 'CancelMessages', selector: { kind: 'filter', filter: { url: [this.url()] }, count: 3 } };
      case 3:
        return {
          type: 'RetryDlq',
          selector,
          firstId: newMessageId(random, this.scheduler.nowMs),
          overrides: { headers: [], query: [] },
        };
      case 4:
        return { type: 'DeleteDlq', selector };
      case 5:
        return this.schedule();
      case 6:
        return { type: 'PauseSchedule', id: this.scheduleId(), isPaused };
      case 7:
        return { type: 'GetMessage', id };
      default:
        return { type: 'CancelMessage', id };
    }
  }

  private schedule(): QueueCommand {
    const { random } = this;
    const destination = { kind: 'url', url: this.url(), settings: this.settings() } as const;
    const queueName = random.chance(0.3) ? 'one' : undefined;
    const body = random.bytes(random.below(50));
    const id = random.chance(0.2) ? newScheduleId(random) : this.scheduleId();
    const schedule = { id, cron: '* * * * *', destination, queueName, body, callerIp: '192.0.2.1', isAlias: false };
    return { type: 'SetSchedule', schedule };
  }

  private scheduleId(): ScheduleId {
    return this.random.pick(['scd_a', 'scd_b']) as ScheduleId;
  }
}
