/**
 * Copies of shards that this process will own next, replayed while their owners still serve them. After the release
 * only the last entries are left to replay.
 *
 *  FOL1 a few shards at a time, each for a bounded time, because a copy needs the memory of the shard and reads its
 *       journal
 *  FOL2 a copy is valid only for the activation directly after the followed one, in the session that began it, and
 *       only when the owner released the shard in order; otherwise the shard is replayed from its snapshot
 *  FOL3 a failed copy counts as no copy: the owner that replays the journal finds its fault again
 */
import type { ShardLease } from '../../codec/leases/index.js';
import { MillraceError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { Clock, Log } from '../../ports/index.js';
import type { ShardActor } from './shard-actor.js';
import type { Work } from './work.js';

const MAX_COPIES = 4;
/** An owner releases a shard within seconds after it was told of the copy; an older copy is started again. */
const LEVEL_MS = 60_000;
/** A process with few processors needs long for a replay, which its owner waits for. */
const REPLAY_MS = 300_000;
/** Pause after a failed copy. */
const AGAIN_AFTER_MS = 10_000;

interface Copy<W extends Work> {
  readonly actor: ShardActor<W>;
  readonly session: SessionId;
  /** Since its start or, once it has caught up, since then. */
  sinceMs: number;
  isLevel: boolean;
}

export class FollowedShards<W extends Work> {
  readonly #copies = new Map<ShardName, Copy<W>>();
  /** Shards that are followed when a copy is taken or ends (FOL1). */
  readonly #waiting = new Set<ShardName>();
  readonly #notBeforeMs = new Map<ShardName, number>();

  constructor(
    private readonly ports: { readonly clock: Clock; readonly log: Log },
    /** Creates an actor for the activation after this lease. */
    private readonly create: (shard: ShardName, epoch: number) => ShardActor<W>,
    /** Checks a shard soon: its copy is level, or it can be followed now. */
    private readonly look: (shard: ShardName) => void,
  ) {}

  /**
   * Called at each check of a shard that another process owns and this one is to own.
   * @returns true when the copy has nearly caught up with the owner
   */
  follow(shard: ShardName, { epoch }: ShardLease, session: SessionId): boolean {
    const nowMs = this.ports.clock.monotonicMs();
    const copy = this.#copies.get(shard);
    if (copy === undefined) {
      if ((this.#notBeforeMs.get(shard) ?? 0) > nowMs) return false;
      if (this.#copies.size >= MAX_COPIES) {
        this.#waiting.add(shard);
        return false;
      }
      const actor = this.create(shard, epoch + 1);
      this.#copies.set(shard, { actor, session, sinceMs: nowMs, isLevel: false });
      this.ports.log.info('shard.following', { shard, epoch });
      actor.follow(() => this.look(shard));
      return false;
    }
    if (!copy.isLevel && copy.actor.isLevel) [copy.isLevel, copy.sinceMs] = [true, nowMs];
    const isOver = copy.actor.isEnded || nowMs - copy.sinceMs > (copy.isLevel ? LEVEL_MS : REPLAY_MS);
    if (isOver) this.#notBeforeMs.set(shard, nowMs + AGAIN_AFTER_MS);
    if (isOver || copy.actor.epoch !== epoch + 1 || copy.session !== session) {
      this.drop(shard);
      return false;
    }
    return copy.actor.isLevel;
  }

  /**
   * Takes the copy if it is valid (FOL2). @returns an actor to start, undefined when there is none for this activation
   */
  take(shard: ShardName, epoch: number, session: SessionId): ShardActor<W> | undefined {
    const copy = this.#copies.get(shard);
    if (copy === undefined) return undefined;
    if (copy.actor.isEnded || copy.actor.epoch !== epoch || copy.session !== session) {
      this.drop(shard);
      return undefined;
    }
    this.#copies.delete(shard);
    this.#followWaiting();
    return copy.actor;
  }

  drop(shard: ShardName): void {
    const copy = this.#copies.get(shard);
    if (copy === undefined) return;
    this.#copies.delete(shard);
    copy.actor.end(new MillraceError('SHUTTING_DOWN', `${shard} is followed no longer`));
    this.#followWaiting();
  }

  dropAll(): void {
    this.#waiting.clear();
    for (const shard of [...this.#copies.keys()]) this.drop(shard);
  }

  #followWaiting(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.look(next);
  }
}
