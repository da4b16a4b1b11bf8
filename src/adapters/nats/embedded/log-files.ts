/**
 * The server's log files: the removal of old ones, and the reason of a failed start.
 *
 * Newer servers remove rotated files themselves; older ones keep every file for ever.
 */
import { open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** In addition to the current file. */
const KEPT_ROTATED_FILES = 1;
/** The first lines have the reason of a failed start. */
const READ_BYTES = 16 * 1024;

export async function removeOldLogs(logPath: string): Promise<void> {
  const dir = dirname(logPath);
  // The server appends the date and time, so that names sort by age.
  const rotated = (await readdir(dir)).filter((name) => name.startsWith(`${basename(logPath)}.`)).sort();
  for (const name of rotated.slice(0, Math.max(0, rotated.length - KEPT_ROTATED_FILES))) {
    await rm(join(dir, name), { force: true });
  }
}

/** Bytes of the file, 0 when there is none. */
export async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (info) => info.size,
    () => 0,
  );
}

/** The last error that the server logged after the file had `fromByte` bytes, without time and level. */
export async function lastComplaint(logPath: string, fromByte: number): Promise<string | undefined> {
  const file = await open(logPath).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, fromByte);
    const complaints = buffer.toString('utf8', 0, bytesRead).match(/\[(?:FTL|ERR)\] .*/g);
    return complaints?.at(-1)?.slice('[FTL] '.length);
  } finally {
    await file.close();
  }
}
