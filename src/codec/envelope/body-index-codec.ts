/**
 * The index of a body segment ↔ bytes: `[1, firstNumber, differences, ends]` in MessagePack. `differences` are the
 * numbers minus the first, `ends` where in the segment each body ends; both little-endian 32-bit integers in a row,
 * so that the index of tens of thousands of bodies is read in well under a millisecond.
 */
import { Encoder } from '@msgpack/msgpack';
import { assert } from '../../kernel/index.js';
import { Fields } from './entry-codec.js';

/** `numbers` grow strictly; body `i` lies from `ends[i - 1]` (0 for the first) to `ends[i]`. */
export interface BodyIndex {
  readonly numbers: Float64Array;
  readonly ends: Uint32Array;
}

const BODY_INDEX_VERSION = 1;
const WHAT = 'the index of a body segment';
const BYTES = 4;
const MAX_DIFFERENCE = 2 ** 32 - 1;

const encoder = new Encoder();

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
  return encoder.encode([BODY_INDEX_VERSION, first, differences, endings]);
}

/** @throws JOURNAL_DAMAGED for anything that is not an index in order */
export function decodeBodyIndex(bytes: Uint8Array): BodyIndex {
  const fields = new Fields(bytes, WHAT);
  const version = fields.number(0);
  if (version !== BODY_INDEX_VERSION) throw fields.damage(`version ${version} is not known`);
  const first = fields.number(1);
  const differences = bufferOf(fields.bytes(2));
  const endings = bufferOf(fields.bytes(3));
  if (differences.length !== endings.length || differences.length % BYTES !== 0) {
    throw fields.damage('its lists are not of one length');
  }
  const count = differences.length / BYTES;
  const numbers = new Float64Array(count);
  const ends = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) {
    const number = first + differences.readUInt32LE(i * BYTES);
    const end = endings.readUInt32LE(i * BYTES);
    if (i > 0 && (number <= (numbers[i - 1] as number) || end < (ends[i - 1] as number))) {
      throw fields.damage('it is not in order');
    }
    numbers[i] = number;
    ends[i] = end;
  }
  return { numbers, ends };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
