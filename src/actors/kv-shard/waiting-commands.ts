/**
 * Commands that wait for a key of one partition, in the order of their arrival.
 *
 *  WC1 of the commands that wait for a key, the one that came first is served first
 *  WC2 a command leaves once: served, timed out, unblocked, or rejected with its actor's end
 */
import { type Blocked, ErrorReply, findCommand, type KeyChanges, type Reply } from '../../domain/kv/index.js';
import { type ByteString, getOrCreate } from '../../kernel/index.js';
import type { KvWork } from './kv-work.js';

export interface WaitingCommand {
  readonly work: KvWork;
  readonly words: readonly ByteString[];
  readonly keys: readonly ByteString[];
  /** On the monotonic clock. */
  readonly untilMs: number;
  readonly onTimeout: Reply;
}

const UNBLOCKED = new ErrorReply('UNBLOCKED client unblocked via CLIENT UNBLOCK');

export class WaitingCommands {
  readonly #waitersByName = new Map<string, WaitingCommand>();
  readonly #waitersByKey = new Map<ByteString, Set<WaitingCommand>>();
  #earliestMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#waitersByName.size;
  }

  get keyCount(): number {
    return this.#waitersByKey.size;
  }

  get groupKeyCount(): number {
    let count = 0;
    for (const waiters of this.#waitersByKey.values()) {
      if ([...waiters].some(({ words }) => findCommand(words)?.waitsForGroup === true)) count += 1;
    }
    return count;
  }

  /** The earliest timeout; undefined when no command has one. */
  get earliestMs(): number | undefined {
    return this.#earliestMs === Number.POSITIVE_INFINITY ? undefined : this.#earliestMs;
  }

  add(work: KvWork, words: readonly ByteString[], blocked: Blocked, nowMs: number, changes: KeyChanges): void {
    const untilMs = blocked.timeoutMs === 0 ? Number.POSITIVE_INFINITY : nowMs + blocked.timeoutMs;
    const keys = [...new Set(blocked.keys)];
    const waiter: WaitingCommand = { work, words: blocked.words ?? words, keys, untilMs, onTimeout: blocked.onTimeout };
    this.#waitersByName.set(work.request.waiter as string, waiter);
    for (const key of keys) {
      getOrCreate(this.#waitersByKey, key, () => new Set()).add(waiter);
      changes.await(key);
    }
    if (untilMs < this.#earliestMs) this.#earliestMs = untilMs;
  }

  /** The commands that wait for the key, in order. A copy, because commands leave during iteration. */
  waitingFor(key: ByteString): WaitingCommand[] {
    return [...(this.#waitersByKey.get(key) ?? [])];
  }

  isWaiting(waiter: WaitingCommand): boolean {
    return this.#waitersByName.get(waiter.work.request.waiter as string) === waiter;
  }

  remove(waiter: WaitingCommand, changes: KeyChanges | undefined): void {
    this.#waitersByName.delete(waiter.work.request.waiter as string);
    for (const key of waiter.keys) {
      const waiting = this.#waitersByKey.get(key);
      waiting?.delete(waiter);
      if (waiting?.size === 0) this.#waitersByKey.delete(key);
      changes?.stopAwaiting(key);
    }
  }

  /** Ends the wait of the named command. @returns its reply, or undefined when no such command waits */
  dismiss(
    name: string,
    how: string,
    changes: KeyChanges | undefined,
  ): { waiter: WaitingCommand; reply: Reply } | undefined {
    const waiter = this.#waitersByName.get(name);
    if (waiter === undefined) return undefined;
    this.remove(waiter, changes);
    return { waiter, reply: how === 'ERROR' ? UNBLOCKED : waiter.onTimeout };
  }

  /** Removes the commands whose timeout is over. */
  takeOverdue(nowMs: number, changes: KeyChanges | undefined): WaitingCommand[] {
    if (nowMs < this.#earliestMs) return [];
    const overdue: WaitingCommand[] = [];
    let earliest = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waitersByName.values()) {
      if (waiter.untilMs <= nowMs) overdue.push(waiter);
      else if (waiter.untilMs < earliest) earliest = waiter.untilMs;
    }
    this.#earliestMs = earliest;
    for (const waiter of overdue) this.remove(waiter, changes);
    return overdue;
  }

  /** Removes all commands. */
  clear(): KvWork[] {
    const works = [...this.#waitersByName.values()].map(({ work }) => work);
    this.#waitersByName.clear();
    this.#waitersByKey.clear();
    this.#earliestMs = Number.POSITIVE_INFINITY;
    return works;
  }

  /** The partition was rebuilt: its key changes are a new object. */
  moveTo(changes: KeyChanges): void {
    for (const waiter of this.#waitersByName.values()) for (const key of waiter.keys) changes.await(key);
  }
}
