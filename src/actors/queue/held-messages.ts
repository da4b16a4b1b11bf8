/**
 * What the accounts that are loaded here hold, and how much each of them may. An account is one partition, so all that
 * it holds is in one process, and is counted whole.
 *
 *  HQ1 an account has as many messages, and as many bytes of them, as the settings say, and `ACCOUNT_SHARE` of the memory
 *      that the process has for messages (`runtime/held-memory.ts` has the rule)
 *  HQ2 runs in progress may lead a quarter beyond the first two, and have what is left of the memory
 *  HQ3 bodies in memory give way to messages: they can be read again, messages cannot
 */
import { FOR_RUNS, type Held, type HeldBounds, type QueueBounds } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import type { Clock, Counter, Log, Timers } from '../../ports/index.js';
import { HeldMemory } from '../runtime/index.js';
import type { AccountQueue } from './account-queue.js';
import { type BodyMemory, DEFAULT_BODY_MEMORY_BYTES } from './body-memory.js';

/** The part of the memory for messages that one account may have: alone it may wait with a lot, and seldom stays alone. */
export const ACCOUNT_SHARE = 0.9;
/** Between two lines that accounts are refused. */
const TELL_EVERY_LOOKS = 60;

/** `messages` and `bytes` of one account, `memoryBytes` of all together. */
export type HeldLimits = HeldBounds;

export interface HeldMessagesParts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly bodies: BodyMemory;
  /** Calls that were refused. */
  readonly refused: Counter;
  queues(): Iterable<AccountQueue>;
}

export class HeldMessages {
  readonly #memory: HeldMemory<AccountId>;
  #messages = 0;
  #bytes = 0;
  /** Since the last line. */
  readonly #refusedByAccount = new Map<AccountId, number>();
  #looksUntilTold = 0;

  constructor(
    readonly limits: HeldLimits,
    private readonly parts: HeldMessagesParts,
  ) {
    const { timers, log } = parts;
    this.#memory = new HeldMemory(limits.memoryBytes, ACCOUNT_SHARE, {
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

  /** The messages of all accounts, when they were looked at last. */
  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** They hold for what is asked of the account while it is loaded. */
  boundsOf(queue: AccountQueue): (held: Held) => QueueBounds {
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

  /** Which account was refused most, and how many were. */
  #tell(): void {
    this.#looksUntilTold -= 1;
    if (this.#looksUntilTold > 0 || this.#refusedByAccount.size === 0) return;
    this.#looksUntilTold = TELL_EVERY_LOOKS;
    const [[account, refused] = []] = [...this.#refusedByAccount].sort(([, a], [, b]) => b - a);
    this.parts.log.warn('queue.account-full', { account, refused, accounts: this.#refusedByAccount.size });
    this.#refusedByAccount.clear();
  }
}
