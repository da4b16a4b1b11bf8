/**
 * One partition in memory: its engine, its listeners and waiters, and its keys with changes that are not stored yet.
 *
 *  PS1 a key is uncommitted from the command that changed it until the entry with that change is stored
 *  PS2 a reply that looked at an uncommitted key waits for that entry
 *  PS3 no part of a half-done command is in an entry: all of it goes into the entry that is open when it is done
 */
import { ChangedKeys, type CommandSpec, type KvEngine, keysOf, type MessageComposer } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName } from '../../kernel/index.js';
import { type ManifestPartition, parseKvPartition } from '../../protocol/index.js';
import type { SectionEffects } from '../runtime/index.js';
import { IndexWaits } from './index-waits.js';
import type { KeyCopy } from './key-copy.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import type { PartitionAudience } from './partition-audience.js';
import { OpenAuthors } from './section-authors.js';
import { WaitingCommands } from './waiting-commands.js';

const NOTHING = new ChangedKeys();

export class OwnedPartition {
  #fold: KvFold | undefined;
  /** The partition's part of the newest snapshot; undefined when it has none. */
  snapshot: ManifestPartition | undefined;
  isLoading = false;
  /** It is in no snapshot and no entry, and may be of a branch, which begins with the data of another database. */
  isUnfilled = false;
  /** The state with which a branch has begun in memory, until it is among the effects of a turn. */
  firstState: readonly Uint8Array[] | undefined;
  /** The state may be wrong: no command runs until the partition is rebuilt. */
  isInDoubt = false;
  /** A half-done command in slices, or transaction; no other command runs until it ends. */
  underway: KvWork | undefined;
  readonly parked: KvWork[] = [];
  /** Requests of which a part has run. */
  readonly begun = new Set<KvWork>();
  /** No request is begun until those that have begun are done, because the partition is to be closed. */
  isClosing = false;
  /** The keys are being copied to other partitions. */
  copy: KeyCopy | undefined;
  readonly waiting = new WaitingCommands();
  readonly indexWaits = new IndexWaits();
  readonly authors = new OpenAuthors();
  inFlight = new ChangedKeys();
  /** The ordinal, in the open turn, of the last effect of this partition. */
  openOrdinal = 0;
  inFlightOrdinal = 0;
  latestToken = '0-0';
  /** The index of its last stored section. */
  sectionIndex = 0;
  lastUsedAtMs = 0;
  /** How many engines the partition has had; WATCH marks of an earlier engine are invalid. */
  generation = 0;
  /** The version of the parameters applied last; 0 when none was set. */
  settingsVersion = 0;
  /** The version of the plans' limits that the engine was told. */
  limitsVersion = -1;

  readonly database: DatabaseId;

  constructor(
    readonly name: PartitionName,
    readonly audience: PartitionAudience,
    private readonly composer?: MessageComposer | undefined,
  ) {
    this.database = parseKvPartition(name).database;
  }

  get fold(): KvFold | undefined {
    return this.#fold;
  }

  set fold(fold: KvFold | undefined) {
    this.#fold = fold;
    this.generation += 1;
    this.settingsVersion = 0;
    this.limitsVersion = -1;
    // The changes between the two states are not known.
    if (this.copy !== undefined) this.copy.isLost = true;
    if (fold === undefined) return;
    const { keyspace, outbox, statistics } = fold.engine;
    outbox.composer = this.composer;
    this.waiting.moveTo(keyspace.changes);
    statistics.waiting = this.waiting;
    this.noteTracking();
  }

  get engine(): KvEngine | undefined {
    return this.#fold?.engine;
  }

  get open(): ChangedKeys {
    return this.engine?.keyspace.changes.open ?? NOTHING;
  }

  get hasNothingUnstored(): boolean {
    return this.open.isEmpty && this.inFlight.isEmpty;
  }

  /** Called when a listener to key changes, or a copy, was added or removed. */
  noteTracking(): void {
    const { engine } = this;
    if (engine === undefined) return;
    const { changes } = engine.keyspace;
    this.audience.maxTrackedKeys = engine.settings.number('tracking-table-max-keys');
    const { copy } = this;
    changes.onCopied = copy && ((key) => copy.note(key));
    changes.onTracked = this.audience.isTracking ? (key) => this.audience.keyChanged(key) : undefined;
  }

  /** The turn that a read of these keys must wait for: `openTurn`, the one before it (in flight), or 0. */
  turnToWaitFor(spec: CommandSpec, words: readonly ByteString[], openTurn: number): number {
    const { open, inFlight } = this;
    if (open.isEmpty && inFlight.isEmpty) return 0;
    const { keys, runsScript, readsUnnamedKeys } = spec;
    // A script may read keys that it did not name, and the answer of an index shows others.
    if (keys.kind === 'none' || runsScript === true || readsUnnamedKeys === true) {
      if (keys.kind === 'none' && spec.acrossPartitions === undefined && runsScript !== true) return 0;
      return open.isEmpty ? openTurn - 1 : openTurn;
    }
    if (keys.kind === 'span' && keys.first === keys.last) {
      const key = words[keys.first] as ByteString;
      return open.has(key) ? openTurn : inFlight.has(key) ? openTurn - 1 : 0;
    }
    const looked = keysOf(spec, words);
    if (looked.some((key) => open.has(key))) return openTurn;
    if (looked.some((key) => inFlight.has(key))) return openTurn - 1;
    return 0;
  }

  /** Marks the changes of the open turn as in flight. @returns its effects and their authors */
  seal(): Pick<SectionEffects, 'pieces' | 'authors'> {
    const emptied = this.inFlight;
    const { effects, keyspace, outbox, run } = this.engine as KvEngine;
    const { changes } = keyspace;
    this.inFlight = changes.open;
    changes.open = emptied;
    this.inFlightOrdinal = this.openOrdinal;
    this.openOrdinal = 0;
    this.audience.seal();
    outbox.seal();
    // A half-done command is in no entry (PS3), and its changed keys are not known separately.
    if (run.isOpen) changes.open.everything = true;
    const { count } = effects;
    const pieces = [effects.take()];
    return { pieces, authors: this.authors.take(count - effects.count) };
  }

  /** Called when the entry in flight is stored at `position`. */
  commit(position: number): void {
    this.inFlight.clear();
    this.latestToken = `${position}-${this.inFlightOrdinal}`;
    this.audience.commit();
    this.engine?.outbox.commit();
    if (this.open.isEmpty) this.audience.flush();
  }
}
