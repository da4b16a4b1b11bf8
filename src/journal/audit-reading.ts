/** Reads all of a stream and reports its gaps, for audits. Other readers stop at the first gap. */
import { isMillraceError, MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, JournalTail, StoredMessage } from '../ports/index.js';

export type AuditStep =
  | { readonly kind: 'message'; readonly message: StoredMessage }
  /** These positions have no message; both ends are inclusive. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };

export type ReadableJournal = Pick<Journal, 'tail' | 'read' | 'readAt'>;

export interface ReadingOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called about every thousand messages, and at the end. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

const PROGRESS_EVERY = 1000;

/** @throws JOURNAL_UNAVAILABLE, SHUTTING_DOWN when aborted */
export async function* readWithGaps(
  journal: ReadableJournal,
  shard: ShardName,
  { first, last }: Pick<JournalTail, 'first' | 'last'>,
  { signal, onProgress }: ReadingOptions,
): AsyncGenerator<AuditStep> {
  const total = last - first + 1;
  for (let next = first; next <= last; ) {
    const end = await lastReadable(journal, shard, { first: next, last }, signal);
    if (end === undefined) {
      yield { kind: 'gap', from: next, to: last };
      break;
    }
    try {
      for await (const message of journal.read(shard, next, end)) {
        next = message.position + 1;
        yield { kind: 'message', message };
        refuseInterrupted(signal);
        if ((next - first) % PROGRESS_EVERY === 0) onProgress?.(next - first, total);
      }
    } catch (error) {
      const to = await endOfGap(journal, shard, next, error);
      yield { kind: 'gap', from: next, to };
      next = to + 1;
    }
  }
  onProgress?.(total, total);
}

/** Positions requested in parallel; messages of 1 MiB are in memory at the same time. */
const MOST_ASKED = 32;

/**
 * Finds the last readable position by asking for each one, which takes a fraction of a millisecond. A server delivers
 * no message after it, so a reader that expects more would wait until its time limit.
 * @returns undefined when no position from `first` to `last` can be read
 */
async function lastReadable(
  journal: ReadableJournal,
  shard: ShardName,
  { first, last }: Pick<JournalTail, 'first' | 'last'>,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  let count = 1;
  for (let to = last; to >= first; to -= count) {
    refuseInterrupted(signal);
    count = Math.min(2 * count, MOST_ASKED, to - first + 1);
    const positions = Array.from({ length: count }, (_, back) => to - back);
    const found = await Promise.all(positions.map((position) => journal.readAt(shard, position)));
    const newest = found.findIndex((bytes) => bytes !== undefined);
    if (newest >= 0) return to - newest;
  }
  return undefined;
}

function refuseInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new MillraceError('SHUTTING_DOWN', 'the audit was interrupted');
}

/** @throws an error that is not about a gap */
async function endOfGap(journal: ReadableJournal, shard: ShardName, next: number, error: unknown): Promise<number> {
  if (isMillraceError(error, 'JOURNAL_DAMAGED') && typeof error.details.found === 'number') {
    if (error.details.found > next) return error.details.found - 1;
  }
  // At the end of a journal no later message shows the gap.
  if (isMillraceError(error, 'JOURNAL_UNAVAILABLE') && (await journal.readAt(shard, next)) === undefined) return next;
  throw error;
}

export function gapReason(from: number, to: number): string {
  return from === to ? 'the message at this position is missing' : `the messages up to position ${to} are missing`;
}
