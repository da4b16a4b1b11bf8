/** How much one command on sorted sets may do, and when it is done in slices. */
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import type { SortedSet } from '../../types/sorted-set.js';

/** Entries handled between two steps of a slice: well under a millisecond even where each is moved in the order. */
export const SLICE_ENTRIES = 500;
/** More entries than this are handled in slices: some 5 ms of work. */
export const LONG_SORTED_SET_ENTRIES = 5_000;
/** Members ZRANDMEMBER draws with repetition: beyond them the reply alone would be tens of megabytes. */
export const MAX_RANDOM_MEMBERS = 1_000_000;
/**
 * Refuses members that would make the set larger than a record may be.
 * @param addedBytes of all the members that may be added
 * @throws ErrorReply
 */
export function requireRoom(context: CommandContext, set: SortedSet | undefined, addedBytes: number): void {
  requireRecordSize(context, (set?.payloadBytes ?? 0) + addedBytes);
}
