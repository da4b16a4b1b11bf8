/**
 * The keys to which one author wrote in a period, with the values that they had before, for undoing these writes.
 *
 *  UP1 a key is undone when its last write, up to now, is of the author and in the period; it then gets the value from
 *      before the author's last writes without another's between them
 *  UP2 a key with a later write of another author, or of this one after the period, is a conflict, and stays
 *  UP3 an effect without a known author counts as another's
 */
import type { ReadEntry } from '../codec/envelope/index.js';
import { RespCommandReader } from '../codec/resp/index.js';
import { compileGlob } from '../domain/kv/index.js';
import { type KeyLook, ShardReplay, wordJson } from '../journal/index.js';
import { type ByteString, bufferOver, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { AuditTask } from '../ports/index.js';
import { parseKvPartition, type Section } from '../protocol/index.js';
import type { ReplayPorts } from './database.js';
import { keyedKvFold } from './folds/index.js';
import { type KvKeyedFold, touchOf } from './keyed-fold.js';

type Task = Extract<AuditTask, { readonly kind: 'undo' }>;

/** One undo is one entry, which its owner holds in memory several times. */
const MAX_KEYS = 200_000;
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

type Written =
  | { readonly by: 'author'; readonly before: KeyLook | undefined; writes: number }
  | { readonly by: 'other'; readonly name: string; readonly atMs: number };

/** One text for each key; at the end one with the counts. @throws INVALID */
export async function* undoPlan(
  ports: ReplayPorts,
  places: ReadonlyMap<ShardName, readonly PartitionName[]>,
  task: Task,
): AsyncIterable<string> {
  const nowMs = ports.clock.nowMs();
  if (task.fromMs >= task.toMs) throw new MillraceError('INVALID', 'the period ends before it begins');
  let unknownEffects = 0;
  for (const [shard, partitions] of places) {
    const plans = new Map(partitions.map((partition) => [partition, new PartitionPlan(task)]));
    const replayed = { shard, partitions, foldFactory: () => keyedKvFold(ports.random, () => nowMs) };
    // Every write that was acknowledged before is in the journal up to here.
    const { last } = await ports.journal.tail(shard);
    const replay = await ShardReplay.open(ports, replayed, { kind: 'time', atMs: task.fromMs });
    try {
      await replay.advance({ kind: 'position', position: last }, (read, section, fold) => {
        plans.get(section.partition)?.apply(read, section, fold);
        return 'applied';
      });
    } finally {
      await replay.close();
    }
    for (const [partition, plan] of plans) {
      unknownEffects += plan.unknownEffects;
      const fold = replay.folds.get(partition) as KvKeyedFold;
      yield* plan.lines(parseKvPartition(partition).index, fold, nowMs);
    }
  }
  yield JSON.stringify({ unknownEffects });
}

class PartitionPlan {
  /** Effects in the period of which no author is known. */
  unknownEffects = 0;
  readonly #byKey = new Map<ByteString, Written>();
  readonly #isWanted: (key: ByteString) => boolean;
  #bytes = 0;

  constructor(private readonly task: Task) {
    this.#isWanted = task.keys === undefined ? () => true : compileGlob(task.keys);
  }

  /** Applies the section effect by effect, and notes each before it is applied. */
  apply({ entry: { clockMs } }: ReadEntry, { effects, authors }: Section, fold: KvKeyedFold): void {
    const reader = new RespCommandReader(bufferOver(effects));
    const names = namesOf(authors);
    const isWithin = clockMs >= this.task.fromMs && clockMs <= this.task.toMs;
    for (let at = 0, words = reader.next(); words !== undefined; words = reader.next()) {
      const name = names?.next().value;
      if (name === undefined && isWithin) this.unknownEffects += 1;
      const isMine = isWithin && name !== undefined && isBy(name, this.task.by);
      const keys = touchOf(words)?.keys ?? [];
      for (const key of keys === 'all' ? fold.keys() : keys) {
        if (this.#isWanted(key)) this.#note(key, fold, isMine, name ?? '', clockMs);
      }
      fold.apply(effects.subarray(at, reader.offset));
      at = reader.offset;
    }
  }

  #note(key: ByteString, fold: KvKeyedFold, isMine: boolean, name: string, atMs: number): void {
    const known = this.#byKey.get(key);
    if (!isMine) {
      if (known?.by === 'author') this.#byKey.set(key, { by: 'other', name, atMs });
      return;
    }
    if (known?.by === 'author') {
      known.writes += 1;
      return;
    }
    const before = fold.look(key, atMs, true);
    this.#bytes += key.length + (before?.value ?? []).flat().reduce((sum, word) => sum + word.length, 0);
    this.#byKey.set(key, { by: 'author', before, writes: 1 });
    if (this.#byKey.size <= MAX_KEYS && this.#bytes <= MAX_VALUE_BYTES) return;
    throw new MillraceError(
      'INVALID',
      `more than ${MAX_KEYS} keys or ${MAX_VALUE_BYTES} bytes would be undone: give a shorter period or a pattern of keys`,
    );
  }

  *lines(partition: number, fold: KvKeyedFold, nowMs: number): Iterable<string> {
    for (const key of [...this.#byKey.keys()].sort()) {
      const written = this.#byKey.get(key) as Written;
      const now = fold.look(key, nowMs, false);
      const seen = now?.digest ?? '';
      if (written.by === 'other') {
        const { name: author, atMs } = written;
        const facts = { partition, conflict: { author, time: new Date(atMs).toISOString() } };
        yield `{"key":${wordJson(key)},${JSON.stringify(facts).slice(1)}`;
        continue;
      }
      const { before, writes } = written;
      if ((before?.digest ?? '') === seen) continue;
      const change = now === undefined ? 'restored' : before === undefined ? 'removed' : 'reverted';
      const commands = (before?.value ?? []).map((words) => `[${words.map(wordJson).join(',')}]`).join(',');
      const facts = { partition, change, type: (before ?? now)?.type ?? '', writes, seen };
      yield `{"key":${wordJson(key)},${JSON.stringify(facts).slice(1, -1)},"commands":[${commands}]}`;
    }
  }
}

/** The author of each effect, in order; undefined: not known. */
function namesOf(authors: Section['authors']): Iterator<string, undefined> | undefined {
  if (authors === undefined) return undefined;
  const [names, runs] = authors;
  return (function* (): Generator<string, undefined> {
    for (let at = 0; at + 1 < runs.length; at += 2) {
      for (let left = runs[at + 1] ?? 0; left > 0; left -= 1) yield names[runs[at] ?? -1] ?? '';
    }
    return undefined;
  })();
}

/** `by` is the whole author `<user>@<address>`, the user or the address. */
function isBy(author: string, by: string): boolean {
  if (author === by) return true;
  const at = author.lastIndexOf('@');
  return at !== -1 && (author.slice(0, at) === by || author.slice(at + 1) === by);
}
