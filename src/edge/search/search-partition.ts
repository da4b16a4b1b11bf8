/** The way to the kv partition of a search database: commands and scripts for its owner, and their replies as lists. */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { documentsKey, INDEX_NAMES_KEY, orderKey } from '../../domain/search/index.js';
import { assert, type ByteString, type DatabaseId, MillraceError } from '../../kernel/index.js';
import { kvPartition } from '../../messages/index.js';
import type { KvGateway } from '../../ports/index.js';

/** Beside those of domain/search/documents.ts; what they hold is in document-scripts.ts. */
export const BYTES_KEY: ByteString = 'b';
export const COUNTS_KEY: ByteString = 'c';

/** How much a search database holds. */
export interface StoredTotals {
  readonly documents: number;
  readonly bytes: number;
}

export class SearchPartition {
  constructor(
    private readonly gateway: KvGateway,
    private readonly index: DatabaseId,
  ) {}

  /** @throws as `pipeline` */
  async one(words: readonly ByteString[]): Promise<Reply> {
    return (await this.#run('single', [words]))[0] as Reply;
  }

  /** @throws what the gateway throws; STORAGE_FULL when the partition may not grow */
  pipeline(commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    return this.#run('pipeline', commands);
  }

  /**
   * One of document-scripts.ts.
   * @param name of the index that it is about. @param moreKeys behind those that every script has
   * @throws as `pipeline`
   */
  async script(
    script: ByteString,
    name: string,
    words: readonly ByteString[],
    moreKeys: readonly ByteString[] = [],
  ): Promise<readonly Reply[]> {
    const keys = [documentsKey(name), orderKey(name), INDEX_NAMES_KEY, BYTES_KEY, COUNTS_KEY, ...moreKeys];
    return listOf(await this.one(['EVAL', script, String(keys.length), ...keys, ...words]));
  }

  async #run(mode: 'single' | 'pipeline', commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    const { index } = this;
    let bytes = 0;
    for (const words of commands) for (const word of words) bytes += word.length;
    const partition = kvPartition(index, 0);
    const { replies } = await this.gateway.execute({ database: index, partition, mode, commands, bytes });
    assert(replies.length === commands.length, 'commands without a reply', { index });
    for (const reply of replies) if (reply instanceof ErrorReply) throw failureOf(reply, index);
    return replies;
  }
}

/** What stands last in a list of counts. */
export function totalsOf(counts: readonly Reply[]): StoredTotals {
  const [documents, bytes] = counts.slice(-2);
  return { documents: Number(documents ?? 0), bytes: Number(bytes ?? 0) };
}

/** A list, or a map as names and values in turn. */
export function listOf(reply: Reply): readonly Reply[] {
  if (Array.isArray(reply)) return reply;
  const { items } = reply as { items?: readonly Reply[] };
  assert(items !== undefined, 'a reply that is no list');
  return items;
}

function failureOf({ text }: ErrorReply, index: DatabaseId): MillraceError {
  const code = text.startsWith('OOM') ? 'STORAGE_FULL' : 'DEFECT';
  return new MillraceError(code, 'a search database has refused a command', { index, text });
}
