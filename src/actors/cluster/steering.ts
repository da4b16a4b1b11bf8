/**
 * What an operator wishes of the placement of shards, written into the lease bucket: processes read it there, and shards
 * follow by planned hand-overs.
 *
 *  STE1 the same wish twice is one wish, and a change of somebody else at the same moment is not lost
 *  STE2 at most `MAX_DRAINED` processes are drained; those that are gone make room
 */
import { decodeWishes, encodeWishes, type Wishes } from '../../codec/leases/index.js';
import { MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { Clock, LeaseStore } from '../../ports/index.js';
import { NO_WISHES, WISHES_KEY } from '../runtime/index.js';
import { MAX_DRAINED, MAX_WISH_TRIES } from './cluster-limits.js';

export class Steering {
  constructor(
    private readonly ports: { readonly leases: Pick<LeaseStore, 'get' | 'create' | 'update'>; readonly clock: Clock },
    /** A person reads it. */
    private readonly by: string,
  ) {}

  /** @param isThere  does the process answer? @throws CONFLICT when too many are drained that are */
  drain(process: SessionId, isThere: (process: SessionId) => boolean): Promise<void> {
    return this.#change(({ drained, moves }) => {
      if (drained.some((one) => one.process === process)) return undefined;
      const kept = drained.length < MAX_DRAINED ? drained : drained.filter((one) => isThere(one.process));
      if (kept.length >= MAX_DRAINED) {
        throw new MillraceError('CONFLICT', `${MAX_DRAINED} processes are drained, and more cannot be: undrain some`);
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

  /** @param process  undefined: wherever it belongs by itself */
  move(shard: ShardName, process: SessionId | undefined): Promise<void> {
    return this.#change(({ drained, moves }) => {
      if (moves.find((one) => one.shard === shard)?.process === process) return undefined;
      const others = moves.filter((one) => one.shard !== shard);
      if (process === undefined) return { drained, moves: others };
      return { drained, moves: [...others, { process, by: this.by, atMs: this.ports.clock.nowMs(), shard }] };
    });
  }

  /** STE1. @param change  undefined: there is nothing to change. @throws JOURNAL_UNAVAILABLE, CONFLICT */
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
    throw new MillraceError('CONFLICT', 'what is wished is being changed by others: try again');
  }
}
