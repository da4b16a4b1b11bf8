/** A journal in which each append waits until the test decides its outcome. */

import type { ShardName } from '../../src/kernel/index.js';
import type { AppendOutcome, Clock, Journal, Timers } from '../../src/ports/index.js';
import { MemoryJournal } from './memory/index.js';

export interface HeldAppend {
  readonly bytes: Uint8Array;
  readonly expectedLast: number;
  /** Stores the entry and answers. */
  ack(): Promise<void>;
  /** Stores the entry and drops the answer. */
  loseAck(): Promise<void>;
  /** Drops the request. */
  loseRequest(): void;
  answer(outcome: AppendOutcome): void;
}

export class HeldJournal implements Journal {
  readonly held: HeldAppend[] = [];
  /** While true, appends are stored immediately. */
  isOpen = true;
  readonly #memory: MemoryJournal;

  constructor(shard: ShardName, clock: Clock, timers: Timers) {
    this.#memory = new MemoryJournal({ clock, timers });
    this.#memory.createStream(shard);
  }

  append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome> {
    if (this.isOpen) return this.#memory.append(shard, bytes, expectedLast);
    return new Promise((resolve) => {
      const store = () => this.#memory.append(shard, bytes, expectedLast);
      const unknown: AppendOutcome = { kind: 'unknown', cause: new Error('no answer') };
      this.held.push({
        bytes,
        expectedLast,
        ack: async () => resolve(await store()),
        loseAck: async () => {
          await store();
          resolve(unknown);
        },
        loseRequest: () => resolve(unknown),
        answer: resolve,
      });
    });
  }

  readAt: Journal['readAt'] = (shard, position) => this.#memory.readAt(shard, position);
  read: Journal['read'] = (shard, from, to) => this.#memory.read(shard, from, to);
  follow: Journal['follow'] = (shard, from, follower) => this.#memory.follow(shard, from, follower);
  tail: Journal['tail'] = (shard) => this.#memory.tail(shard);
  truncateFront: Journal['truncateFront'] = (shard, keepFrom) => this.#memory.truncateFront(shard, keepFrom);
}
