/**
 * A language to describe stored and sent records. A shape is declared once; it writes and reads MessagePack without
 * intermediate values, and the type of its values is inferred (`TypeOf`).
 *
 * scalars   whole, integer, number, flag, bytes, passingBytes, bytesOf, text; oneOf (a word by its place), wordOf (by its name)
 * parts     optional, absent, trailing, orElse, orNil, nullable, listOf, mapOf, tuple, later, sharedBytes
 * records   fields (one after the other), record (in a list); openRecord (forgiving), namedRecord (by names), named
 *           (by names, only those with a value)
 * loose     looseText, looseNumber, numberedFlag, opaque: as a general encoder wrote them
 * unions    union (a number, then a member), either, versioned (as union, with the version of a format), selfDescribing
 *           (values with a type tag, including classes, each declared by classShape)
 *
 * Some formats can be described in two ways for historical reasons: queue records and control-state records were
 * encoded differently from the beginning, and both are read for ever. New records use `fields` and `record`.
 */
export { looseNumber, looseText, numberedFlag, opaque } from './loose.js';
export { Packer } from './packer.js';
export * from './records.js';
export * from './scalars.js';
export { classShape, selfDescribing } from './self-describing.js';
export { sharedBytes } from './shared-bytes.js';
export * from './unions.js';
export { refuse, Unpacker } from './unpacker.js';
export { bothWays, decoded, decodedEach, encoded } from './whole-value.js';
