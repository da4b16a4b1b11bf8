/** The kv partition of a search database: commands for its owner, and their replies as lists. */
import { ErrorReply, notAvailable, type Reply } from '../../domain/kv/index.js';
import type { DocumentWrite } from '../../domain/search/index.js';
import { assert, type ByteString, type DatabaseId, MillraceError } from '../../kernel/index.js';
import type { KvGateway } from '../../ports/index.js';
import { kvPartition } from '../../protocol/index.js';

/** The size of a search database. */
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

  /** @throws errors of the gateway; STORAGE_FULL if the partition may not grow */
  pipeline(commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    return this.#run('pipeline', commands);
  }

  /**
   * @param words as the rule of that write expects
   * @throws as `pipeline`; SHARD_UNAVAILABLE if the owner runs an earlier version, which has not executed the write
   */
  async write({ name }: DocumentWrite, ...words: readonly ByteString[]): Promise<readonly Reply[]> {
    return listOf(await this.one([name, ...words]));
  }

  async #run(mode: 'single' | 'pipeline', commands: readonly (readonly ByteString[])[]): Promise<readonly Reply[]> {
    const { index } = this;
    let bytes = 0;
    for (const words of commands) for (const word of words) bytes += word.length;
    const partition = kvPartition(index, 0);
    const { replies } = await this.gateway.execute({ database: index, partition, mode, commands, bytes });
    assert(replies.length === commands.length, 'commands without a reply', { index });
    replies.forEach((reply, at) => {
      if (reply instanceof ErrorReply) throw failureOf(reply, commands[at]?.[0] ?? '', index);
    });
    return replies;
  }
}

/** The last two items of a list of counts. */
export function totalsOf(counts: readonly Reply[]): StoredTotals {
  const [documents, bytes] = counts.slice(-2);
  return { documents: Number(documents ?? 0), bytes: Number(bytes ?? 0) };
}

/** A list, or a map as alternating names and values. */
export function listOf(reply: Reply): readonly Reply[] {
  if (Array.isArray(reply)) return reply;
  const { items } = reply as { items?: readonly Reply[] };
  assert(items !== undefined, 'a reply that is no list');
  return items;
}

function failureOf({ text }: ErrorReply, command: ByteString, index: DatabaseId): MillraceError {
  if (text === notAvailable(command).text) {
    return new MillraceError('SHARD_UNAVAILABLE', 'the owner of a search database is of an earlier version', { index });
  }
  const code = text.startsWith('OOM') ? 'STORAGE_FULL' : 'DEFECT';
  return new MillraceError(code, 'a search database has refused a command', { index, text });
}
