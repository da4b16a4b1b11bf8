/** Bounds for the work of sorted-set commands, and for slicing them. */
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import type { SortedSet } from '../../types/sorted-set.js';

/** Entries processed per slice: well under a millisecond, even if each changes its position. */
export const SLICE_ENTRIES = 500;
/** Above this number of entries a command runs in slices: about 5 ms of work. */
export const LONG_SORTED_SET_ENTRIES = 5_000;
/** The most members that ZRANDMEMBER draws with repetition: with more the reply alone would be tens of megabytes. */
export const MAX_RANDOM_MEMBERS = 1_000_000;
/**
 * Refuses members that would make the set too large. @param addedBytes of all members that may be added @throws
 * ErrorReply
 */
export function requireRoom(context: CommandContext, set: SortedSet | undefined, addedBytes: number): void {
  requireRecordSize(context, (set?.payloadBytes ?? 0) + addedBytes);
}
