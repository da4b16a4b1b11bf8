/**
 * What waits in a mailbox: one request of one tenant, and who to tell. Also what an actor asks of the
 * plane it hosts. The runtime knows nothing of Redis commands or control events beyond this page.
 */

import type { ReadEntry } from '../../codec/envelope/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import type { CommandId, MillraceError, PartitionName } from '../../kernel/index.js';
import type { Manifest } from '../../messages/index.js';
import type { WorkTrace } from './work-trace.js';

export interface Work {
  /** Database or account: what fairness is kept between. */
  readonly tenant: string;
  readonly bytes: number;
  readonly commands: number;
  /** A remote caller gives it; it is written into the entry, so that a successor can tell what became of the command. */
  readonly commandId?: CommandId | undefined;
  /** On the actor's monotonic clock: it is not begun after this. Infinite for those who wait in this process. */
  deadlineMs: number;
  /** True once any of it may have been executed. */
  readonly hasBegun: boolean;
  /** True while one of its commands is half done: that one has to come to its end. */
  readonly isHalfway?: boolean;
  /** Monotonic instant it was put in, for the longest wait while state is loading. */
  enteredAtMs: number;
  /** The turn whose entry the answer depends on; 0: none. */
  waitsForTurn: number;
  /** True once any of its effects is in a turn. */
  hasWritten: boolean;
  /** Somebody is told of what it has published or done. */
  readonly hasSaid?: boolean;
  /** Left out: it is not traced. */
  readonly trace?: WorkTrace | undefined;
  /** Gives the answer. `position` is the shard's last stored one. */
  release(position: number): void;
  reject(error: MillraceError): void;
  /** Nobody waits for the answer any more; work that waits for something need not go on. */
  giveUp?(): void;
}

/** The turn being filled: its effects become one entry. */
export interface Turn {
  readonly number: number;
  /** The instant this drain is judged by: never before the last entry's clock. */
  nowMs: number;
  commands: number;
  /** Bytes of effects so far; kept by the plane. */
  effectBytes: number;
  /** Effects so far: gives each write of an entry an ordinal of its own. */
  effects: number;
}

/**
 * True when the drain should stop filling the turn. Asked between commands.
 * @param isMidway asked between two slices of one: they are long enough to look at the clock each time
 */
export type ShouldStop = (isMidway?: boolean) => boolean;

export interface SectionEffects {
  readonly partition: PartitionName;
  /** One behind the other they are the section's effects; nobody writes into them any more. */
  readonly pieces: readonly Uint8Array[];
}

/** What a shard hosts. Called by the actor alone, never re-entered. */
export interface ShardPlane<W extends Work> {
  /**
   * Runs the work, or as much of it as fits the turn. Sets `waitsForTurn` and `hasWritten`.
   * `parked`: its state is still loading; it comes back through `takeParked`.
   * `refused`: the plane has rejected it; nothing was executed.
   * @throws a defect: the actor then ends, and a fresh one rebuilds
   */
  execute(work: W, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused';
  /** A share of the drain for what falls due by itself (expiry). */
  tick(turn: Turn): void;
  /** When `tick` wants to run though no work arrives, by the shard's time; undefined: not at all. Milliseconds from now. */
  nextTickInMs(nowMs: number): number | undefined;
  /** Takes the effects of the turn, by partition, without those of what is half done. From now on they are in flight. */
  seal(turn: Turn): SectionEffects[];
  /** The entry in flight is stored: what waited for it is committed. */
  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void;
  /** Work that was parked and can go on, because its partition is there now. */
  takeParked(): W[];
  /** Work that `execute` had parked for good and that is done now: it waited for something, and that came, or its time is over. */
  takeFinished?(): W[];
  /** Is it for what is under way, and done? Then it has its reply, and waits for nothing. */
  intercept?(work: W): boolean;
  /** All work that is parked, ready or not: the actor ends. */
  abandon(): W[];

  /** Rehydration: what the newest snapshot holds, then every entry after it, in order. */
  restore(entries: AsyncIterable<RecoveryStep>): Promise<void>;
}

export type RecoveryStep =
  | {
      readonly kind: 'manifest';
      /** The newest verified one; undefined: everything is in the entries that follow. */
      readonly manifest: Manifest | undefined;
      readonly recentCommandIds: readonly (readonly [CommandId, number])[];
    }
  | { readonly kind: 'entry'; readonly read: ReadEntry };
