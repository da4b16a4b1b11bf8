/**
 * Counts the meter's log into the control state: it continues at the position that the state has counted, and every few
 * seconds sends the new records to the control actor in one command.
 *
 * It may end at any point without loss, because its successor begins at the position in the state. Records are counted
 * once, because the control actor skips positions and record numbers that it has counted.
 */
import { decodeMeterRecord } from '../../codec/control/index.js';
import { type MeteredRecord, NO_USAGE, searchReranks } from '../../domain/control/index.js';
import { type FollowingReader, followLog, Gate } from '../../journal/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log, MeterLog, StoredMessage, Timer, Timers } from '../../ports/index.js';
import { METER_SHARD, type MeterSearchRow } from '../../protocol/index.js';
import type { ControlClient } from './control-client.js';

export interface MeterFolderPorts {
  readonly meterLog: MeterLog;
  readonly timers: Timers;
  readonly log: Log;
  /** Leads to the control actor of this process. */
  readonly client: ControlClient;
}

export interface MeterFolderLimits {
  readonly everyMs: number;
  /** Records of one command. */
  readonly maxRecords: number;
  /** Records held; above this number the log waits. */
  readonly maxHeld: number;
}

export const DEFAULT_FOLDER_LIMITS: MeterFolderLimits = {
  // After a restart the count is at most this old plus a second; the control journal grows with each count.
  everyMs: 3000,
  // One second of a thousand processes.
  maxRecords: 1000,
  // After a long pause the log is read much faster than it is counted.
  maxHeld: 10_000,
};

/** Bytes of the log that may wait in memory. */
const MAX_QUEUED_BYTES = 1024 * 1024;

interface Read {
  readonly position: number;
  /** Undefined for a record that cannot be read: it is skipped. */
  readonly record: MeteredRecord | undefined;
}

export class MeterFolder {
  #held: Read[] = [];
  #timer: Timer | undefined;
  readonly #stop = new AbortController();
  readonly #gate = new Gate();
  /** The position up to which everything is counted. */
  #counted = 0;

  constructor(
    private readonly ports: MeterFolderPorts,
    private readonly limits: MeterFolderLimits = DEFAULT_FOLDER_LIMITS,
  ) {}

  /** @param counted  the position up to which the state has counted */
  start(counted: number): void {
    this.#counted = counted;
    const { meterLog, timers, log } = this.ports;
    const reader: FollowingReader = {
      follow: (from, follower) => meterLog.follow(from, follower),
      begin: async () => this.#held.at(-1)?.position ?? this.#counted,
      take: (batch, signal) => this.#take(batch, signal),
      failed: (error) => {
        log.warn('meter.fold-failed', { cause: describeError(error) });
        return true;
      },
    };
    const retryMs = this.limits.everyMs;
    const following = { shard: METER_SHARD, maxQueuedBytes: MAX_QUEUED_BYTES, mayLackSome: true, retryMs };
    void followLog(timers, reader, following, this.#stop.signal);
    this.#timer = timers.every(this.limits.everyMs, () => this.fold());
  }

  stop(): void {
    this.#stop.abort();
    this.#gate.look();
    this.#timer?.cancel();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #take(batch: readonly StoredMessage[], signal: AbortSignal): Promise<void> {
    for (const message of batch) {
      await this.#gate.until(() => this.#held.length < this.limits.maxHeld || signal.aborted);
      if (signal.aborted) return;
      this.#held.push(this.#read(message));
    }
  }

  #read({ position, bytes }: StoredMessage): Read {
    try {
      const { session, number, day, rows, searches = [] } = decodeMeterRecord(bytes);
      return { position, record: { position, session, number, day, rows: [...rows, ...searches.flatMap(rowsOf)] } };
    } catch (error) {
      this.ports.log.error('meter.record-unreadable', { position, cause: describeError(error) });
      return { position, record: undefined };
    }
  }

  /** Counts all records received so far. Never rejects: the next call repeats failed ones. */
  async fold(): Promise<void> {
    try {
      while (this.#held.length > 0 && !this.#isStopped) {
        if (!(await this.#foldSome())) break;
      }
    } catch (error) {
      this.ports.log.warn('meter.fold-failed', { cause: describeError(error) });
    }
    this.#gate.look();
  }

  /** @returns false when none was counted */
  async #foldSome(): Promise<boolean> {
    const some = this.#held.slice(0, this.limits.maxRecords);
    const position = (some.at(-1) as Read).position;
    const records = some.flatMap(({ record }) => record ?? []);
    const after = this.#counted;
    const reply = await this.ports.client.send({ type: 'FoldMeter', after, position, records });
    if (reply.type !== 'MeterIsFolded' || reply.position <= after) return false;
    this.#counted = reply.position;
    this.#held = this.#held.filter((read) => read.position > reply.position);
    return true;
  }
}

/** A search index is counted like a database, each request as a command; its reranked units are a separate subject. */
function rowsOf({ index, queries, updates, reranks, bytesIn, bytesOut }: MeterSearchRow): MeteredRecord['rows'] {
  const row = { ...NO_USAGE, database: index, commands: queries + updates, writes: updates, bytesIn, bytesOut };
  return reranks === 0 ? [row] : [row, { ...NO_USAGE, database: searchReranks(index), commands: reranks }];
}
