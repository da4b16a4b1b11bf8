/** Encodes and decodes complete values. */
import { type ErrorCode, isMillraceError, MillraceError } from '../errors.js';
import { newerAbout } from '../format-level.js';
import { Packer } from './packer.js';
import type { Shape } from './shape.js';
import { Unpacker } from './unpacker.js';

/**
 * Shared by all calls: no shape encodes a complete value while writing another, because `sharedBytes` has a separate
 * packer.
 */
const packer = new Packer();

export function encoded<T>(shape: Shape<T>, value: T): Uint8Array {
  return packer.pack((out) => shape.write(out, value));
}

/** @param subject begins the error: `a control command` @param code of the error for an unknown or incomplete value */
export function decoded<T>(
  shape: Shape<T>,
  bytes: Uint8Array,
  subject: string,
  code: ErrorCode = 'JOURNAL_DAMAGED',
): T {
  try {
    const from = new Unpacker(bytes);
    const value = shape.read(from);
    from.end();
    return value;
  } catch (cause) {
    const newer = code === 'JOURNAL_DAMAGED' ? newerAbout(subject, cause) : undefined;
    throw newer ?? new MillraceError(code, `${subject} cannot be read`, {}, cause);
  }
}

/** The encoder and the decoder. @param subject, @param code as for `decoded` */
export function bothWays<T>(
  shape: Shape<T>,
  subject: string,
  code?: ErrorCode,
): readonly [encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T] {
  return [(value) => encoded(shape, value), (bytes) => decoded(shape, bytes, subject, code)];
}

/** All consecutive values of a kind, one at a time. @throws JOURNAL_DAMAGED */
export function* decodedEach<T>(shape: Shape<T>, bytes: Uint8Array, subject: string): Iterable<T> {
  const from = new Unpacker(bytes);
  while (!from.isAtEnd) yield next(shape, from, subject);
}

/** Records nested too deeply for the stack count as damaged too. */
function next<T>(shape: Shape<T>, from: Unpacker, subject: string): T {
  try {
    return shape.read(from);
  } catch (cause) {
    const newer = newerAbout(subject, cause);
    if (newer !== undefined) throw newer;
    if (isMillraceError(cause)) throw cause;
    throw new MillraceError('JOURNAL_DAMAGED', `${subject} cannot be read`, {}, cause);
  }
}
