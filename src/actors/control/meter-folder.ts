/**
 * Counts the meter's log into the control state: reads on from where the state says that it is counted,
 * and every few seconds asks the control actor to count what came, as one command.
 *
 * Nothing is lost by ending it anywhere: its successor begins at the position in the state. Nothing is
 * counted twice: the control actor skips positions and record numbers that it has counted.
 */
import { decodeMeterRecord } from '../../codec/control/index.js';
import { type MeteredRecord, NO_USAGE, searchReranks } from '../../domain/control/index.js';
import { describeError } from '../../kernel/index.js';
import type { MeterSearchRow } from '../../messages/index.js';
import type { Log, MeterLog, StoredMessage, Subscription, Timer, Timers } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';

export interface MeterFolderPorts {
  readonly meterLog: MeterLog;
  readonly timers: Timers;
  readonly log: Log;
  /** To the control actor of this process. */
  readonly client: ControlClient;
}

export interface MeterFolderLimits {
  readonly everyMs: number;
  /** Records of one command. */
  readonly maxRecords: number;
  /** Records held; beyond it the log is followed again later. */
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

interface Read {
  readonly position: number;
  /** Undefined for one that cannot be read: it is passed over. */
  readonly record: MeteredRecord | undefined;
}

export class MeterFolder {
  #held: Read[] = [];
  #subscription: Subscription | undefined;
  #timer: Timer | undefined;
  #isStopped = true;
  /** Everything up to it is counted. */
  #counted = 0;

  constructor(
    private readonly ports: MeterFolderPorts,
    private readonly limits: MeterFolderLimits = DEFAULT_FOLDER_LIMITS,
  ) {}

  /** @param counted the position up to which the state has counted */
  start(counted: number): void {
    this.#isStopped = false;
    this.#counted = counted;
    this.#follow();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#subscription?.stop();
    this.#subscription = undefined;
    this.#timer?.cancel();
  }

  #follow(): void {
    this.#subscription?.stop();
    const last = this.#held.at(-1)?.position ?? this.#counted;
    this.#subscription = this.ports.meterLog.follow(last + 1, {
      onMessage: (message) => this.#take(message),
      onAlive: () => undefined,
    });
  }

  #take(message: StoredMessage): void {
    if (this.#isStopped || this.#subscription === undefined) return;
    this.#held.push(this.#read(message));
    if (this.#held.length < this.limits.maxHeld) return;
    this.#subscription.stop();
    this.#subscription = undefined;
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

  #schedule(): void {
    this.#timer = this.ports.timers.after(this.limits.everyMs, () => {
      void this.fold().then(() => {
        if (!this.#isStopped) this.#schedule();
      });
    });
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
    if (!this.#isStopped && this.#subscription === undefined) this.#follow();
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
