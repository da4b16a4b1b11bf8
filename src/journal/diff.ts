/**
 * The differences between two moments of a partition's past, and the entries that made them.
 *
 *  DF1 a key is listed when an entry touched it, or when it expired in between; `same` when its value is equal at both
 *      moments
 *  DF2 visibility is that of each moment: an expired key counts as absent, removed or not
 *  DF3 memory is the partition's state and a record for each touched key, at most `maxKeys`
 *  DF4 keys come in the order of their bytes
 */
import { MillraceError, type PartitionName } from '../kernel/index.js';
import type { Moment } from '../protocol/index.js';
import type { AuditPorts } from './audit.js';
import type { PartitionFold } from './partition-fold.js';
import { type ReplayedPartitions, type ReplayOptions, ShardReplay } from './replay.js';

/** The value of a key, with or without its bytes. */
export interface KeyLook {
  readonly type: string;
  /** The digest of value and expiry. */
  readonly digest: string;
  /** When it expires; undefined: never. */
  readonly expireAtMs?: number | undefined;
  /** Commands that create it, each a list of words. */
  readonly value?: readonly (readonly string[])[] | undefined;
}

export interface Touch {
  readonly command: string;
  /** `all`: every existing key. Empty: a change that is not of a key. */
  readonly keys: readonly string[] | 'all';
}

/** A fold with keys. */
export interface KeyedFold extends PartitionFold {
  /** The keys that the effects will touch, in order; called before they are applied. */
  touches(effects: Uint8Array): Iterable<Touch>;
  /** Undefined when the key is not visible at that instant. */
  look(key: string, atMs: number, withValue: boolean): KeyLook | undefined;
  keys(): Iterable<string>;
  /** Keys with an expiry after the first instant and up to the second. */
  expiredBetween(fromMs: number, toMs: number): Iterable<string>;
}

export interface EntryRef {
  readonly position: number;
  readonly number: number;
  /** The index of the partition's section. */
  readonly index: number;
  readonly atMs: number;
  /** The different command names. */
  readonly commands: readonly string[];
}

export interface KeyChange {
  readonly partition: PartitionName;
  /** Undefined: parameters and libraries, which belong to no key. */
  readonly key: string | undefined;
  readonly change: 'created' | 'changed' | 'deleted' | 'same' | 'settings';
  readonly before: KeyLook | undefined;
  readonly after: KeyLook | undefined;
  /** True when it expired between the moments and was not changed otherwise; an entry may have removed it since. */
  readonly hasExpired: boolean;
  /** The number of entries that touched it, and those listed: all, or the first and the last of many. */
  readonly entryCount: number;
  readonly entries: readonly EntryRef[];
}

export interface ShardDiff {
  /** The entries where reading began and ended. */
  readonly from: { readonly position: number; readonly number: number };
  readonly to: { readonly position: number; readonly number: number };
  /** In order of partition, then of key. */
  readonly changes: Iterable<KeyChange>;
}

export interface DiffOptions extends ReplayOptions {
  readonly withValues?: boolean | undefined;
  /** Default: a million, which take some hundred megabytes. */
  readonly maxKeys?: number | undefined;
}

const MAX_KEYS = 1_000_000;
/** How many of the first, and of the last, entries of a key are listed. */
const LISTED_ENTRIES = 10;

/**
 * @param instants  the times of the two moments, for expiry
 * @throws INVALID when a moment is not kept, the second is before the first, or more keys changed than `maxKeys`;
 *         JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted
 */
export async function diffShard<F extends KeyedFold>(
  ports: AuditPorts,
  replayed: ReplayedPartitions<F>,
  range: { readonly from: Moment; readonly to: Moment },
  options: DiffOptions = {},
): Promise<ShardDiff> {
  const replay = await ShardReplay.open(ports, replayed, range.from, options);
  try {
    const from = replay.head;
    const fromMs = range.from.kind === 'time' ? range.from.atMs : from.clockMs;
    const room = { left: options.maxKeys ?? MAX_KEYS };
    const diffs = new Map(
      [...replay.folds].map(([name, fold]) => [
        name,
        new PartitionDiff(name, fold, fromMs, options.withValues === true, room),
      ]),
    );
    await replay.advance(range.to, ({ entry, position }, section) => {
      const place = { position, number: entry.number, index: section.index, atMs: entry.clockMs };
      diffs.get(section.partition)?.note(place, section.effects);
    });
    const to = replay.head;
    const toMs = range.to.kind === 'time' ? range.to.atMs : to.clockMs;
    const inOrder = [...diffs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, diff]) => diff);
    for (const diff of inOrder) diff.noteExpired(toMs);
    return { from, to, changes: changesOf(inOrder, toMs) };
  } finally {
    await replay.close();
  }
}

function* changesOf<F extends KeyedFold>(diffs: readonly PartitionDiff<F>[], toMs: number): Iterable<KeyChange> {
  for (const diff of diffs) yield* diff.changes(toMs);
}

type EntryPlace = Omit<EntryRef, 'commands'>;

interface Touched {
  readonly before: KeyLook | undefined;
  count: number;
  readonly first: Ref[];
  readonly last: Ref[];
}

type Ref = EntryPlace & { readonly commands: string[] };

class PartitionDiff<F extends KeyedFold> {
  readonly #byKey = new Map<string, Touched>();
  readonly #settings: Touched = { before: undefined, count: 0, first: [], last: [] };
  readonly #expired = new Set<string>();

  constructor(
    private readonly partition: PartitionName,
    private readonly fold: F,
    private readonly fromMs: number,
    private readonly withValues: boolean,
    private readonly room: { left: number },
  ) {}

  /** Called before the effects are applied. */
  note(place: EntryPlace, effects: Uint8Array): void {
    for (const { command, keys } of this.fold.touches(effects)) {
      if (keys === 'all') {
        for (const key of this.#everyKey(place)) this.#touch(key, place, command);
      } else if (keys.length === 0) {
        noteEntry(this.#settings, place, command);
      } else {
        for (const key of keys) this.#touch(key, place, command);
      }
    }
  }

  noteExpired(toMs: number): void {
    for (const key of this.fold.expiredBetween(this.fromMs, toMs)) {
      if (this.#byKey.has(key)) continue;
      this.#know(key);
      this.#expired.add(key);
    }
  }

  *changes(toMs: number): Iterable<KeyChange> {
    const { partition } = this;
    if (this.#settings.count > 0) {
      yield {
        partition,
        key: undefined,
        change: 'settings',
        before: undefined,
        after: undefined,
        hasExpired: false,
        ...listed(this.#settings),
      };
    }
    for (const key of [...this.#byKey.keys()].sort()) {
      const touched = this.#byKey.get(key) as Touched;
      const { before } = touched;
      const after = this.fold.look(key, toMs, this.withValues);
      const hasExpired = this.#expired.has(key) || (after === undefined && isRemovalOfExpired(touched));
      yield { partition, key, change: changeOf(before, after), before, after, hasExpired, ...listed(touched) };
    }
  }

  /** The keys that existed before the section, and those that an earlier effect of it may have created. */
  #everyKey({ position }: EntryPlace): Set<string> {
    const keys = new Set(this.fold.keys());
    for (const [key, touched] of this.#byKey) if (latestOf(touched)?.position === position) keys.add(key);
    return keys;
  }

  #touch(key: string, place: EntryPlace, command: string): void {
    noteEntry(this.#byKey.get(key) ?? this.#know(key), place, command);
  }

  /** Records the key's value at the first moment. */
  #know(key: string): Touched {
    if (this.room.left === 0) {
      const message = `more keys changed in ${this.partition} than one comparison can hold: choose a shorter time`;
      throw new MillraceError('INVALID', message, { partition: this.partition });
    }
    this.room.left -= 1;
    const before = this.fold.look(key, this.fromMs, this.withValues);
    const touched: Touched = { before, count: 0, first: [], last: [] };
    this.#byKey.set(key, touched);
    return touched;
  }
}

function noteEntry(touched: Touched, place: EntryPlace, command: string): void {
  const { first, last } = touched;
  const latest = latestOf(touched);
  if (latest?.position === place.position) {
    if (!latest.commands.includes(command)) latest.commands.push(command);
    return;
  }
  touched.count += 1;
  const ref = { ...place, commands: [command] };
  if (first.length < LISTED_ENTRIES) first.push(ref);
  else if (last.push(ref) > LISTED_ENTRIES) last.shift();
}

/** Expired keys are removed by a separate entry some time later. */
function isRemovalOfExpired({ before, count, first: [only] }: Touched): boolean {
  return before?.expireAtMs !== undefined && count === 1 && only !== undefined && before.expireAtMs <= only.atMs;
}

function latestOf({ first, last }: Touched): Ref | undefined {
  return last.at(-1) ?? first.at(-1);
}

function listed({ count, first, last }: Touched): Pick<KeyChange, 'entryCount' | 'entries'> {
  return { entryCount: count, entries: [...first, ...last] };
}

function changeOf(before: KeyLook | undefined, after: KeyLook | undefined): KeyChange['change'] {
  if (before === undefined) return after === undefined ? 'same' : 'created';
  if (after === undefined) return 'deleted';
  return before.digest === after.digest && before.type === after.type ? 'same' : 'changed';
}
