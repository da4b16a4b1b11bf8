/**
 * Counts the messages of the loaded accounts, and bounds each account. An account is one partition, so all its messages
 * are in one process.
 *
 *  HQ1 an account may hold as many messages and bytes as the settings say, and `ACCOUNT_SHARE` of the memory for
 *      messages (the rule is in `runtime/held-memory.ts`)
 *  HQ2 runs in progress may exceed the first two bounds by a quarter, and use the rest of the memory
 *  HQ3 bodies in memory give way to messages, because bodies can be read again
 */
import { type AccountUsage, FOR_RUNS, type HeldBounds, type QueueBounds } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import type { Clock, Counter, Log, Timers } from '../../ports/index.js';
import { MemoryReservation } from '../runtime/index.js';
import type { AccountQueue } from './account-queue.js';
import { type BodyMemory, DEFAULT_BODY_MEMORY_BYTES } from './body-memory.js';

/**
 * The part of the memory for messages that one account may use. An account with many waiting messages is often the only
 * one.
 */
export const ACCOUNT_SHARE = 0.9;
/** Checks between two log lines about refused accounts. */
const TELL_EVERY_LOOKS = 60;

/** `messages` and `bytes` apply to one account, `memoryBytes` to all together. */
export type HeldLimits = HeldBounds;

export interface HeldMessagesParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly bodies: BodyMemory;
  /** Counts refused calls. */
  readonly refused: Counter;
  queues(): Iterable<AccountQueue>;
}

export class HeldMessages {
  readonly #memory: MemoryReservation<AccountId>;
  #messages = 0;
  #bytes = 0;
  /** Since the last log line. */
  readonly #refusedByAccount = new Map<AccountId, number>();
  #looksUntilTold = 0;

  constructor(
    readonly limits: HeldLimits,
    private readonly parts: HeldMessagesParts,
  ) {
    const { timers, log } = parts;
    this.#memory = new MemoryReservation(limits.memoryBytes, ACCOUNT_SHARE, {
      timers,
      log,
      event: 'queue.memory-full',
      look: () => this.#look(),
      looked: () => this.#looked(),
    });
  }

  start(): void {
    this.#memory.start();
  }

  stop(): void {
    this.#memory.stop();
  }

  get usedBytes(): number {
    return this.#memory.usedBytes;
  }

  /** The messages of all accounts at the last check. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The bounds of the account while it is loaded. */
  boundsOf(queue: AccountQueue): (held: AccountUsage) => QueueBounds {
    return (held) => {
      const { account } = queue;
      const { messages, bytes, memoryBytes } = this.limits;
      this.#memory.count(account, held.memoryBytes - queue.countedBytes);
      queue.countedBytes = held.memoryBytes;
      const free = this.#memory.freeFor(account);
      const left = Math.max(free, memoryBytes - this.#memory.usedBytes);
      return {
        ofAccount: { messages, bytes, memoryBytes: held.memoryBytes + free },
        ofRuns: {
          messages: Math.floor(messages * (1 + FOR_RUNS)),
          bytes: Math.floor(bytes * (1 + FOR_RUNS)),
          memoryBytes: held.memoryBytes + left,
        },
      };
    };
  }

  noteRefused(account: AccountId): void {
    this.parts.refused.add(1);
    this.#refusedByAccount.set(account, (this.#refusedByAccount.get(account) ?? 0) + 1);
  }

  *#look(): Iterable<readonly [AccountId, number]> {
    const nowMs = this.parts.clock.nowMs();
    let messages = 0;
    let bytes = 0;
    for (const queue of this.parts.queues()) {
      const held = queue.fold.engine.heldAt(nowMs);
      messages += held.messages;
      bytes += held.bytes;
      queue.countedBytes = held.memoryBytes;
      yield [queue.account, held.memoryBytes];
    }
    this.#messages = messages;
    this.#bytes = bytes;
  }

  #looked(): void {
    const { usedBytes, limits, parts } = this;
    const beyond = Math.max(0, usedBytes + DEFAULT_BODY_MEMORY_BYTES - limits.memoryBytes);
    parts.bodies.giveWay(beyond);
    this.#tell();
  }

  /** Logs the account with the most refusals, and the number of refused accounts. */
  #tell(): void {
    this.#looksUntilTold -= 1;
    if (this.#looksUntilTold > 0 || this.#refusedByAccount.size === 0) return;
    this.#looksUntilTold = TELL_EVERY_LOOKS;
    const [[account, refused] = []] = [...this.#refusedByAccount].sort(([, a], [, b]) => b - a);
    this.parts.log.warn('queue.account-full', { account, refused, accounts: this.#refusedByAccount.size });
    this.#refusedByAccount.clear();
  }
}
