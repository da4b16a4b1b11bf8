/**
 * Steps of copying a database's keys to the partitions of another layout, as their owners execute them. A step is a
 * request of mode `transfer` with one list of words; `actors/control/partition-copy.ts` sends them. The second word is
 * the number of the attempt.
 *
 *   begin  n                    → OK; the partition is open, and from now on changed keys are noted
 *   scan   n cursor partitions  → [next cursor, groups]
 *   changed n number partitions → [keys left, groups]; the same number: the same keys again, as they are now
 *   close  n                    → OK; only transfers run from here on
 *   open   n                    → OK
 *   head   n                    → [size, effects of parameters and libraries, aliases, indexes]
 *   empty  n                    → OK; the partition is closed and has no keys, parameters, libraries or aliases
 *   fill   n effects key …      → [size, digest of these keys]
 *   index  n name text …        → the number of these full-text indexes that are not built yet
 *
 * A group is [index of the new partition, keys, pieces of effects, digest of these keys]; the effects replace the keys.
 *
 *  TRF1 a step of an earlier attempt is refused, also by a later owner, because `begin`, `empty`, `close` and `open` are
 *       effects of the journal with the number of their attempt
 *  TRF2 `close` runs when no request is half done, and refuses waiting commands, so that no change follows it
 *  TRF3 a closed partition neither expires nor evicts keys: both sides have the same keys when they are compared
 *  TRF4 an owner that does not know the changes since `begin`, because it is new or its state was replaced, refuses
 *       with CONFLICT: the copy begins again
 *  TRF5 the filled keys are put into the full-text indexes of the new partition as changed keys are, so that its part of
 *       each index is complete when the partition is opened
 */
import { encodeCommand } from '../../codec/resp/index.js';
import {
  ALIAS_EFFECT,
  CLOSE_EFFECT,
  hashSlot,
  indexOfText,
  KeyspaceDigest,
  type KvEngine,
  OK,
  OPEN_EFFECT,
  PARAMETER_DEFAULTS,
  PENDING_EFFECT,
  partitionOfSlot,
  type Reply,
  rebuildingCommands,
  rebuildingPreamble,
  SENT_EFFECT,
  storedBytes,
} from '../../domain/kv/index.js';
import { type ByteString, MillraceError } from '../../kernel/index.js';
import type { ShouldStop, Turn } from '../runtime/index.js';
import { KeyCopy } from './key-copy.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { TurnChanges } from './turn-changes.js';

/** A step reads about so much: a millisecond or two, during which the database's other requests wait. */
const STEP_BYTES = 256 * 1024;
const STEP_KEYS = 512;
/** Keys read from the keyspace together. */
const SCAN_KEYS = 16;
/** The effects of one large value are sent in pieces of this size. */
const PIECE_BYTES = 512 * 1024;

interface Group {
  readonly keys: ByteString[];
  readonly pieces: ByteString[];
  readonly digest: KeyspaceDigest;
}

type Step = 'done' | 'more' | 'parked' | 'refused';

export class PartitionTransfer {
  /** Steps that run in slices. */
  readonly #slices = new WeakMap<KvWork, Generator<void, Reply>>();

  constructor(
    private readonly changes: TurnChanges,
    /** Returns parked requests that can continue. */
    private readonly onReady: (works: KvWork[]) => void,
  ) {}

  execute(owned: OwnedPartition, engine: KvEngine, work: KvWork, turn: Turn, shouldStop: ShouldStop): Step {
    const [words = []] = work.request.commands;
    if (words[0] === 'close' && owned.begun.size > 0) {
      owned.isClosing = true;
      owned.parked.push(work);
      return 'parked';
    }
    const { effects } = engine;
    const [count, bytes] = [effects.count, effects.bytes];
    let step: IteratorResult<void, Reply>;
    try {
      const slices = this.#slices.get(work) ?? this.#run(owned, engine, words);
      this.#slices.set(work, slices);
      do step = slices.next();
      while (step.done !== true && !shouldStop(true));
    } catch (error) {
      release(owned, work);
      work.reject(error instanceof MillraceError ? error : this.#doubt(owned, engine, { count, bytes }, error));
      return 'refused';
    }
    if (step.done !== true) {
      owned.underway = work;
      work.isHalfway = true;
      return 'more';
    }
    release(owned, work);
    turn.commands += 1;
    this.changes.note(owned, engine, turn, effects.count - count, effects.bytes - bytes);
    if (effects.count > count) {
      work.hasWritten = true;
      work.ordinal = turn.effects;
      work.waitsForTurn = turn.number;
    }
    work.replies.push(step.value);
    return 'done';
  }

  /** A request that had begun has ended: closing may continue. */
  ended(owned: OwnedPartition, work: KvWork): void {
    if (!owned.begun.delete(work) || owned.begun.size > 0 || !owned.isClosing) return;
    this.onReady(owned.parked.splice(0));
  }

  /** A defect: effects may have been applied in part, so the partition is rebuilt from its journal. */
  #doubt(owned: OwnedPartition, { effects }: KvEngine, before: { count: number; bytes: number }, cause: unknown) {
    effects.rollBack(before.count, before.bytes);
    owned.isInDoubt = true;
    this.changes.doubted.add(owned);
    return new MillraceError('DEFECT', `a step of copying ${owned.name}`, {}, cause);
  }

  #run(owned: OwnedPartition, engine: KvEngine, words: readonly ByteString[]): Generator<void, Reply> {
    const [step, number, ...rest] = words;
    const attempt = Number(number);
    const { closure } = engine;
    const isNext = attempt > closure.attempt;
    const isSame = attempt === closure.attempt;
    switch (step) {
      case 'begin':
        requireCurrent(isNext || (isSame && !closure.isClosed), owned);
        return answered(() => begin(owned, engine, attempt));
      case 'scan':
        return scan(copyOf(owned, attempt), engine, rest);
      case 'changed':
        return changed(copyOf(owned, attempt), engine, rest);
      case 'close':
        copyOf(owned, attempt);
        return answered(() => this.#close(owned, engine, attempt));
      case 'open':
        requireCurrent(isNext || isSame, owned);
        return answered(() => open(owned, engine, attempt));
      case 'head':
        requireCurrent(isSame, owned);
        return answered(() => headOf(engine));
      case 'empty':
        requireCurrent(isNext || (isSame && closure.isClosed), owned);
        return answered(() => empty(owned, engine, attempt));
      case 'fill':
        requireCurrent(isSame && closure.isClosed, owned);
        return fill(owned, engine, rest);
      case 'index':
        requireCurrent(isSame, owned);
        return answered(() => followIndexes(engine, rest));
      default:
        throw new MillraceError('INVALID', `there is no step ${step} of a transfer`);
    }
  }

  /** Commands that wait for a key are refused, so that their edges ask the new partitions (TRF2). */
  #close(owned: OwnedPartition, engine: KvEngine, attempt: number): Reply {
    owned.isClosing = false;
    const reply = setClosed(owned, engine, true, attempt);
    for (const waiting of [...owned.waiting.clear(), ...owned.indexWaits.clear()]) waiting.reject(isClosed(owned));
    engine.keyspace.changes.awaited.clear();
    return reply;
  }
}

/** The refusal of all other requests to a closed partition. */
export function isClosed({ name }: OwnedPartition): MillraceError {
  return new MillraceError('PARTITION_CLOSED', `the keys of ${name} move to other partitions`, { partition: name });
}

function release(owned: OwnedPartition, work: KvWork): void {
  if (owned.underway === work) owned.underway = undefined;
  work.isHalfway = false;
}

// biome-ignore lint/correctness/useYield: a step in one piece
function* answered(reply: () => Reply): Generator<void, Reply> {
  return reply();
}

/** @throws CONFLICT (TRF1) */
function requireCurrent(isCurrent: boolean, { name }: OwnedPartition): void {
  if (!isCurrent) throw new MillraceError('CONFLICT', `${name}: the step is of another attempt`);
}

/** @throws CONFLICT (TRF1, TRF4) */
function copyOf({ copy, name }: OwnedPartition, attempt: number): KeyCopy {
  if (copy !== undefined && copy.attempt === attempt && !copy.isLost) return copy;
  throw new MillraceError('CONFLICT', `${name}: the changes since the beginning of the copy are not known`);
}

function begin(owned: OwnedPartition, engine: KvEngine, attempt: number): Reply {
  owned.copy = new KeyCopy(attempt);
  owned.noteTracking();
  return setClosed(owned, engine, false, attempt);
}

function open(owned: OwnedPartition, engine: KvEngine, attempt: number): Reply {
  owned.copy = undefined;
  owned.noteTracking();
  return setClosed(owned, engine, false, attempt);
}

function setClosed(owned: OwnedPartition, { closure, effects }: KvEngine, isNow: boolean, attempt: number): Reply {
  if (!isNow) owned.isClosing = false;
  if (closure.isClosed === isNow && closure.attempt === attempt) return OK;
  closure.set(isNow, attempt);
  effects.push(isNow ? CLOSE_EFFECT : OPEN_EFFECT, String(attempt));
  return OK;
}

/**
 * Messages for the queue stay in the old partition until they are sent. Aliases belong to the partition of their name, so
 * they are named apart.
 */
const STAYING: ReadonlySet<string> = new Set([PENDING_EFFECT, SENT_EFFECT, CLOSE_EFFECT, OPEN_EFFECT, ALIAS_EFFECT]);

function headOf(engine: KvEngine): Reply {
  const { keyspace, searches } = engine;
  let effects = '';
  for (const words of rebuildingPreamble(engine)) {
    const [name = ''] = words;
    if (!STAYING.has(name)) effects += encodeCommand(words);
  }
  return [keyspace.size, effects, [...searches.aliases.entries()], [...searches.definitions()]];
}

/** Makes the parts of indexes with keys in other partitions. */
function followIndexes({ searches }: KvEngine, words: readonly ByteString[]): Reply {
  let unbuilt = 0;
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [name, text] = [words[at] as ByteString, words[at + 1] as ByteString];
    searches.follow(name, indexOfText(name, text), false, false);
    if (searches.partOf(text)?.isBuilt !== true) unbuilt += 1;
  }
  return unbuilt;
}

function empty(owned: OwnedPartition, engine: KvEngine, attempt: number): Reply {
  const { effects, keyspace, libraries, searches, settings } = engine;
  owned.copy = undefined;
  owned.noteTracking();
  setClosed(owned, engine, true, attempt);
  if (keyspace.size > 0) {
    keyspace.clear();
    effects.push('FLUSHALL');
  }
  if (libraries.size > 0) {
    libraries.clear();
    effects.push('FUNCTION', 'FLUSH');
  }
  for (const [alias] of [...searches.aliases.entries()]) {
    searches.aliases.delete(alias);
    effects.push('SEARCH.ALIASDEL', alias);
  }
  for (const [name] of [...settings.changed()]) {
    const value = PARAMETER_DEFAULTS.get(name) ?? '';
    settings.set(name, value);
    effects.push('CONFIG', 'SET', name, value);
  }
  return OK;
}

function* scan(
  _: KeyCopy,
  { keyspace }: KvEngine,
  [cursor = '0', partitions]: readonly ByteString[],
): Generator<void, Reply> {
  const groups = new Groups(keyspace, Number(partitions));
  let next = Number(cursor);
  do {
    // No key counts as expired: the entry of its removal decides.
    keyspace.nowMs = 0;
    const { cursor: after, entries } = keyspace.scan(next, SCAN_KEYS);
    for (const [key] of entries) yield* groups.add(key);
    next = after;
  } while (next !== 0 && !groups.areFull);
  return [String(next), groups.reply()];
}

function* changed(
  copy: KeyCopy,
  { keyspace }: KvEngine,
  [number, partitions]: readonly ByteString[],
): Generator<void, Reply> {
  const groups = new Groups(keyspace, Number(partitions));
  const keys = copy.take(Number(number), STEP_KEYS);
  for (const [at, key] of keys.entries()) {
    if (groups.areFull) {
      copy.giveBack(keys.slice(at));
      break;
    }
    yield* groups.add(key);
  }
  return [copy.left, groups.reply()];
}

/** Keys and their values, by the new partition. */
class Groups {
  readonly #groups = new Map<number, Group>();
  #keys = 0;
  #bytes = 0;

  constructor(
    private readonly keyspace: KvEngine['keyspace'],
    private readonly partitions: number,
  ) {}

  get areFull(): boolean {
    return this.#keys >= STEP_KEYS || this.#bytes >= STEP_BYTES;
  }

  /** Pauses within a large value: other requests to the partition wait until the step ends. */
  *add(key: ByteString): Generator<void, void> {
    const index = partitionOfSlot(hashSlot(key), this.partitions);
    const group = this.#groups.get(index) ?? { keys: [], pieces: [''], digest: new KeyspaceDigest() };
    this.#groups.set(index, group);
    group.keys.push(key);
    this.#keys += 1;
    this.#write(group, ['DEL', key]);
    const value = this.keyspace.stored(key);
    if (value === undefined) return;
    const expireAtMs = this.keyspace.expiryOf(key);
    for (const words of rebuildingCommands(key, value, expireAtMs)) {
      this.#write(group, words);
      yield;
    }
    group.digest.add(key, value, expireAtMs);
  }

  #write({ pieces }: Group, words: readonly ByteString[]): void {
    const text = encodeCommand(words);
    this.#bytes += text.length;
    const last = pieces.length - 1;
    if ((pieces[last] as string).length >= PIECE_BYTES) pieces.push(text);
    else pieces[last] += text;
  }

  reply(): Reply {
    return [...this.#groups].map(([index, { keys, pieces, digest }]) => [index, keys, pieces, digest.toString()]);
  }
}

function* fill(
  owned: OwnedPartition,
  engine: KvEngine,
  [effects = '', ...keys]: readonly ByteString[],
): Generator<void, Reply> {
  const { keyspace, bounds } = engine;
  const { processMaxBytes = Number.POSITIVE_INFINITY } = bounds;
  if (effects.length > 0 && storedBytes(keyspace) + effects.length > processMaxBytes) {
    throw new MillraceError('STORAGE_FULL', `the process of ${owned.name} has no memory for the keys`);
  }
  const block = Buffer.from(effects, 'latin1');
  for (const _ of (owned.fold as KvFold).applyInSlices(block)) yield;
  engine.searches.sync();
  // Replayed effects are not noted as changes (TRF5).
  for (const key of keys) keyspace.changes.onIndexed?.(key);
  const digest = new KeyspaceDigest();
  for (const key of keys) {
    const value = keyspace.stored(key);
    if (value !== undefined) digest.add(key, value, keyspace.expiryOf(key));
  }
  if (block.length > 0) engine.effects.adopt(block, 1);
  return [keyspace.size, digest.toString()];
}
