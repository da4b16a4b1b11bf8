/**
 * Codec of the index of a body segment: `[1, firstNumber, differences, ends]` in MessagePack. `differences` are the
 * numbers minus the first, `ends` the end offset of each body; both are packed little-endian 32-bit integers, so that
 * the index of tens of thousands of bodies is read in far less than a millisecond.
 */
import { assert, bufferOver, MillraceError } from '../../kernel/index.js';
import { bytes, decoded, encoded, integer, openFields, versioned } from '../../kernel/schema/index.js';

/** `numbers` are strictly increasing; body `i` is from `ends[i - 1]` (0 for the first) to `ends[i]`. */
export interface BodyIndex {
  readonly numbers: Float64Array;
  readonly ends: Uint32Array;
}

const shape = versioned(1, openFields({ first: integer, differences: bytes, endings: bytes }));
const WHAT = 'the index of a body segment';
const BYTES = 4;
const MAX_DIFFERENCE = 2 ** 32 - 1;

export function encodeBodyIndex({ numbers, ends }: BodyIndex): Uint8Array {
  const first = numbers[0] ?? 0;
  const differences = Buffer.alloc(numbers.length * BYTES);
  const endings = Buffer.alloc(ends.length * BYTES);
  for (let i = 0; i < numbers.length; i += 1) {
    const difference = (numbers[i] as number) - first;
    assert(difference <= MAX_DIFFERENCE, 'numbers too far apart for one segment', { first, difference });
    differences.writeUInt32LE(difference, i * BYTES);
    endings.writeUInt32LE(ends[i] as number, i * BYTES);
  }
  return encoded(shape, { first, differences, endings });
}

/** @throws JOURNAL_DAMAGED for an invalid or unordered index */
export function decodeBodyIndex(bytes: Uint8Array): BodyIndex {
  const read = decoded(shape, bytes, WHAT);
  const { first } = read;
  const differences = bufferOver(read.differences);
  const endings = bufferOver(read.endings);
  if (differences.length !== endings.length || differences.length % BYTES !== 0) {
    throw damaged('its lists are not of one length');
  }
  const count = differences.length / BYTES;
  const numbers = new Float64Array(count);
  const ends = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) {
    const number = first + differences.readUInt32LE(i * BYTES);
    const end = endings.readUInt32LE(i * BYTES);
    if (i > 0 && (number <= (numbers[i - 1] as number) || end < (ends[i - 1] as number))) {
      throw damaged('it is not in order');
    }
    numbers[i] = number;
    ends[i] = end;
  }
  return { numbers, ends };
}

function damaged(reason: string): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${WHAT} cannot be read: ${reason}`);
}
