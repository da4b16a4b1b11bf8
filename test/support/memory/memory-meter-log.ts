/**
 * The meter's log on a journal that expects one writer at a time: reads the end of the journal, and repeats that
 * after a conflict with another writer.
 */
import { MillraceError, type ShardName } from '../../../src/kernel/index.js';
import type { Journal, JournalFollower, MeterLog, Subscription } from '../../../src/ports/index.js';
import { METER_SHARD } from '../../../src/protocol/index.js';

/** A test has few writers, so more consecutive conflicts are a mistake. */
const MAX_TRIES = 100;

export class MemoryMeterLog implements MeterLog {
  constructor(
    private readonly journal: Journal,
    private readonly shard: ShardName = METER_SHARD,
  ) {}

  async append(bytes: Uint8Array): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { last } = await this.journal.tail(this.shard);
      const outcome = await this.journal.append(this.shard, bytes, last);
      if (outcome.kind === 'stored') return;
      if (outcome.kind !== 'conflict') break;
    }
    throw new MillraceError('JOURNAL_UNAVAILABLE', 'a meter record was not stored', { shard: this.shard });
  }

  follow(from: number, follower: JournalFollower): Subscription {
    return this.journal.follow(this.shard, from, follower);
  }
}
