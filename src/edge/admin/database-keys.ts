/**
 * Keys of a database as they are now, each with what a list shows of it; asked of the owner as SCAN and a pipeline of
 * reads, which count as reads of these keys.
 *
 *  LOK1 a walk that goes on with each answer's cursor meets every key that is there from its first call to its last, once
 *  LOK2 an answer ends when it has what was asked for, after `LOOK_MS`, or with `MAX_ADMIN_ANSWER_BYTES` of names:
 *       nobody waits for a pattern that fits one key of a million
 */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { type ByteString, shownBytes } from '../../kernel/index.js';
import { kvPartition } from '../../messages/index.js';
import type { AuditedPlace, Clock, KvGateway } from '../../ports/index.js';
import { bytesOfWords } from '../commands/admission.js';
import { continueScan, routeScan } from '../commands/fan-out.js';
import { invalid } from '../http/refused.js';
import { LOOK_MS, MAX_ADMIN_ANSWER_BYTES, MAX_KEY_FOLDERS, MAX_LOOK_STEP_KEYS } from './admin-limits.js';

/** How long it is, by type; a string's length is in its bytes, and a document's has no one command. */
const LENGTH_OF: Readonly<Record<string, ByteString>> = {
  string: 'STRLEN',
  list: 'LLEN',
  hash: 'HLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  stream: 'XLEN',
};
/** Words of TYPE. */
export const KEY_TYPES = [...Object.keys(LENGTH_OF), 'ReJSON-RL'] as const;

export interface KeyFilter {
  readonly match: ByteString | undefined;
  readonly type: string | undefined;
  /** '0' begins. */
  readonly cursor: string;
  /** Ends the walk when so many were found; some more may be. */
  readonly count: number;
}

interface FoundKey {
  readonly key: ByteString;
  readonly type: string;
}

interface ShownKey {
  readonly key: ReturnType<typeof shownBytes>;
  readonly type: string;
  /** Null: it does not expire. */
  readonly ttlMs: number | null;
  /** Of name and value, about. */
  readonly bytes: number;
  readonly length: number | undefined;
}

export class DatabaseKeys {
  readonly #database;
  readonly #partitions: number;

  constructor(
    private readonly gateway: KvGateway,
    private readonly clock: Clock,
    { database, partitions }: Extract<AuditedPlace, { readonly kind: 'database' }>,
  ) {
    this.#database = database;
    this.#partitions = partitions;
  }

  /** `cursor` '0': there are no more. @throws Refused 400; as the gateway does */
  async page(filter: KeyFilter): Promise<{ readonly keys: readonly ShownKey[]; readonly cursor: string }> {
    const shown: ShownKey[] = [];
    const cursor = await this.#walk(filter, async (found, partition) => {
      shown.push(...(await this.#shown(found, partition)));
      return shown.length;
    });
    return { keys: shown, cursor };
  }

  /**
   * What is directly below a prefix: keys, and folders with how many keys of this walk are in each.
   * @param filter its count ends the walk when so many keys are shown. @throws as `page`
   */
  async folders(prefix: ByteString, separator: ByteString, filter: Omit<KeyFilter, 'match'>) {
    const keysOf = new Map<ByteString, number>();
    const shown: ShownKey[] = [];
    const match = `${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*`;
    const cursor = await this.#walk({ ...filter, match }, async (found, partition) => {
      const direct = found.filter(({ key }) => {
        const end = key.indexOf(separator, prefix.length);
        if (end < 0) return true;
        const name = key.slice(prefix.length, end);
        keysOf.set(name, (keysOf.get(name) ?? 0) + 1);
        return false;
      });
      shown.push(...(await this.#shown(direct, partition)));
      return keysOf.size >= MAX_KEY_FOLDERS ? filter.count : shown.length;
    });
    const folders = [...keysOf].map(([name, keys]) => ({ name: shownBytes(name), keys }));
    return { folders, keys: shown, cursor };
  }

  /** @param take of each step, in one partition; it answers how many of the wanted there are by now. @returns where to go on */
  async #walk(
    { match, type, cursor: from, count }: KeyFilter,
    take: (found: readonly FoundKey[], partition: number) => Promise<number>,
  ): Promise<string> {
    const untilMs = this.clock.monotonicMs() + LOOK_MS;
    const filters = [...(match === undefined ? [] : ['MATCH', match]), ...(type === undefined ? [] : ['TYPE', type])];
    let [cursor, taken, met, bytes] = [from, 0, 0, 0];
    do {
      // As many as should bring what is left, by what the steps so far have brought.
      const wanted = Math.ceil(((count - taken) * (met + 1)) / (taken + 1));
      const step = Math.min(wanted, MAX_LOOK_STEP_KEYS);
      const words = ['SCAN', cursor, 'COUNT', String(step), 'WITHTYPE', ...filters];
      const { partition, words: own } = routeScan(words, this.#partitions);
      const [reply] = await this.#ask(partition, [own]);
      const [next, list] = continueScan(reply as Reply, partition, this.#partitions) as [string, ByteString[]];
      const found: FoundKey[] = [];
      for (let at = 0; at < list.length; at += 2)
        found.push({ key: list[at] as ByteString, type: list[at + 1] as string });
      taken = await take(found, partition);
      cursor = next;
      met += step;
      bytes += bytesOfWords(list);
    } while (cursor !== '0' && taken < count && bytes < MAX_ADMIN_ANSWER_BYTES && this.clock.monotonicMs() < untilMs);
    return cursor;
  }

  /** Those that are still there. */
  async #shown(found: readonly FoundKey[], partition: number): Promise<ShownKey[]> {
    if (found.length === 0) return [];
    const commands = found.flatMap(({ key, type }) => [
      ['PTTL', key],
      ['MEMORY', 'USAGE', key],
      ...(type in LENGTH_OF ? [[LENGTH_OF[type] as ByteString, key]] : []),
    ]);
    const replies = (await this.#ask(partition, commands)).values();
    const next = () => replies.next().value as Reply;
    return found.flatMap(({ key, type }) => {
      const [ttlMs, bytes, length] = [next(), next(), type in LENGTH_OF ? next() : undefined];
      // It has gone since, or is something else: the owner was asked twice.
      if (typeof bytes !== 'number' || typeof ttlMs !== 'number' || length instanceof ErrorReply) return [];
      return [
        { key: shownBytes(key), type, ttlMs: ttlMs < 0 ? null : ttlMs, bytes, length: length as number | undefined },
      ];
    });
  }

  /** @throws Refused 400 when SCAN is refused; as the gateway does */
  async #ask(partition: number, commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    const database = this.#database;
    const bytes = commands.reduce((sum, words) => sum + bytesOfWords(words), 0);
    const mode = commands.length === 1 ? 'single' : 'pipeline';
    const { replies } = await this.gateway.execute({
      database,
      partition: kvPartition(database, partition),
      mode,
      commands,
      bytes,
    });
    const [first] = replies;
    if (commands[0]?.[0] === 'SCAN' && first instanceof ErrorReply) throw invalid(first.restText);
    return replies;
  }
}
