/**
 * Accepts the messages that were stored in the shard's intake while it had no owner: reads the intake while the actor
 * serves, and has each account accept its records in order.
 *
 *  IF1 the records of an account are accepted in order of position, with one command in progress
 *  IF2 a record is removed after the entry that accepted it is stored and all earlier records were accepted
 *  IF3 a bounded number of records is held; above it the intake waits until half of them are accepted
 *  IF4 a record that cannot be read, or is refused, was acknowledged: it and all later records stay in the intake
 *      until an operator has acted. Other accounts' records are still accepted; the account of a refused record waits
 *      (IF1)
 */
import { decodeIntakeRecord, type IntakeRecord } from '../../codec/queue/index.js';
import { type AcceptedIntake, bytesOfItems, MAX_COMMAND_MESSAGES } from '../../domain/queue/index.js';
import { type FollowingReader, followLog, Gate } from '../../journal/index.js';
import { type AccountId, describeError, getOrCreate, type MillraceError, type ShardName } from '../../kernel/index.js';
import type { IntakeLog, Log, Metrics, StoredMessage, Timer, Timers } from '../../ports/index.js';
import { QueueWork } from './queue-work.js';

export interface IntakeFollowerPorts {
  readonly intake: IntakeLog;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Sends the command to the actor that owns the shard. */
  submit(work: QueueWork): void;
}

export interface IntakeLimits {
  /** Records held, and their bytes. */
  readonly maxHeld: number;
  readonly maxHeldBytes: number;
  /** The largest number of bytes that one command accepts. */
  readonly maxTakenBytes: number;
  /** Pause after a failure. */
  readonly retryMs: number;
  /** Time between two alarms about records that stay in the intake. */
  readonly alarmEveryMs: number;
}

export const DEFAULT_INTAKE_LIMITS: IntakeLimits = {
  maxHeld: 10_000,
  maxHeldBytes: 32 * 1024 * 1024,
  maxTakenBytes: 512 * 1024,
  retryMs: 100,
  alarmEveryMs: 60_000,
};

/** Bytes of the intake that may wait in memory. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Unreadable records that are named singly; further ones are counted. */
export const MAX_NAMED_RECORDS = 100;

interface PendingRecord extends AcceptedIntake {
  readonly bytes: number;
}

export class IntakeFollower {
  readonly #heldByAccount = new Map<AccountId, PendingRecord[]>();
  /** Accounts with a command in progress. */
  readonly #busy = new Set<AccountId>();
  /** Positions that were read and are not accepted yet, in order. */
  readonly #open = new Set<number>();
  /** Accounts with a refused record: their later records are not accepted. */
  readonly #refused = new Set<AccountId>();
  #unreadable = 0;
  /** The first position that stays in the intake (IF4). */
  #keptFrom = Number.POSITIVE_INFINITY;
  #alarm: Timer | undefined;
  #bytes = 0;
  #readUpTo = 0;
  #trimmedUpTo = 0;
  #isTrimming = false;
  readonly #retries = new Set<Timer>();
  readonly #stop = new AbortController();
  readonly #gate = new Gate();

  constructor(
    private readonly ports: IntakeFollowerPorts,
    private readonly shard: ShardName,
    private readonly limits: IntakeLimits = DEFAULT_INTAKE_LIMITS,
  ) {}

  start(): void {
    const { intake, timers, log } = this.ports;
    const { shard } = this;
    const reader: FollowingReader = {
      follow: (from, follower) => intake.follow(shard, from, follower),
      begin: async () => this.#readUpTo,
      take: (batch, signal) => this.#hear(batch, signal),
      failed: (error) => {
        log.warn('intake.not-taken', { shard, cause: describeError(error) });
        return true;
      },
    };
    const following = { shard, maxQueuedBytes: MAX_QUEUED_BYTES, mayLackSome: true, retryMs: this.limits.retryMs };
    void followLog(timers, reader, following, this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
    this.#gate.look();
    this.#alarm?.cancel();
    for (const retry of this.#retries) retry.cancel();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #hear(batch: readonly StoredMessage[], signal: AbortSignal): Promise<void> {
    for (const { position, bytes } of batch) {
      this.#readUpTo = position;
      const record = this.#read(position, bytes);
      if (record === undefined) this.#keep(position);
      else if (!this.#refused.has(record.account)) {
        this.#hold(record.account, { position, items: record.items, bytes: bytesOfItems(record.items) });
      }
      if (this.#isFull) await this.#gate.until(() => this.#isRoomy || signal.aborted);
      if (signal.aborted) return;
    }
  }

  /** True when no more records may be held (IF3). */
  get #isFull(): boolean {
    return this.#open.size >= this.limits.maxHeld || this.#bytes >= this.limits.maxHeldBytes;
  }

  get #isRoomy(): boolean {
    return this.#open.size < this.limits.maxHeld / 2 && this.#bytes < this.limits.maxHeldBytes / 2;
  }

  #read(position: number, bytes: Uint8Array): IntakeRecord | undefined {
    try {
      return decodeIntakeRecord(bytes);
    } catch (error) {
      this.#unreadable += 1;
      if (this.#unreadable <= MAX_NAMED_RECORDS) {
        this.ports.log.error('intake.record-unreadable', { shard: this.shard, position, cause: describeError(error) });
      }
      return undefined;
    }
  }

  /** Keeps the record and all later ones in the intake (IF4). */
  #keep(position: number): void {
    this.#keptFrom = Math.min(this.#keptFrom, position);
    this.#trim();
    this.#alarm ??= this.ports.timers.every(this.limits.alarmEveryMs, () => {
      const counts = { unreadable: this.#unreadable, refusedAccounts: this.#refused.size };
      this.ports.log.error('intake.held-up', { shard: this.shard, from: this.#keptFrom, ...counts });
    });
  }

  #hold(account: AccountId, held: PendingRecord): void {
    getOrCreate(this.#heldByAccount, account, () => []).push(held);
    this.#open.add(held.position);
    this.#bytes += held.bytes;
    this.#take(account);
  }

  /** Sends as many of the account's records as fit into one command, at most `most`. */
  #take(account: AccountId, most = Number.POSITIVE_INFINITY): void {
    const held = this.#heldByAccount.get(account);
    if (held === undefined || this.#busy.has(account) || this.#isStopped) return;
    let bytes = 0;
    let messages = 0;
    const records: AcceptedIntake[] = [];
    for (const { position, items, bytes: added } of held) {
      const isTooMuch = bytes + added > this.limits.maxTakenBytes || messages + items.length > MAX_COMMAND_MESSAGES;
      if (records.length >= most || (records.length > 0 && isTooMuch)) break;
      bytes += added;
      messages += items.length;
      records.push({ position, items });
    }
    this.#busy.add(account);
    const work = new QueueWork(
      account,
      { type: 'TakeIntake', records },
      (reply) => {
        if (reply.type === 'Rejected') this.#rejected(account, records, reply.message);
        else this.#taken(account, records.length, messages);
      },
      (error) => this.#failed(account, error),
    );
    this.ports.submit(work);
  }

  #taken(account: AccountId, count: number, messages: number): void {
    this.#busy.delete(account);
    this.#release(account, count);
    this.ports.metrics.counter('millrace_intake_taken_total').add(messages);
    this.#take(account);
    this.#trim();
    this.#gate.look();
  }

  /** One of several records may be the cause, so the first is sent alone. */
  #rejected(account: AccountId, records: readonly AcceptedIntake[], reason: string): void {
    this.#busy.delete(account);
    if (records.length > 1) {
      this.#take(account, 1);
      return;
    }
    const { position } = records[0] as AcceptedIntake;
    this.ports.log.error('intake.refused', { shard: this.shard, account, position, reason });
    this.#refused.add(account);
    this.#release(account, Number.POSITIVE_INFINITY);
    this.#keep(position);
    this.#gate.look();
  }

  #release(account: AccountId, count: number): void {
    const held = this.#heldByAccount.get(account) as PendingRecord[];
    for (const { position, bytes } of held.splice(0, count)) {
      this.#open.delete(position);
      this.#bytes -= bytes;
    }
    if (held.length === 0) this.#heldByAccount.delete(account);
  }

  #failed(account: AccountId, error: MillraceError): void {
    if (this.#isStopped) return;
    this.ports.log.warn('intake.not-taken', { shard: this.shard, account, cause: describeError(error) });
    const retry = this.ports.timers.after(this.limits.retryMs, () => {
      this.#retries.delete(retry);
      this.#busy.delete(account);
      this.#take(account);
    });
    this.#retries.add(retry);
  }

  /** Removes accepted records (IF2). Positions enter the set in order, so the first is the lowest. */
  #trim(): void {
    const [lowestOpen = Number.POSITIVE_INFINITY] = this.#open;
    const upTo = Math.min(this.#readUpTo, lowestOpen - 1, this.#keptFrom - 1);
    if (this.#isTrimming || this.#isStopped || upTo <= this.#trimmedUpTo) return;
    this.#isTrimming = true;
    this.ports.intake.trim(this.shard, upTo).then(
      () => {
        this.#isTrimming = false;
        this.#trimmedUpTo = upTo;
        this.#trim();
      },
      (error: unknown) => {
        // The next accepted record tries again; records left over are skipped by their position.
        this.#isTrimming = false;
        this.ports.log.warn('intake.not-trimmed', { shard: this.shard, upTo, cause: describeError(error) });
      },
    );
  }
}
