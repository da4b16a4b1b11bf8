/** Converts messages of a stream to records of a backup and back, and copies logs without a chain. */
import { isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { BackupFiles, FileRef, Journal, StoredMessage } from '../../ports/index.js';
import { journalEndAt } from '../journal-end.js';
import type { LogBackup } from './backup-manifest.js';
import { type BackupRecord, readRecords, writeRecords } from './record-files.js';

type Reader = { readonly journal: Pick<Journal, 'read' | 'readAt' | 'tail'> };

/** The front of an intake moves during reading when a record is accepted; many times in a row is only chance. */
const TRIES = 20;

export function recordOf({ position, storedAtMs, bytes }: StoredMessage): BackupRecord {
  return { name: `${position} ${storedAtMs}`, content: bytes };
}

/** All messages of the files. @throws JOURNAL_DAMAGED */
export async function* readMessages(files: BackupFiles, refs: readonly FileRef[]): AsyncGenerator<StoredMessage> {
  for await (const { name, content } of readRecords(files, refs)) {
    const [position = Number.NaN, storedAtMs = Number.NaN] = name.split(' ').map(Number);
    if (!Number.isSafeInteger(position) || !Number.isSafeInteger(storedAtMs)) {
      throw new MillraceError('JOURNAL_DAMAGED', 'a message of the backup has no position', { name });
    }
    yield { position, storedAtMs, bytes: content };
  }
}

/**
 * The messages of a range in order, each once: the files of a continuous copy may overlap, and the last one may have later
 * messages. @throws JOURNAL_DAMAGED when one is missing
 */
export async function* readRange(
  files: BackupFiles,
  refs: readonly FileRef[],
  { shard, from, to }: Pick<LogBackup, 'shard' | 'from' | 'to'>,
): AsyncGenerator<StoredMessage> {
  let expected = from;
  if (to < from) return;
  for await (const message of readMessages(files, refs)) {
    if (message.position < expected) continue;
    if (message.position > expected) throw hole(shard, expected);
    yield message;
    if (expected === to) return;
    expected += 1;
  }
  throw hole(shard, expected);
}

function hole(shard: ShardName, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: the backup lacks messages`, { position });
}

/** Copies all present messages. @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function copyLog({ journal }: Reader, files: BackupFiles, shard: ShardName): Promise<LogBackup> {
  for (let tries = 1; ; tries += 1) {
    const { first: from, last: to } = await journal.tail(shard);
    await files.removeAll(`${shard}/`);
    const messages = async function* (): AsyncGenerator<BackupRecord> {
      for await (const message of journal.read(shard, from, to)) yield recordOf(message);
    };
    try {
      return { shard, from, to, records: await writeRecords(files, `${shard}/records-`, messages()) };
    } catch (error) {
      const { first } = await journal.tail(shard);
      const isTrimmed = isMillraceError(error) && first > from;
      if (!isTrimmed || tries === TRIES) throw error;
    }
  }
}

/**
 * The end of the last complete entry; 0 in an empty journal.
 * @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED
 */
export async function lastWholeEntry({ journal }: Reader, shard: ShardName): Promise<number> {
  return (await journalEndAt(journal, shard, await journal.tail(shard))).head.position;
}
