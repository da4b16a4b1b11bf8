/**
 * The interface of works, which wait in a mailbox (one request of one tenant), and of the plane that an actor hosts.
 * The runtime knows no more of Redis commands or control events than this file.
 */
import type { ReadEntry } from '../../codec/envelope/index.js';
import type { ChainHead, ChainLink } from '../../journal/index.js';
import type { CommandId, MillraceError, PartitionName, ShardName } from '../../kernel/index.js';
import type { Manifest, SectionAuthors, Span } from '../../protocol/index.js';

/**
 * The two spans of a command at its owner: from the mailbox to the answer, and within it the wait for the entry that
 * the answer depends on.
 */
export class WorkTrace {
  #entry: Span | undefined;

  /** @param span  of the command, which ends with its answer */
  constructor(private readonly span: Span) {}

  /** The command was executed. @param waits  its answer waits for the next entry, or for the one in flight */
  executed(shard: ShardName, waits: 'for-its-entry' | 'for-an-entry' | undefined): void {
    this.span.event('executed');
    if (waits === undefined) return;
    const name = waits === 'for-its-entry' ? 'append entry' : 'await entry';
    this.#entry = this.span.child(name, 'internal', { 'millrace.shard': shard });
  }

  /** @param position  the last stored one */
  released(position: number): void {
    this.#entry?.set({ 'millrace.journal.position': position });
    this.#entry?.end();
    this.span.end();
  }

  failed(code: string): void {
    this.#entry?.end(code);
    this.span.end(code);
  }
}

export interface Work {
  /** Database or account, between which the mailbox is fair. */
  readonly tenant: string;
  readonly bytes: number;
  readonly commands: number;
  /**
   * Given by a remote caller and written into the entry, so that a successor can tell whether the command was executed.
   */
  readonly commandId?: CommandId | undefined;
  /** On the actor's monotonic clock: it is not begun after this. Infinite for callers in this process. */
  deadlineMs: number;
  /** True once a part may have been executed. */
  readonly hasBegun: boolean;
  /** True while a command is half done and has to be completed. */
  readonly isHalfway?: boolean;
  /**
   * True for a write that has not begun and whose caller can repeat it: while the journal does not answer it is refused
   * as not executed. Undefined: it waits.
   */
  readonly isRefusable?: boolean;
  /** True for a read whose answer comes soon: it may be executed any number of times. Undefined: it may not. */
  readonly isRepeatable?: boolean;
  /** Monotonic instant of its arrival, for the longest wait while state is loading. */
  enteredAtMs: number;
  /** The turn whose entry the answer depends on; 0: none. */
  waitsForTurn: number;
  /** True once any of its effects is in a turn. */
  hasWritten: boolean;
  /** True when it has published a message or notification with receivers. */
  readonly hasSaid?: boolean;
  /** Undefined: it is not traced. */
  readonly trace?: WorkTrace | undefined;
  /** Sends the answer. `position` is the shard's last stored one. */
  release(position: number): void;
  reject(error: MillraceError): void;
  /** The caller has left: waiting work need not continue. */
  giveUp?(): void;
}

/** The open turn: its effects become one entry. */
export interface Turn {
  readonly number: number;
  /** The time that this drain uses: never before the last entry's clock. */
  nowMs: number;
  commands: number;
  /** Bytes of effects so far; counted by the plane. */
  effectBytes: number;
  /** Effects so far: each write of an entry has a different ordinal. */
  effects: number;
}

/**
 * True when the drain should stop filling the turn. Called between commands.
 * @param isMidway  called between two slices of one command: the clock is then read each time
 */
export type ShouldStop = (isMidway?: boolean) => boolean;

export interface SectionEffects {
  readonly partition: PartitionName;
  /** Joined in order they are the section's effects; they are no longer changed. */
  readonly pieces: readonly Uint8Array[];
  readonly authors?: SectionAuthors | undefined;
}

/** The plane of a shard. Only the actor calls it, never re-entrantly. */
export interface ShardPlane<W extends Work> {
  /**
   * Runs the work, or as much of it as fits the turn. Sets `waitsForTurn` and `hasWritten`.
   * `parked`: its state is still loading; it returns through `takeParked`.
   * `refused`: the plane has rejected it without execution.
   * @throws a defect: the actor then ends, and a new one rebuilds
   */
  execute(work: W, turn: Turn, shouldStop: ShouldStop): 'done' | 'more' | 'parked' | 'refused';
  /** A share of the drain for due work (expiry). */
  tick(turn: Turn): void;
  /**
   * When `tick` should run without new work, in milliseconds from now, by the shard's time. 0: after one round of the event
   * loop; undefined: not at all.
   */
  nextTickInMs(nowMs: number): number | undefined;
  /** Takes the turn's effects by partition, without those of half-done work. They are in flight from now on. */
  seal(turn: Turn): SectionEffects[];
  /** The entry in flight is stored: works that waited for it are complete. */
  committed(head: ChainHead, links: ReadonlyMap<PartitionName, ChainLink>): void;
  /** Parked work that can continue, because its partition has loaded. */
  takeParked(): W[];
  /**
   * Work that `execute` had parked to wait for a key or event, and that is complete now: it was served, or its time is
   * over.
   */
  takeFinished?(): W[];
  /** True when the work controls half-done work and was executed. It then has its reply and waits for no entry. */
  intercept?(work: W): boolean;
  /** All parked work, because the actor ends. */
  abandon(): W[];

  /** Loads the newest snapshot, then applies every later entry in order. */
  restore(entries: AsyncIterable<RecoveryStep>): Promise<void>;
}

export type RecoveryStep =
  | {
      readonly kind: 'manifest';
      /** The newest verified one; undefined: everything is in the following entries. */
      readonly manifest: Manifest | undefined;
      readonly recentCommandIds: readonly (readonly [CommandId, number])[];
    }
  /** Some entries, in order. */
  | { readonly kind: 'entries'; readonly reads: readonly ReadEntry[] };
