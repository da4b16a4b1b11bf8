/**
 * A running Redis as batches of keys: SCAN, then DUMP and the expiry of each. Concurrent writes are allowed: a key is
 * as it was when it was read, and one written during the scan may be older or newer.
 *
 *  RSO1 a value's size is read before the value, so that memory is bounded by one batch or one value
 */
import type { ByteString } from '../../kernel/index.js';
import { type ClientReply, ReplyError } from './reply-reader.js';
import type { RespLink } from './resp-link.js';
import { type Batch, type KeySource, otherDatabase, type SourceBounds, type SourceKey } from './source.js';

const NO_MORE = '0';
/** Values of unknown size are fetched one by one. */
const UNKNOWN_BYTES = Number.POSITIVE_INFINITY;

export class RedisSource implements KeySource {
  private constructor(
    private readonly link: RespLink,
    private readonly bounds: SourceBounds,
    readonly identity: string,
    private readonly others: Batch['left'],
    private readonly tellsInstants: boolean,
  ) {}

  /** @param database undefined: the first database; others are reported */
  static async open(link: RespLink, bounds: SourceBounds, database: number | undefined): Promise<RedisSource> {
    const info = String(await link.one(['INFO']));
    const run = /^run_id:(\w+)/m.exec(info)?.[1] ?? 'unknown';
    const others = [...info.matchAll(/^db(\d+):keys=(\d+)/gm)]
      .map(([, number, keys]) => [Number(number), Number(keys)] as const)
      .filter(([number]) => database === undefined && number !== 0);
    // Redis 6 reports only the remaining time.
    const tellsInstants = !((await link.one(['PEXPIRETIME', ''])) instanceof ReplyError);
    const left = others.map(([number, keys]) => otherDatabase(number, keys, 'keys'));
    return new RedisSource(link, bounds, `run ${run} database ${database ?? 0}`, left, tellsInstants);
  }

  async *batches(from: string | undefined): AsyncIterable<Batch> {
    let cursor = from ?? NO_MORE;
    if (from === undefined) yield { keys: [], ...(await this.#librariesAndRest()), next: NO_MORE };
    do {
      const at = cursor;
      const scanned = await this.link.must(['SCAN', at, 'COUNT', String(this.bounds.batchKeys)]);
      if (!Array.isArray(scanned)) throw new Error('the reply to SCAN is not a list');
      const [next, names] = scanned as [ByteString, ByteString[]];
      cursor = next;
      const groups = await this.#groups(names);
      for (const [index, group] of groups.entries()) {
        const isLast = index === groups.length - 1;
        yield { keys: await this.#fetched(group), libraries: [], left: [], next: isLast ? next : at };
      }
    } while (cursor !== NO_MORE);
  }

  /** Libraries of functions, and items that are not imported. */
  async #librariesAndRest(): Promise<Pick<Batch, 'libraries' | 'left'>> {
    const reply = await this.link.one(['FUNCTION', 'LIST', 'WITHCODE']);
    if (!(reply instanceof ReplyError)) return { libraries: [...codesIn(reply)], left: this.others };
    // Redis 6 has no functions.
    if (/unknown command/i.test(reply.text)) return { libraries: [], left: this.others };
    return { libraries: [], left: [...this.others, ['libraries of functions', reply.text]] };
  }

  /** Groups keys by the sizes of their values (RSO1: sizes are read first). */
  async #groups(names: readonly ByteString[]): Promise<{ name: ByteString; bytes: number }[][]> {
    const sizes = await this.link.all(names.map((name) => ['MEMORY', 'USAGE', name]));
    const groups: { name: ByteString; bytes: number }[][] = [];
    let bytes = UNKNOWN_BYTES;
    for (const [index, name] of names.entries()) {
      const size = sizes[index];
      const own = typeof size === 'number' ? size : size === null ? 0 : UNKNOWN_BYTES;
      if (bytes + own > this.bounds.batchBytes) {
        groups.push([]);
        bytes = 0;
      }
      groups.at(-1)?.push({ name, bytes: own });
      bytes += own;
    }
    return groups;
  }

  async #fetched(group: readonly { name: ByteString; bytes: number }[]): Promise<SourceKey[]> {
    const { mostValueBytes } = this.bounds;
    const isFetched = (bytes: number) => bytes === UNKNOWN_BYTES || bytes <= mostValueBytes;
    const large = group.filter(({ bytes }) => !isFetched(bytes));
    const others = group.filter(({ bytes }) => isFetched(bytes));
    const expiry = this.tellsInstants ? 'PEXPIRETIME' : 'PTTL';
    const [time, ...replies] = await this.link.all([
      ['TIME'],
      ...others.flatMap(({ name }) => [
        [expiry, name],
        ['DUMP', name],
      ]),
    ]);
    const startMs = this.tellsInstants ? 0 : millisecondsOf(time);
    const keys: SourceKey[] = large.map(({ name, bytes }) => ({ name, payload: undefined, bytes }));
    for (const [index, { name }] of others.entries()) {
      const [at, payload] = [replies[2 * index], replies[2 * index + 1]];
      if (payload instanceof ReplyError) throw new Error(`the source refuses DUMP: ${payload.text}`);
      // The key was deleted or expired after the scan.
      if (typeof payload !== 'string') continue;
      const expireAtMs = typeof at === 'number' && at > 0 ? startMs + at : undefined;
      keys.push({ name, payload, bytes: payload.length, expireAtMs });
    }
    return keys;
  }
}

/** Texts of libraries in the reply of FUNCTION LIST; each follows its name. */
function* codesIn(reply: ClientReply): Iterable<ByteString> {
  if (!Array.isArray(reply)) return;
  const at = reply.indexOf('library_code');
  if (at >= 0) yield String(reply[at + 1]);
  else for (const item of reply as readonly ClientReply[]) yield* codesIn(item);
}

function millisecondsOf(time: ClientReply | undefined): number {
  const [seconds, micros] = Array.isArray(time) ? time : [Number.NaN, 0];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
