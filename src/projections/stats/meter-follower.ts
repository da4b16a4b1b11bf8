/**
 * Folds the meter's log into the statistics, from its checkpoint on and for as long as it is not stopped. What fails is
 * begun again from the checkpoint after a pause; a record that cannot be read is passed over, with an alarm.
 */
import { decodeMeterRecord } from '../../codec/control/index.js';
import { describeError, type ShardName } from '../../kernel/index.js';
import { METER_SHARD, type MeterRecord } from '../../messages/index.js';
import { type Clock, type Journal, type Log, SqlFailure, type StoredMessage, type Timers } from '../../ports/index.js';
import { follow } from '../bounded-feed.js';
import { Progress, type ShardLag } from '../progress.js';
import type { FollowerOptions } from '../shard-follower.js';
import type { StatsCheckpoint, StatsStore } from './stats-store.js';

export interface MeterFollowerPorts {
  readonly journal: Pick<Journal, 'tail' | 'follow'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
}

/** Of one transaction: some milliseconds each way. */
const TRANSACTION_RECORDS = 500;
const NO_HASH = new Uint8Array();

/** The log is not the one that the checkpoint is of, or goes on far behind it. */
class OtherLog extends Error {}

export class MeterFollower {
  readonly shard: ShardName = METER_SHARD;
  /** Has folded what was stored when it began. */
  isCaughtUp = false;
  hasGap = false;
  readonly #progress: Progress;
  #lastAtStart = 0;

  constructor(
    private readonly ports: MeterFollowerPorts,
    private readonly store: StatsStore,
    private readonly options: FollowerOptions,
    /** Whether a snapshot has all that stood before the log's first position. */
    private readonly knowsWhatIsGone: (first: number) => Promise<boolean> = async () => false,
  ) {
    this.#progress = new Progress(ports.clock);
  }

  get lag(): ShardLag {
    return this.#progress.lag;
  }

  get ageMs(): number | undefined {
    return this.#progress.ageMs;
  }

  get trouble(): string | undefined {
    return this.#progress.trouble;
  }

  /** @returns the reason why the whole file has to be discarded; undefined when it was stopped */
  async run(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      try {
        await this.#followFromCheckpoint(signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof OtherLog) return error.message;
        if (error instanceof SqlFailure && error.isDamaged) return describeError(error);
        const reason = describeError(error);
        this.#progress.trouble = reason;
        const { model } = this.options;
        this.ports.log.warn('read-model.held-up', { model, shard: this.shard, reason });
        await this.ports.timers.pause(this.options.retryMs);
      }
    }
    return undefined;
  }

  async #followFromCheckpoint(signal: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    const { lingerMs, maxQueuedBytes } = this.options;
    let checkpoint = await this.#beginning();
    const onIdle = () => this.#progress.idle();
    const feed = { signal, lingerMs, maxQueuedBytes, onIdle };
    for await (const batch of follow(journal, timers, this.shard, checkpoint.position + 1, feed)) {
      const newest = batch.at(-1) as StoredMessage;
      for (let at = 0; at < batch.length; at += TRANSACTION_RECORDS) {
        const some = batch.slice(at, at + TRANSACTION_RECORDS);
        for (let busy = this.store.whenFree(); busy !== undefined; busy = this.store.whenFree()) await busy;
        if (signal.aborted) return;
        checkpoint = this.store.applyMeter(
          this.shard,
          some.map((message) => ({ position: message.position, record: this.#read(message) })),
          checkpoint,
        );
        this.#progress.knownLast = Math.max(this.#progress.knownLast, newest.position);
        this.#progress.folded(checkpoint.position, (some.at(-1) as StoredMessage).storedAtMs);
        this.#stand(checkpoint);
        await timers.breathe();
        if (signal.aborted) return;
      }
    }
  }

  async #beginning(): Promise<StatsCheckpoint> {
    const { first, last, createdAt } = await this.ports.journal.tail(this.shard);
    const known = this.store.checkpoint(this.shard);
    if (known !== undefined && known.createdAt !== createdAt)
      throw new OtherLog('the meter has another log than before');
    const none = { createdAt, position: 0, entry: 0, hash: NO_HASH, clockMs: 0, hasGap: false, dlqFrom: 0 };
    let checkpoint = known ?? none;
    if (checkpoint.position + 1 < first) {
      if (await this.knowsWhatIsGone(first)) throw new OtherLog("the front of the meter's log is in a snapshot alone");
      checkpoint = { ...checkpoint, position: first - 1, hasGap: true };
      this.ports.log.warn('read-model.incomplete', {
        model: this.options.model,
        shard: this.shard,
        first,
        reason: 'the front of the log is gone',
      });
      this.store.setCheckpoint(this.shard, checkpoint);
    }
    this.#lastAtStart = last;
    this.#progress.begins(checkpoint.position, last, checkpoint.clockMs);
    this.#stand(checkpoint);
    return checkpoint;
  }

  #stand({ position, hasGap }: StatsCheckpoint): void {
    this.hasGap = hasGap;
    if (position >= this.#lastAtStart) this.isCaughtUp = true;
  }

  #read({ position, bytes }: StoredMessage): MeterRecord | undefined {
    try {
      return decodeMeterRecord(bytes);
    } catch (error) {
      this.ports.log.error('meter.record-unreadable', { position, cause: describeError(error) });
      return undefined;
    }
  }
}
