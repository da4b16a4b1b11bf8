/** JSON files of a backup with their checksum: `{"sha256": "<of the JSON text of contents>", "contents": { … }}`. */
import { createHash } from 'node:crypto';
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL, MillraceError, writtenByNewer } from '../../kernel/index.js';
import type { BackupFiles } from '../../ports/index.js';

/** The level of the stored forms that a file, or the files that it names, may contain. */
interface Leveled {
  readonly format: number;
}

/** @returns the bytes written */
export async function writeChecked(files: BackupFiles, name: string, contents: Leveled): Promise<number> {
  const text = JSON.stringify(contents);
  const whole = Buffer.from(`{"sha256":"${digestOf(text)}","contents":${text}}\n`);
  const { bytes } = await files.write(
    name,
    (async function* () {
      yield whole;
    })(),
  );
  return bytes;
}

/**
 * @param title  its name in messages: `the manifest`
 * @returns undefined when there is no such file. @throws JOURNAL_DAMAGED when it differs by a single bit from the written one
 */
export async function readChecked<Contents extends Leveled>(
  files: BackupFiles,
  name: string,
  title: string,
): Promise<Contents | undefined> {
  const pieces = await files.read(name);
  if (pieces === undefined) return undefined;
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  const { sha256, contents } = parsed<Contents>(Buffer.concat(read).toString('utf8'), title);
  // JSON of lists, texts and whole numbers has the same text after parsing and writing.
  if (contents !== undefined && sha256 === digestOf(JSON.stringify(contents))) return contents;
  throw damaged(title, 'checksum mismatch');
}

/** @throws NEWER_FORMAT, or INVALID for a level that no release has */
export function ofThisRelease<Contents extends Leveled>(contents: Contents): Contents {
  const { format } = contents;
  if (Number.isSafeInteger(format) && format > FORMAT_LEVEL) {
    throw writtenByNewer('the backup', { of: 'level', found: format, known: FORMAT_LEVEL });
  }
  if (Number.isSafeInteger(format) && format >= FIRST_FORMAT_LEVEL) return contents;
  throw new MillraceError('INVALID', `a backup of format ${String(format)}, which this release cannot read`);
}

function parsed<Contents>(text: string, title: string): { sha256?: string; contents?: Contents } {
  try {
    return (JSON.parse(text) as { sha256?: string; contents?: Contents } | null) ?? {};
  } catch (cause) {
    throw damaged(title, 'it is not JSON', cause);
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function damaged(title: string, reason: string, cause?: unknown): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${title} of the backup cannot be read: ${reason}`, {}, cause);
}
