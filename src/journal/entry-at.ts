/**
 * Reads one entry by the position of its last message, and joins its chunks. It reads no other entry, so the entry's
 * place in the chain is not verified.
 */
import { createHash } from 'node:crypto';
import { decodeMessage } from '../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal } from '../ports/index.js';
import type { Entry, JournalMessage } from '../protocol/index.js';

type Commit = Extract<JournalMessage, { kind: 'commit' }>;

/** Hashing or copying this many bytes takes a fraction of a millisecond. */
const SLICE_BYTES = 512 * 1024;

/**
 * @param pause  awaited between slices of a large entry
 * @returns undefined when it is no longer complete
 * @throws JOURNAL_DAMAGED when no entry ends there; JOURNAL_UNAVAILABLE
 */
export async function readEntryAt(
  journal: Pick<Journal, 'readAt'>,
  shard: ShardName,
  position: number,
  pause: () => Promise<void>,
): Promise<Entry | undefined> {
  const last = await journal.readAt(shard, position);
  if (last === undefined) return undefined;
  const message = decodeMessage(last);
  if (message.kind === 'entry') return message.entry;
  if (message.kind === 'chunk') throw damaged('no entry ends where one was remembered', shard, position);
  const bytes = await joinChunks(journal, shard, position, message, pause);
  if (bytes === undefined) return undefined;
  const joined = decodeMessage(bytes);
  if (joined.kind !== 'entry') throw damaged('chunks hold something other than an entry', shard, position);
  return joined.entry;
}

/** The messages of a set have successive positions, because each expected the one before it (docs/decisions/journal.md). */
async function joinChunks(
  journal: Pick<Journal, 'readAt'>,
  shard: ShardName,
  position: number,
  commit: Commit,
  pause: () => Promise<void>,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(commit.totalBytes);
  const hash = createHash('sha256');
  let end = 0;
  for (let part = 0; part < commit.parts; part += 1) {
    const stored = await journal.readAt(shard, position - commit.parts + part);
    if (stored === undefined) return undefined;
    const chunk = decodeMessage(stored);
    if (chunk.kind !== 'chunk' || !isOfSet(chunk, commit, part) || end + chunk.bytes.length > bytes.length) {
      throw damaged('a commit does not fit its chunks', shard, position);
    }
    for (let from = 0; from < chunk.bytes.length; from += SLICE_BYTES) {
      const slice = chunk.bytes.subarray(from, from + SLICE_BYTES);
      bytes.set(slice, end);
      hash.update(slice);
      end += slice.length;
      await pause();
    }
  }
  if (end !== bytes.length || !hash.digest().equals(commit.hash)) {
    throw damaged('a chunked entry does not have the bytes it was committed with', shard, position);
  }
  return bytes;
}

function isOfSet(chunk: Extract<JournalMessage, { kind: 'chunk' }>, commit: Commit, part: number): boolean {
  const { epoch, number, writer } = commit;
  return (
    chunk.part === part && chunk.epoch === epoch && chunk.number === number && Buffer.from(chunk.writer).equals(writer)
  );
}

function damaged(reason: string, shard: ShardName, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: ${reason}`, { shard, position });
}
