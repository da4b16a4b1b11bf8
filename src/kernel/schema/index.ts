/**
 * The language in which stored and sent records are described. A shape is declared once: it writes and reads MessagePack
 * without values in between, and the type of what it holds is inferred from it (`TypeOf`).
 *
 *   scalars   whole, integer, number, flag, bytes, bytesOf, text; oneOf (a word by its place), wordOf (by its name)
 *   parts     optional, absent, trailing, orElse, orNil, nullable, listOf, mapOf, tuple, later, sharedBytes
 *   records   fields (one behind the other), record (in a list); openRecord (forgiving), namedRecord (by names),
 *             named (by names, those that are given)
 *   loose     looseText, looseNumber, numberedFlag, opaque: as a general encoder wrote them
 *   unions    union (a number, then a member), either, versioned (the same with the version of a format),
 *             selfTelling (values that say what they are, classes among them, each of which is told)
 *
 * That some things can be said in two ways has a history: the queue's records and those of the control state were
 * written differently from the beginning, and both are read for ever. New records are made of `fields` and `record`.
 */
export { looseNumber, looseText, numberedFlag, opaque } from './loose.js';
export { Packer } from './packer.js';
export * from './records.js';
export * from './scalars.js';
export { selfTelling, told } from './self-telling.js';
export { sharedBytes } from './shared-bytes.js';
export * from './unions.js';
export { refuse, Unpacker } from './unpacker.js';
export { bothWays, decoded, decodedEach, encoded } from './whole-value.js';
