/**
 * The current keys of a database with type, expiry and size. They are read from the owner by SCAN and a pipeline of
 * reads, which count as reads of these keys.
 *
 *  LOK1 a listing continued with each answer's cursor contains every key that exists from the first call to the last,
 *       once
 *  LOK2 an answer ends with the requested number of keys, after `LOOK_MS`, or after `MAX_ADMIN_ANSWER_BYTES` of
 *       names, so that a rare pattern does not cause a long wait
 */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { type ByteString, shownBytes } from '../../kernel/index.js';
import type { AuditedPlace, Clock, KvGateway } from '../../ports/index.js';
import { kvPartition, type PartitionLayout } from '../../protocol/index.js';
import { bytesOfWords } from '../commands/admission.js';
import { continueScan, routeScan } from '../commands/fan-out.js';
import { invalid } from '../http/refused.js';
import { LOOK_MS, MAX_ADMIN_ANSWER_BYTES, MAX_KEY_FOLDERS, MAX_LOOK_STEP_KEYS } from './admin-limits.js';

/** The command for a key's length by type; a string's length is in its bytes, and documents have no single command. */
const LENGTH_OF: Readonly<Record<string, ByteString>> = {
  string: 'STRLEN',
  list: 'LLEN',
  hash: 'HLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  stream: 'XLEN',
  array: 'ARCOUNT',
  vector: 'VECTOR.COUNT',
  vectorset: 'VCARD',
};
/** Types without a command for their length. */
const SKETCH_TYPES = ['MBbloom--', 'MBbloomCF', 'CMSk-TYPE', 'TopK-TYPE', 'TDIS-TYPE'] as const;
/** Words of TYPE. */
export const KEY_TYPES = [...Object.keys(LENGTH_OF), 'ReJSON-RL', 'search', ...SKETCH_TYPES] as const;

export interface KeyFilter {
  readonly match: ByteString | undefined;
  readonly type: string | undefined;
  /** '0' starts a listing. */
  readonly cursor: string;
  /** The listing ends at this number; a last step may exceed it. */
  readonly count: number;
}

interface FoundKey {
  readonly key: ByteString;
  readonly type: string;
}

interface KeyView {
  readonly key: ReturnType<typeof shownBytes>;
  readonly type: string;
  /** Null: no expiry. */
  readonly ttlMs: number | null;
  /** Approximate bytes of name and value. */
  readonly bytes: number;
  readonly length: number | undefined;
}

export class DatabaseKeys {
  readonly #database;
  readonly #layout: PartitionLayout;

  constructor(
    private readonly gateway: KvGateway,
    private readonly clock: Clock,
    place: Extract<AuditedPlace, { readonly kind: 'database' }>,
  ) {
    this.#database = place.database;
    this.#layout = place;
  }

  /** `cursor` '0': the end. @throws Refused 400; as the gateway does */
  async page(filter: KeyFilter): Promise<{ readonly keys: readonly KeyView[]; readonly cursor: string }> {
    const shown: KeyView[] = [];
    const cursor = await this.#walk(filter, async (found, partition) => {
      shown.push(...(await this.#shown(found, partition)));
      return shown.length;
    });
    return { keys: shown, cursor };
  }

  /**
   * The direct children of a prefix: keys, and folders with the number of keys met in this listing.
   * @param filter its count limits the shown keys. @throws as `page`
   */
  async folders(prefix: ByteString, separator: ByteString, filter: Omit<KeyFilter, 'match'>) {
    const keysOf = new Map<ByteString, number>();
    const shown: KeyView[] = [];
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

  /**
   * @param take handles each step of one partition, and returns the number of results so far. @returns the next
   * cursor
   */
  async #walk(
    { match, type, cursor: from, count }: KeyFilter,
    take: (found: readonly FoundKey[], partition: number) => Promise<number>,
  ): Promise<string> {
    const untilMs = this.clock.monotonicMs() + LOOK_MS;
    const filters = [...(match === undefined ? [] : ['MATCH', match]), ...(type === undefined ? [] : ['TYPE', type])];
    let [cursor, taken, met, bytes] = [from, 0, 0, 0];
    do {
      // The step size is estimated from the share of matching keys so far.
      const wanted = Math.ceil(((count - taken) * (met + 1)) / (taken + 1));
      const step = Math.min(wanted, MAX_LOOK_STEP_KEYS);
      const words = ['SCAN', cursor, 'COUNT', String(step), 'WITHTYPE', ...filters];
      const { partition, words: own } = routeScan(words, this.#layout);
      const [reply] = await this.#ask(partition, [own]);
      const [next, list] = continueScan(reply as Reply, partition, this.#layout) as [string, ByteString[]];
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

  /** The keys that still exist. */
  async #shown(found: readonly FoundKey[], partition: number): Promise<KeyView[]> {
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
      // The key was deleted or replaced between the two requests.
      if (typeof bytes !== 'number' || typeof ttlMs !== 'number' || length instanceof ErrorReply) return [];
      return [
        { key: shownBytes(key), type, ttlMs: ttlMs < 0 ? null : ttlMs, bytes, length: length as number | undefined },
      ];
    });
  }

  /** @throws Refused 400 if SCAN is refused; as the gateway does */
  async #ask(partition: number, commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    const database = this.#database;
    const bytes = commands.reduce((sum, words) => sum + bytesOfWords(words), 0);
    const mode = commands.length === 1 ? 'single' : 'pipeline';
    const { replies } = await this.gateway.execute({
      database,
      partition: kvPartition(database, (this.#layout.firstPartition ?? 0) + partition),
      mode,
      commands,
      bytes,
    });
    const [first] = replies;
    if (commands[0]?.[0] === 'SCAN' && first instanceof ErrorReply) throw invalid(first.restText);
    return replies;
  }
}
