/**
 * All of a stream, and where its server gives back less than there should be. A reader for audits: others stop at
 * the first gap.
 */
import { isMillraceError, MillraceError, type ShardName } from '../kernel/index.js';
import type { Journal, JournalTail, StoredMessage } from '../ports/index.js';

export type AuditStep =
  | { readonly kind: 'message'; readonly message: StoredMessage }
  /** Nothing stands at these positions any more; both ends are inclusive. */
  | { readonly kind: 'gap'; readonly from: number; readonly to: number };

export type ReadableJournal = Pick<Journal, 'tail' | 'read' | 'readAt'>;

export interface ReadingOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called every thousand messages or so, and at the end. */
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
    try {
      for await (const message of journal.read(shard, next, last)) {
        next = message.position + 1;
        yield { kind: 'message', message };
        if (signal?.aborted === true) throw new MillraceError('SHUTTING_DOWN', 'the audit was interrupted');
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

/** @throws the error, where it is about something else */
async function endOfGap(journal: ReadableJournal, shard: ShardName, next: number, error: unknown): Promise<number> {
  if (isMillraceError(error, 'JOURNAL_DAMAGED') && typeof error.details.found === 'number') {
    if (error.details.found > next) return error.details.found - 1;
  }
  // At the end of a journal nothing comes behind the gap that would show it.
  if (isMillraceError(error, 'JOURNAL_UNAVAILABLE') && (await journal.readAt(shard, next)) === undefined) return next;
  throw error;
}

export function gapReason(from: number, to: number): string {
  return from === to ? 'the message at this position is missing' : `the messages up to position ${to} are missing`;
}
