/**
 * One partition in memory: its engine, and which of its keys hold something that is not stored yet.
 *
 *  P1 a key is uncommitted from the command that changed it until the entry with that change is stored
 *  P2 a reply that looked at an uncommitted key waits for that entry
 */
import { type CommandSpec, type KvEngine, keysOf } from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { ManifestPartition } from '../../messages/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';

/** Keys changed in one turn; `everything` after FLUSHALL. */
export class ChangedKeys {
  readonly keys = new Set<ByteString>();
  everything = false;

  get isEmpty(): boolean {
    return this.keys.size === 0 && !this.everything;
  }

  has(key: ByteString): boolean {
    return this.everything || this.keys.has(key);
  }

  clear(): void {
    this.keys.clear();
    this.everything = false;
  }
}

export class PartitionSlot {
  fold: KvFold | undefined;
  /** What the newest snapshot has of it; undefined: nothing. */
  snapshot: ManifestPartition | undefined;
  isLoading = false;
  readonly parked: KvWork[] = [];
  open = new ChangedKeys();
  inFlight = new ChangedKeys();
  /** Ordinal within the open turn of the last effect of this partition. */
  openOrdinal = 0;
  inFlightOrdinal = 0;
  latestToken = '0-0';
  /** Index of its last stored section. */
  sectionIndex = 0;
  lastUsedAtMs = 0;

  constructor(readonly name: PartitionName) {}

  get engine(): KvEngine | undefined {
    return this.fold?.engine;
  }

  /** Marks what a command that had effects may have changed. */
  noteChange(spec: CommandSpec, words: readonly ByteString[]): void {
    const { keys } = spec;
    if (keys.kind === 'span' && keys.first === 1 && keys.last === 1) {
      this.open.keys.add(words[1] as ByteString);
    } else if (keys.kind === 'none') {
      this.open.everything = true;
    } else {
      for (const key of keysOf(spec, words)) this.open.keys.add(key);
    }
  }

  /** The turn that a look at these keys must wait for: `openTurn`, the one before it (in flight), or 0. */
  turnToWaitFor(spec: CommandSpec, words: readonly ByteString[], openTurn: number): number {
    const { open, inFlight } = this;
    if (open.isEmpty && inFlight.isEmpty) return 0;
    const { keys } = spec;
    if (keys.kind === 'none') {
      if (!spec.flags.includes('keyspace')) return 0;
      return open.isEmpty ? openTurn - 1 : openTurn;
    }
    const looked =
      keys.kind === 'span' && keys.first === keys.last ? [words[keys.first] as ByteString] : keysOf(spec, words);
    if (looked.some((key) => open.has(key))) return openTurn;
    if (looked.some((key) => inFlight.has(key))) return openTurn - 1;
    return 0;
  }

  /** The open turn's changes are now in flight. */
  seal(): void {
    const emptied = this.inFlight;
    this.inFlight = this.open;
    this.open = emptied;
    this.inFlightOrdinal = this.openOrdinal;
    this.openOrdinal = 0;
  }

  /** What was in flight is stored at `position`. */
  commit(position: number): void {
    this.inFlight.clear();
    this.latestToken = `${position}-${this.inFlightOrdinal}`;
  }
}
