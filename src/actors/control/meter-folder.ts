/**
 * Counts the meter's log into the control state: reads on from where the state says that it is counted,
 * and every few seconds asks the control actor to count what came, as one command.
 *
 * Nothing is lost by ending it anywhere: its successor begins at the position in the state. Nothing is
 * counted twice: the control actor skips positions and record numbers that it has counted.
 */
import { decodeMeterRecord } from '../../codec/control/index.js';
import { type MeteredRecord, NO_USAGE, searchReranks } from '../../domain/control/index.js';
import { type FollowingReader, followLog, Gate } from '../../journal/index.js';
import { describeError } from '../../kernel/index.js';
import { METER_SHARD, type MeterSearchRow } from '../../messages/index.js';
import type { Log, MeterLog, StoredMessage, Timer, Timers } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';

export interface MeterFolderPorts {
  readonly meterLog: MeterLog;
  readonly timers: Timers;
  readonly log: Log;
  /** It leads to the control actor of this process. */
  readonly client: ControlClient;
}

export interface MeterFolderLimits {
  readonly everyMs: number;
  /** Records of one command. */
  readonly maxRecords: number;
  /** Records held; beyond it the log waits. */
  readonly maxHeld: number;
}

export const DEFAULT_FOLDER_LIMITS: MeterFolderLimits = {
  // The count that a restart shows is at most this old plus a second, and the control journal grows by it.
  everyMs: 3000,
  // A second of a thousand processes.
  maxRecords: 1000,
  // After a long pause the log is read much faster than it is counted.
  maxHeld: 10_000,
};

/** What of the log may be held in memory while it waits. */
const MAX_QUEUED_BYTES = 1024 * 1024;

interface Read {
  readonly position: number;
  /** Undefined for one that cannot be read: it is passed over. */
  readonly record: MeteredRecord | undefined;
}

export class MeterFolder {
  #held: Read[] = [];
  #timer: Timer | undefined;
  readonly #stop = new AbortController();
  readonly #gate = new Gate();
  /** Everything up to it is counted. */
  #counted = 0;

  constructor(
    private readonly ports: MeterFolderPorts,
    private readonly limits: MeterFolderLimits = DEFAULT_FOLDER_LIMITS,
  ) {}

  /** @param counted the position up to which the state has counted */
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

  /** Has everything counted that was heard so far. Never rejects: what failed is asked again the next time. */
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

  /** @returns false when nothing was counted */
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

/** A search index is counted like a database: each request a command; its reranked units are a subject of their own. */
function rowsOf({ index, queries, updates, reranks, bytesIn, bytesOut }: MeterSearchRow): MeteredRecord['rows'] {
  const row = { ...NO_USAGE, database: index, commands: queries + updates, writes: updates, bytesIn, bytesOut };
  return reranks === 0 ? [row] : [row, { ...NO_USAGE, database: searchReranks(index), commands: reranks }];
}
