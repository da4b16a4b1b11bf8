/**
 * The last sent lists of runs' entries. The next delivery of a run sends the same list with one more entry, so it
 * begins with a copy of the last list, and the bodies in it need not be in memory.
 *
 *  SLT1 a list begins with another only when their entries are identical objects; a repeated delivery has a different
 *       object
 */
import type { RunEntry } from '../../domain/queue/runs/index.js';
import type { MessageId } from '../../kernel/index.js';

export interface SentList {
  readonly entries: readonly RunEntry[];
  /** With the closing bracket. */
  readonly body: Uint8Array;
}

export interface SentListsLimits {
  /** The longest list that is kept. */
  readonly listBytes: number;
  /** The bytes of all lists; the ones not sent for longest are dropped first. */
  readonly allBytes: number;
}

const DEFAULT_SENT_LISTS_LIMITS: SentListsLimits = { listBytes: 64 * 1024, allBytes: 1024 * 1024 };

export class SentLists {
  /** By the id of the first entry, in the order of sending. */
  readonly #lists = new Map<MessageId, SentList>();
  #bytes = 0;

  constructor(private readonly limits: SentListsLimits = DEFAULT_SENT_LISTS_LIMITS) {}

  /** Finds the kept beginning of a list of these entries. */
  beginningOf(entries: readonly RunEntry[]): SentList | undefined {
    const known = entries[0] && this.#lists.get(entries[0].messageId);
    return known !== undefined && beginsWith(entries, known.entries) ? known : undefined;
  }

  /** The body must not be changed from now on. */
  keep(list: SentList): void {
    const name = list.entries[0]?.messageId;
    // A run that is over may have no entries.
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
