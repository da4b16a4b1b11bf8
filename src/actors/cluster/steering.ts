/**
 * Stores an operator's wishes for the placement of shards in the lease bucket. Processes read them there, and move
 * shards accordingly.
 *
 *  STE1 a repeated wish is one wish, and a change that another operator makes at the same moment is kept
 *  STE2 at most `MAX_DRAINED` processes are drained; ended processes are removed to make room
 */
import { decodeWishes, encodeWishes, type Wishes } from '../../codec/leases/index.js';
import { MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { Clock, LeaseStore } from '../../ports/index.js';
import { NO_WISHES, WISHES_KEY } from '../runtime/index.js';
import { MAX_DRAINED, MAX_WISH_TRIES } from './cluster-limits.js';

export class Steering {
  constructor(
    private readonly ports: { readonly leases: Pick<LeaseStore, 'get' | 'create' | 'update'>; readonly clock: Clock },
    /** The operator, for people who read the wishes. */
    private readonly by: string,
  ) {}

  /**
   * @param isThere true for a process that answers. @throws CONFLICT when too many processes that answer are drained
   */
  drain(process: SessionId, isThere: (process: SessionId) => boolean): Promise<void> {
    return this.#change(({ drained, moves }) => {
      if (drained.some((one) => one.process === process)) return undefined;
      const kept = drained.length < MAX_DRAINED ? drained : drained.filter((one) => isThere(one.process));
      if (kept.length >= MAX_DRAINED) {
        throw new MillraceError(
          'CONFLICT',
          `${MAX_DRAINED} processes are drained, which is the maximum: undrain one first`,
        );
      }
      const wish = { process, by: this.by, atMs: this.ports.clock.nowMs() };
      return { drained: [...kept, wish], moves: moves.filter((one) => one.process !== process) };
    });
  }

  undrain(process: SessionId): Promise<void> {
    return this.#change(({ drained, moves }) => {
      const others = drained.filter((one) => one.process !== process);
      return others.length === drained.length ? undefined : { drained: others, moves };
    });
  }

  /** @param process  undefined cancels the wish: placement decides */
  move(shard: ShardName, process: SessionId | undefined): Promise<void> {
    return this.#change(({ drained, moves }) => {
      if (moves.find((one) => one.shard === shard)?.process === process) return undefined;
      const others = moves.filter((one) => one.shard !== shard);
      if (process === undefined) return { drained, moves: others };
      return { drained, moves: [...others, { process, by: this.by, atMs: this.ports.clock.nowMs(), shard }] };
    });
  }

  /**
   * Stores a change by compare-and-set, so that a simultaneous change is kept (STE1). @param change returns undefined
   * when there is nothing to change. @throws JOURNAL_UNAVAILABLE, CONFLICT
   */
  async #change(change: (wishes: Wishes) => Wishes | undefined): Promise<void> {
    const { leases } = this.ports;
    for (let tries = 0; tries < MAX_WISH_TRIES; tries += 1) {
      const record = await leases.get(WISHES_KEY);
      const changed = change(record === undefined ? NO_WISHES : decodeWishes(record.value));
      if (changed === undefined) return;
      const value = encodeWishes(changed);
      const outcome =
        record === undefined
          ? await leases.create(WISHES_KEY, value)
          : await leases.update(WISHES_KEY, value, record.revision);
      if (outcome.kind === 'stored') return;
    }
    throw new MillraceError('CONFLICT', 'the requested placement is being changed by another command: try again');
  }
}
