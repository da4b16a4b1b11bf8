/** Reads notes of the audit log from the control journal. */
import { decodeControlEvents } from '../../codec/control/index.js';
import type { AuditEntry } from '../../domain/control/index.js';
import { Chain, EntryFeed, readEntryAt } from '../../journal/index.js';
import type { Journal, StoredMessage, Timers } from '../../ports/index.js';
import { CONTROL_SHARD, type Entry, entrySections } from '../../protocol/index.js';

/** Bytes of the journal that wait in memory while notes are exported. */
export const MAX_QUEUED_BYTES = 1024 * 1024;
/** Decoding so many bytes takes about a millisecond. */
const SLICE_BYTES = 64 * 1024;

export interface PlacedNote {
  readonly note: AuditEntry;
  /** Of the entry in the control journal. */
  readonly position: number;
}

export function* notesOf(entry: Entry): Iterable<AuditEntry> {
  for (const { effects } of entrySections(entry)) {
    for (const event of decodeControlEvents(effects)) {
      if (event.type !== 'AuditNoted') continue;
      const { type: _, ...note } = event;
      yield note;
    }
  }
}

/** The notes of the entry at a position; undefined when it is no longer kept. @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function notesAt(
  journal: Pick<Journal, 'readAt'>,
  timers: Timers,
  position: number,
): Promise<readonly PlacedNote[] | undefined> {
  const entry = await readEntryAt(journal, CONTROL_SHARD, position, () => timers.yieldToEventLoop());
  return entry && [...notesOf(entry)].map((note) => ({ note, position }));
}

/** Notes of successive messages. */
export class NoteFeed {
  readonly #entries = new EntryFeed(new Chain(CONTROL_SHARD, undefined));

  constructor(private readonly timers: Timers) {}

  async notesIn(batch: readonly StoredMessage[]): Promise<readonly PlacedNote[]> {
    const found: PlacedNote[] = [];
    let bytes = 0;
    for (const message of batch) {
      const read = this.#entries.add(message);
      if (read !== undefined) for (const note of notesOf(read.entry)) found.push({ note, position: read.position });
      bytes += message.bytes.length;
      if (bytes < SLICE_BYTES) continue;
      bytes = 0;
      await this.timers.yieldToEventLoop();
    }
    return found;
  }
}
