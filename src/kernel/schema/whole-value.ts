/** Values and their bytes, with nothing before and nothing behind them. */
import { type ErrorCode, isMillraceError, MillraceError } from '../errors.js';
import { Packer } from './packer.js';
import type { Shape } from './shape.js';
import { Unpacker } from './unpacker.js';

/** No shape writes a value whole while it writes another: `sharedBytes` has a packer of its own. */
const packer = new Packer();

export function encoded<T>(shape: Shape<T>, value: T): Uint8Array {
  return packer.pack((out) => shape.write(out, value));
}

/**
 * @param what for the text of the error: `a control command`
 * @param code of the error for what is not known here, or not whole
 */
export function decoded<T>(shape: Shape<T>, bytes: Uint8Array, what: string, code: ErrorCode = 'JOURNAL_DAMAGED'): T {
  try {
    const from = new Unpacker(bytes);
    const value = shape.read(from);
    from.end();
    return value;
  } catch (cause) {
    throw new MillraceError(code, `${what} cannot be read`, {}, cause);
  }
}

/** The way there and the way back. @param what, @param code as of `decoded` */
export function bothWays<T>(
  shape: Shape<T>,
  what: string,
  code?: ErrorCode,
): readonly [encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T] {
  return [(value) => encoded(shape, value), (bytes) => decoded(shape, bytes, what, code)];
}

/** All values of a kind, one behind the other; one at a time. @throws JOURNAL_DAMAGED */
export function* decodedEach<T>(shape: Shape<T>, bytes: Uint8Array, what: string): Iterable<T> {
  const from = new Unpacker(bytes);
  while (!from.isAtEnd) yield next(shape, from, what);
}

/** Records nested deeper than the stack end as damage too. */
function next<T>(shape: Shape<T>, from: Unpacker, what: string): T {
  try {
    return shape.read(from);
  } catch (cause) {
    if (isMillraceError(cause)) throw cause;
    throw new MillraceError('JOURNAL_DAMAGED', `${what} cannot be read`, {}, cause);
  }
}
