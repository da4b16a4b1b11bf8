/** A value behind the version of its format: what processes of two releases say to each other. */
import { MillraceError } from '../../kernel/index.js';
import type { Packer } from './packer.js';
import type { Shape } from './shapes.js';
import { Unpacker } from './unpacker.js';

export function packVersioned<T>(packer: Packer, version: number, shape: Shape<T>, value: T): Uint8Array {
  return packer.pack((out) => {
    out.whole(version);
    shape.write(out, value);
  });
}

/** @param code of the error for what is not known here, or not whole */
export function unpackVersioned<T>(
  encoded: Uint8Array,
  version: number,
  shape: Shape<T>,
  code: 'INVALID' | 'JOURNAL_DAMAGED',
): T {
  try {
    const from = new Unpacker(encoded);
    if (from.whole() !== version) throw new MillraceError(code, 'its version is not known');
    const value = shape.read(from);
    from.end();
    return value;
  } catch (cause) {
    throw new MillraceError(code, 'a record of the queue cannot be read', {}, cause);
  }
}
