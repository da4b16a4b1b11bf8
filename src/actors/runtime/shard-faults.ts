/**
 * The failed checks of shards, and the shards that were stopped because their journal is in doubt: repeated damage, an
 * end that stays unreadable, or data of a newer release.
 */
import { describeError, isMillraceError, isUnreadable, MillraceError, type ShardName } from '../../kernel/index.js';
import { type Clock, type Log, RecurringFact } from '../../ports/index.js';

/** Damage seen this often in succession is not a stale read. */
const DAMAGE_TRIES = 5;
/** A late server returns the end of a journal within an election and a reconnect; a damaged store never does. */
const UNREADABLE_MS = 10_000;

export class ShardFaults {
  readonly #stopped = new Map<ShardName, MillraceError>();
  readonly #failures = new Map<ShardName, string>();
  readonly #failedChecks: RecurringFact;
  readonly #damageSeen = new Map<ShardName, number>();
  /** The time since which every check of the shard found the same position unreadable. */
  readonly #unreadable = new Map<ShardName, { readonly position: unknown; readonly sinceMs: number }>();

  constructor(private readonly ports: { readonly clock: Clock; readonly log: Log }) {
    this.#failedChecks = new RecurringFact(ports, 'shard.look-failed', 'shard.looks-well');
  }

  /** The reasons of failed last checks, by shard. */
  get failures(): ReadonlyMap<ShardName, string> {
    return this.#failures;
  }

  /** The stopped shards, with the reason. */
  get stopped(): ReadonlyMap<ShardName, MillraceError> {
    return this.#stopped;
  }

  checkSucceeded(shard: ShardName): void {
    this.#failures.delete(shard);
    this.#unreadable.delete(shard);
    if (this.#failures.size === 0) this.#failedChecks.isWell();
  }

  checkFailed(shard: ShardName, error: unknown): void {
    const cause = describeError(error);
    this.#failures.set(shard, cause);
    this.#failedChecks.happened({ shard, shards: this.#failures.size, cause });
    this.#noteUnreadable(shard, error);
    this.noteDamage(shard, error);
  }

  /**
   * Counts an error of unreadable data. A late replica can look like damage once (JN7: reads may be stale); repeated
   * damage is real. Data of a newer release stays unreadable.
   */
  noteDamage(shard: ShardName, reason: unknown): void {
    if (!isUnreadable(reason)) return;
    const seen = (this.#damageSeen.get(shard) ?? 0) + 1;
    this.#damageSeen.set(shard, seen);
    if (seen >= DAMAGE_TRIES || reason.code === 'NEWER_FORMAT') this.stop(shard, reason);
  }

  /** The shard was replayed without an error. */
  served(shard: ShardName): void {
    this.#damageSeen.delete(shard);
  }

  stop(shard: ShardName, reason: MillraceError): void {
    this.#stopped.set(shard, reason);
    this.#failures.delete(shard);
    this.#unreadable.delete(shard);
    this.ports.log.error('shard.stopped', { shard, cause: describeError(reason), details: reason.details });
  }

  /** Counts the time of an unreadable end. Any other failure in between, such as a lost connection, restarts it. */
  #noteUnreadable(shard: ShardName, reason: unknown): void {
    const position = isMillraceError(reason, 'JOURNAL_UNAVAILABLE') ? reason.details.unreadable : undefined;
    const nowMs = this.ports.clock.monotonicMs();
    const known = this.#unreadable.get(shard);
    if (position === undefined) this.#unreadable.delete(shard);
    else if (known?.position !== position) this.#unreadable.set(shard, { position, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= UNREADABLE_MS) {
      this.stop(shard, new MillraceError('JOURNAL_DAMAGED', describeError(reason), { shard, position }));
    }
  }
}
