/** Reads the meter's log for the statistics. An unreadable record is skipped with an alarm. */
import { decodeMeterRecord } from '../../codec/control/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log, StoredMessage } from '../../ports/index.js';
import { METER_SHARD, type MeterRecord } from '../../protocol/index.js';
import type { Checkpoint } from '../checkpoint.js';
import { type FoldTransaction, type FollowedSource, OtherJournal } from '../shard-follower.js';
import type { StatsStore } from './stats-store.js';

/** Records per transaction, which takes some milliseconds. */
const TRANSACTION_RECORDS = 500;

export class MeterSource implements FollowedSource {
  readonly shard = METER_SHARD;
  readonly noHash = new Uint8Array();

  constructor(
    private readonly store: Pick<StatsStore, 'applyMeter'>,
    private readonly log: Log,
    /** The model's name in log lines. */
    private readonly model: string,
    /** Whether a snapshot has all records before the log's first position. */
    private readonly knowsWhatIsGone: (first: number) => Promise<boolean>,
  ) {}

  async restore(known: Checkpoint, first: number): Promise<Checkpoint> {
    const { model, shard } = this;
    if (await this.knowsWhatIsGone(first)) {
      throw new OtherJournal('the first records of the meter log exist only in a snapshot');
    }
    this.log.warn('read-model.incomplete', {
      model,
      shard,
      first,
      reason: 'the first records of the log were removed',
    });
    return { ...known, position: first - 1, hasGap: true };
  }

  reader(): (batch: readonly StoredMessage[]) => Iterable<FoldTransaction> {
    return (batch) => this.#transactions(batch);
  }

  *#transactions(batch: readonly StoredMessage[]): Iterable<FoldTransaction> {
    for (let at = 0; at < batch.length; at += TRANSACTION_RECORDS) {
      const some = batch.slice(at, at + TRANSACTION_RECORDS);
      const { storedAtMs } = some.at(-1) as StoredMessage;
      const records = some.map((message) => ({ position: message.position, record: this.#read(message) }));
      yield { storedAtMs, apply: (before) => this.store.applyMeter(this.shard, records, before) };
    }
  }

  #read({ position, bytes }: StoredMessage): MeterRecord | undefined {
    try {
      return decodeMeterRecord(bytes);
    } catch (error) {
      this.log.error('meter.record-unreadable', { position, cause: describeError(error) });
      return undefined;
    }
  }
}
