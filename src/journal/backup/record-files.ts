/**
 * Named records in files of bounded size: an archive of objects, or of a journal's messages. A record is the lengths of
 * its name and its content, four bytes each in big-endian order, then both. It is not in the schema language, because
 * contents are processed in pieces and never held as one value.
 */
import { MillraceError } from '../../kernel/index.js';
import type { BackupFiles, FileRef } from '../../ports/index.js';

export interface BackupRecord {
  readonly name: string;
  readonly content: Uint8Array;
}

export interface RecordPlace {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

/** Large enough that an installation has some hundreds of files, small enough for any transfer. */
const FILE_BYTES = 256 * 1024 * 1024;
const HEAD_BYTES = 8;
/** A name is an object name or a position. */
const MAX_NAME_BYTES = 1024;
const FILE_DIGITS = 5;

/** Files `<prefix>00000`, `<prefix>00001` …; none without records. A record is never split. */
export async function writeRecords(
  files: BackupFiles,
  prefix: string,
  records: AsyncIterable<BackupRecord>,
  fileBytes = FILE_BYTES,
): Promise<FileRef[]> {
  const iterator = records[Symbol.asyncIterator]();
  const written: FileRef[] = [];
  let next = await iterator.next();

  async function* piecesOfOneFile(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    while (next.done !== true) {
      const name = Buffer.from(next.value.name, 'utf8');
      const { content } = next.value;
      const size = HEAD_BYTES + name.length + content.length;
      if (bytes > 0 && bytes + size > fileBytes) return;
      bytes += size;
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32BE(name.length, 0);
      head.writeUInt32BE(content.length, 4);
      yield Buffer.concat([head, name]);
      yield content;
      next = await iterator.next();
    }
  }

  try {
    while (next.done !== true) {
      const name = `${prefix}${String(written.length).padStart(FILE_DIGITS, '0')}`;
      written.push(await files.write(name, piecesOfOneFile()));
    }
    return written;
  } finally {
    await iterator.return?.();
  }
}

/** All records of the files, in order. @throws JOURNAL_DAMAGED when a file is missing or ends within a record */
export async function* readRecords(
  files: BackupFiles,
  refs: readonly Pick<FileRef, 'name'>[],
): AsyncGenerator<BackupRecord> {
  for (const { name: file } of refs) {
    const pieces = await files.read(file);
    if (pieces === undefined) throw damaged(file, 'the file does not exist');
    let held = Buffer.alloc(0);
    for await (const piece of pieces) {
      held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
      let at = 0;
      for (let record = recordAt(file, held, at); record !== undefined; record = recordAt(file, held, at)) {
        yield { name: record.name, content: new Uint8Array(held.subarray(record.contentAt, record.end)) };
        at = record.end;
      }
      held = held.subarray(at);
    }
    if (held.length > 0) throw damaged(file, 'it ends within a record');
  }
}

/** The location of each content, by name; only the heads are read. @throws JOURNAL_DAMAGED */
export async function placesOf(files: BackupFiles, refs: readonly FileRef[]): Promise<Map<string, RecordPlace>> {
  const places = new Map<string, RecordPlace>();
  for (const { name: file, bytes: end } of refs) {
    for (let at = 0; at < end; ) {
      const head = Buffer.from(await files.readAt(file, at, HEAD_BYTES + MAX_NAME_BYTES));
      if (head.length < HEAD_BYTES) throw damaged(file, 'it ends within a record');
      const { nameBytes, bytes } = lengthsIn(file, head);
      if (head.length < HEAD_BYTES + nameBytes) throw damaged(file, 'it ends within a record');
      const name = head.toString('utf8', HEAD_BYTES, HEAD_BYTES + nameBytes);
      const offset = at + HEAD_BYTES + nameBytes;
      if (offset + bytes > end) throw damaged(file, 'it ends within a record');
      places.set(name, { file, offset, bytes });
      at = offset + bytes;
    }
  }
  return places;
}

function recordAt(file: string, held: Buffer, at: number) {
  if (held.length < at + HEAD_BYTES) return undefined;
  const { nameBytes, bytes } = lengthsIn(file, held.subarray(at));
  const contentAt = at + HEAD_BYTES + nameBytes;
  const end = contentAt + bytes;
  if (held.length < end) return undefined;
  return { name: held.toString('utf8', at + HEAD_BYTES, contentAt), contentAt, end };
}

function lengthsIn(file: string, head: Buffer): { nameBytes: number; bytes: number } {
  const nameBytes = head.readUInt32BE(0);
  if (nameBytes > MAX_NAME_BYTES) throw damaged(file, 'a record has no name');
  return { nameBytes, bytes: head.readUInt32BE(4) };
}

function damaged(file: string, reason: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${file} of the backup cannot be read: ${reason}`, { file });
}
