/**
 * Removes queues of deleted triggers, and those that a trigger with fewer lanes does not use any more, from accounts
 * that this process owns.
 *
 *  LQS1 a queue is removed once its messages have ended, and only if two successive looks found no trigger for it: a
 *       trigger makes its queues before it exists
 */
import type { Trigger } from '../../domain/control/index.js';
import type { AccountId } from '../../kernel/index.js';
import type { QueueGateway } from '../../ports/index.js';
import { isLaneQueue, laneQueues } from './trigger-messages.js';

export interface LaneQueueSweepPorts {
  readonly queue: Pick<QueueGateway, 'ask'>;
  /** Of the accounts in this process. */
  emptyQueues(): Iterable<readonly [account: AccountId, name: string]>;
  /** Undefined while this process may have missed some. */
  knownTriggers(): Iterable<Trigger> | undefined;
}

export class LaneQueueSweep {
  /** Queues without a trigger at the last look. */
  #unused: ReadonlySet<string> = new Set();

  constructor(private readonly ports: LaneQueueSweepPorts) {}

  /** @returns how many it removed */
  async look(): Promise<number> {
    const { queue, emptyQueues, knownTriggers } = this.ports;
    const triggers = knownTriggers();
    if (triggers === undefined) return 0;
    const used = new Set<string>();
    for (const trigger of triggers) for (const name of laneQueues(trigger)) used.add(name);
    const found = [...emptyQueues()].filter(([, name]) => isLaneQueue(name) && !used.has(name));
    const before = this.#unused;
    this.#unused = new Set(found.map(([, name]) => name));
    const over = found.filter(([, name]) => before.has(name));
    for (const [account, name] of over) await queue.ask(account, { type: 'DeleteQueue', name, ifEmpty: true });
    return over.length;
  }
}
