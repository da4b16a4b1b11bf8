/**
 * One partition in memory: its engine, who listens to it and who waits in it, and which of its keys hold
 * something that is not stored yet.
 *
 *  PS1 a key is uncommitted from the command that changed it until the entry with that change is stored
 *  PS2 a reply that looked at an uncommitted key waits for that entry
 *  PS3 of a command that is half done nothing is in an entry: it goes into the one that is open when it is done
 */
import { ChangedKeys, type CommandSpec, type KvEngine, keysOf } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName } from '../../kernel/index.js';
import { type ManifestPartition, parseKvPartition } from '../../messages/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import type { PartitionAudience } from './partition-audience.js';
import { WaitingCommands } from './waiting-commands.js';

const NOTHING = new ChangedKeys();

export class OwnedPartition {
  #fold: KvFold | undefined;
  /** What the newest snapshot has of it; undefined: nothing. */
  snapshot: ManifestPartition | undefined;
  isLoading = false;
  /** Its state cannot be trusted: nothing runs on it until it has been built again. */
  isInDoubt = false;
  /** A command in slices, or a transaction, is half done: nothing else runs here until it has ended. */
  underway: KvWork | undefined;
  readonly parked: KvWork[] = [];
  readonly waiting = new WaitingCommands();
  inFlight = new ChangedKeys();
  /** Ordinal within the open turn of the last effect of this partition. */
  openOrdinal = 0;
  inFlightOrdinal = 0;
  latestToken = '0-0';
  /** Index of its last stored section. */
  sectionIndex = 0;
  lastUsedAtMs = 0;
  /** How often its engine was made; marks of WATCH from an earlier one say nothing. */
  generation = 0;
  /** The version of the parameters that were obeyed last; 0 when none was set. */
  settingsVersion = 0;
  /** The version of the limits of plans that its engine was told. */
  limitsVersion = -1;

  readonly database: DatabaseId;

  constructor(
    readonly name: PartitionName,
    readonly audience: PartitionAudience,
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
    if (fold === undefined) return;
    const { keyspace, statistics } = fold.engine;
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

  /** Somebody began, or ceased, to want to hear of changes. */
  noteTracking(): void {
    const { engine } = this;
    if (engine === undefined) return;
    const { changes } = engine.keyspace;
    this.audience.maxTrackedKeys = engine.settings.number('tracking-table-max-keys');
    changes.onTracked = this.audience.isTracking ? (key) => this.audience.keyChanged(key) : undefined;
  }

  /** The turn that a look at these keys must wait for: `openTurn`, the one before it (in flight), or 0. */
  turnToWaitFor(spec: CommandSpec, words: readonly ByteString[], openTurn: number): number {
    const { open, inFlight } = this;
    if (open.isEmpty && inFlight.isEmpty) return 0;
    const { keys, runsScript } = spec;
    // A script may look at keys it did not name.
    if (keys.kind === 'none' || runsScript === true) {
      if (spec.acrossPartitions === undefined && runsScript !== true) return 0;
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

  /** The open turn's changes are now in flight. @returns its effects */
  seal(): Buffer {
    const emptied = this.inFlight;
    const { effects, keyspace, run } = this.engine as KvEngine;
    const { changes } = keyspace;
    this.inFlight = changes.open;
    changes.open = emptied;
    this.inFlightOrdinal = this.openOrdinal;
    this.openOrdinal = 0;
    this.audience.seal();
    // PS3; which keys it has changed so far is not known apart.
    if (run.isOpen) changes.open.everything = true;
    return effects.take();
  }

  /** What was in flight is stored at `position`. */
  commit(position: number): void {
    this.inFlight.clear();
    this.latestToken = `${position}-${this.inFlightOrdinal}`;
    this.audience.commit();
    if (this.open.isEmpty) this.audience.flush();
  }
}
