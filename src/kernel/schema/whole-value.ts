/** One value, and nothing behind it. */
import { type ErrorCode, MillraceError } from '../errors.js';
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
