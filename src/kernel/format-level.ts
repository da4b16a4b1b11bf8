/**
 * Levels of the forms in which things are stored, entries and records and snapshots alike. A program reads every level up
 * to its own, for ever; it writes a form that came with a level only once the installation has been raised to it.
 *
 *   1  all that was ever written before there were levels: events of the control state up to 38
 *   2  the journal says which level counts from where on: event 39 of the control state, `FormatRaised`
 *
 * What a reader of the level before would pass over, an optional last field, needs no level. Whatever it would stop at
 * does: another type, another version, another meaning.
 */
export const FIRST_FORMAT_LEVEL = 1;
/** The highest that this program reads and writes. */
export const FORMAT_LEVEL = 2;
