/**
 * Replaces all data of a partition by a kept moment, in one entry.
 *
 *  RPL1 the kept state is loaded separately while the partition serves requests, and takes its place between two
 *       requests
 *  RPL2 the entry holds the new state as effects: a FLUSHALL, then the contents of the kept segments; a reader of the
 *       journal needs no other object
 *  RPL3 earlier effects of the open turn are in the same section, before the replacement, because their replies wait
 *       for it
 *  RPL4 messages that wait for the queue stay; those of the kept moment are left out, because they were sent, or are of
 *       another database
 */
import { RespCommandReader } from '../../codec/resp/index.js';
import {
  CLOSE_EFFECT,
  type KvEngine,
  OK,
  OPEN_EFFECT,
  Outbox,
  PENDING_EFFECT,
  SENT_EFFECT,
} from '../../domain/kv/index.js';
import { bufferOver, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { Turn } from '../runtime/index.js';
import type { KvFold } from './kv-fold.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';
import type { TurnChanges } from './turn-changes.js';
import type { WaiterService } from './waiter-service.js';

/**
 * Fills an empty fold with the state kept under this name, in small steps.
 * @returns the kept segments
 * @throws NOT_FOUND, JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export type LoadKept = (manifest: string, fold: KvFold, maxBytes: number) => Promise<readonly Uint8Array[]>;

/** The bound of segments in one entry; its owner and each reader hold the entry in memory several times. */
export const MAX_REPLACEMENT_BYTES = 256 * 1024 * 1024;

/**
 * Fills an empty fold with the first state of a branch. @returns its segments; undefined: the partition is of no branch
 * @throws as `LoadKept`
 */
export type LoadBranch = (partition: PartitionName, fold: KvFold) => Promise<readonly Uint8Array[] | undefined>;

type Prepared = { readonly fold: KvFold; readonly segments: readonly Uint8Array[] } | { readonly error: MillraceError };

export class Replacements {
  readonly #prepared = new WeakMap<KvWork, Prepared>();
  readonly #begun = new WeakSet<KvWork>();

  constructor(
    private readonly changes: TurnChanges,
    private readonly waiters: Pick<WaiterService, 'serveReady'>,
    private readonly loadKept: LoadKept | undefined,
    private readonly createFold: (owned: OwnedPartition) => KvFold,
    /** Called when the request can continue. */
    private readonly onPrepared: (owned: OwnedPartition, work: KvWork) => void,
  ) {}

  execute(owned: OwnedPartition, engine: KvEngine, work: KvWork, turn: Turn): 'done' | 'parked' | 'refused' {
    const prepared = this.#prepared.get(work);
    if (prepared === undefined) {
      owned.parked.push(work);
      if (!this.#begun.has(work)) this.#begin(owned, work);
      return 'parked';
    }
    if ('error' in prepared) {
      work.reject(prepared.error);
      return 'refused';
    }
    this.#replace(owned, engine, work, turn, prepared);
    return 'done';
  }

  /** Loads the state separately (RPL1). */
  #begin(owned: OwnedPartition, work: KvWork): void {
    this.#begun.add(work);
    const [manifest = ''] = work.request.commands[0] ?? [];
    const fold = this.createFold(owned);
    const { loadKept } = this;
    const loading =
      loadKept === undefined
        ? Promise.reject(new MillraceError('DEFECT', 'this process cannot load kept states'))
        : loadKept(manifest, fold, MAX_REPLACEMENT_BYTES);
    loading
      .then(
        (segments) => this.#prepared.set(work, { fold, segments }),
        (cause: unknown) => {
          const error = cause instanceof MillraceError ? cause : new MillraceError('DEFECT', 'a kept state', {}, cause);
          this.#prepared.set(work, { error });
        },
      )
      .finally(() => this.onPrepared(owned, work));
  }

  /** Stores the first state of a branch, before its first command (RPL2). */
  begin(owned: OwnedPartition, engine: KvEngine, turn: Turn, segments: readonly Uint8Array[]): void {
    const { effects } = engine;
    effects.push('FLUSHALL');
    for (const piece of withoutOutbox(segments)) effects.adopt(piece, 1);
    owned.authors.spoil();
    engine.outbox.adopt(new Outbox(effects));
    turn.commands += 1;
    engine.keyspace.changes.noteEverything();
    this.changes.note(owned, engine, turn, effects.count, effects.bytes);
  }

  #replace(
    owned: OwnedPartition,
    engine: KvEngine,
    work: KvWork,
    turn: Turn,
    { fold, segments }: Extract<Prepared, { fold: KvFold }>,
  ): void {
    const next = fold.engine;
    const { effects } = next;
    // Earlier effects of the turn come first (RPL3).
    const { count, bytes } = engine.effects;
    effects.adopt(engine.effects.take(), count);
    effects.push('FLUSHALL');
    if (engine.libraries.size > 0) effects.push('FUNCTION', 'FLUSH');
    const isSet = new Set([...next.settings.changed()].map(([name]) => name));
    for (const [name] of engine.settings.changed()) {
      if (!isSet.has(name)) effects.push('CONFIG', 'SET', name, next.settings.get(name) ?? '');
    }
    for (const piece of withoutOutbox(segments)) effects.adopt(piece, 1);
    owned.authors.spoil();
    next.outbox.adopt(engine.outbox);
    owned.fold = fold;
    turn.commands += 1;
    next.keyspace.changes.noteEverything();
    this.changes.note(owned, next, turn, effects.count - count, effects.bytes - bytes);
    work.hasWritten = true;
    work.ordinal = turn.effects;
    work.waitsForTurn = turn.number;
    work.replies.push(OK);
    if (next.keyspace.changes.ready.size > 0) this.waiters.serveReady(owned, next, turn);
  }
}

/** The commands before the keys of a partition (`rebuildingPreamble`). */
const PREAMBLE: ReadonlySet<string> = new Set([
  'CONFIG',
  'FUNCTION',
  PENDING_EFFECT,
  SENT_EFFECT,
  CLOSE_EFFECT,
  OPEN_EFFECT,
]);
/** Commands of the preamble that describe the kept partition, not the database. */
const OF_PARTITION: ReadonlySet<string> = new Set([PENDING_EFFECT, SENT_EFFECT, CLOSE_EFFECT, OPEN_EFFECT]);

/** The segments without messages (RPL4). Messages come before all keys, so the rest is not read. */
function* withoutOutbox(segments: readonly Uint8Array[]): Iterable<Uint8Array> {
  let isOver = false;
  for (const segment of segments) {
    if (isOver) {
      yield segment;
      continue;
    }
    const reader = new RespCommandReader(bufferOver(segment));
    for (let at = 0, words = reader.next(); words !== undefined && !isOver; words = reader.next()) {
      const [name = ''] = words;
      isOver = !PREAMBLE.has(name);
      if (isOver) yield segment.subarray(at);
      else if (!OF_PARTITION.has(name)) yield segment.subarray(at, reader.offset);
      at = reader.offset;
    }
  }
}
