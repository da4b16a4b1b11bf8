/**
 * Lists of runs' entries as they were sent last. The next delivery of a run sends the same list with an entry more: what
 * was put together for the last one is what it begins with, and the bodies in it need not be in memory any more.
 *
 *  SLT1 a list begins with another when its entries are the very same objects: one that is delivered once more is another
 */
import type { RunEntry } from '../../domain/queue/runs/index.js';
import type { MessageId } from '../../kernel/index.js';

export interface SentList {
  readonly entries: readonly RunEntry[];
  /** With its closing bracket. */
  readonly body: Uint8Array;
}

export interface SentListsLimits {
  /** One list; a longer one is made anew each time. */
  readonly listBytes: number;
  /** All of them together; the ones that were not sent for longest go first. */
  readonly allBytes: number;
}

const DEFAULT_SENT_LISTS_LIMITS: SentListsLimits = { listBytes: 64 * 1024, allBytes: 1024 * 1024 };

export class SentLists {
  /** By the id of the first entry, in the order in which they were sent. */
  readonly #lists = new Map<MessageId, SentList>();
  #bytes = 0;

  constructor(private readonly limits: SentListsLimits = DEFAULT_SENT_LISTS_LIMITS) {}

  /** What a list of these entries begins with. */
  beginningOf(entries: readonly RunEntry[]): SentList | undefined {
    const known = entries[0] && this.#lists.get(entries[0].messageId);
    return known !== undefined && beginsWith(entries, known.entries) ? known : undefined;
  }

  /** Nobody writes into the body from now on. */
  keep(list: SentList): void {
    const name = list.entries[0]?.messageId;
    // Of a run that is over there may be none.
    if (name === undefined) return;
    this.#drop(name);
    if (list.body.byteLength > this.limits.listBytes) return;
    this.#lists.set(name, list);
    this.#bytes += list.body.byteLength;
    while (this.#bytes > this.limits.allBytes) this.#drop(this.#lists.keys().next().value as MessageId);
  }

  #drop(name: MessageId): void {
    const known = this.#lists.get(name);
    if (known === undefined) return;
    this.#lists.delete(name);
    this.#bytes -= known.body.byteLength;
  }
}

function beginsWith(entries: readonly RunEntry[], other: readonly RunEntry[]): boolean {
  if (other.length > entries.length) return false;
  for (let at = 0; at < other.length; at += 1) if (entries[at] !== other[at]) return false;
  return true;
}
