/** Finds the ends of values in an RDB file: each form is skipped without decoding. RESTORE decodes the content. */
import { ARRAY_DOUBLE, ARRAY_INTEGER } from '../../../domain/kv/index.js';
import type { FileBytes } from '../file-bytes.js';

const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;
const COMPRESSED = 0xc3;
/** Bytes of strings encoded as integers, by their marks. */
const INTEGERS: Readonly<Record<number, number>> = { 192: 1, 193: 2, 194: 4 };
/** Score lengths without text: NaN and the two infinities. */
const SCORE_WITHOUT_TEXT = 253;
const RAW_ID_BYTES = 16;
const INSTANT_BYTES = 8;

/** Counts above 2^53 lose digits, but such a file ends before that matters. */
export function readLength(input: FileBytes): number {
  return lengthFrom(input, input.byte());
}

function lengthFrom(input: FileBytes, first: number): number {
  if (first < 0x40) return first;
  if (first < 0x80) return ((first & 0x3f) << 8) | input.byte();
  if (first === LENGTH_32) return input.run(4).readUInt32BE(0);
  if (first === LENGTH_64) return Number(input.run(8).readBigUInt64BE(0));
  throw input.damage(`byte ${first} does not start a length`);
}

export function passString(input: FileBytes): void {
  const first = input.byte();
  const integerBytes = INTEGERS[first];
  if (integerBytes !== undefined) input.pass(integerBytes);
  else if (first === COMPRESSED) {
    const packedBytes = readLength(input);
    readLength(input);
    input.pass(packedBytes);
  } else input.pass(lengthFrom(input, first));
}

function times(count: number, pass: () => void): void {
  for (let i = 0; i < count; i += 1) pass();
}

type Pass = (input: FileBytes) => void;

const strings: Pass = (input) => times(readLength(input), () => passString(input));

function pairs(passScore: Pass): Pass {
  return (input) =>
    times(readLength(input), () => {
      passString(input);
      passScore(input);
    });
}

const scoreText: Pass = (input) => {
  const length = input.byte();
  if (length < SCORE_WITHOUT_TEXT) input.pass(length);
};

/** @param earliestBytes size of the leading instant that the other instants are relative to */
function hashWithExpiries(earliestBytes: number): Pass {
  return (input) => {
    input.pass(earliestBytes);
    times(readLength(input), () => {
      readLength(input);
      passString(input);
      passString(input);
    });
  };
}

const packedHashWithExpiries: Pass = (input) => {
  input.pass(INSTANT_BYTES);
  passString(input);
};

const listOfNodes: Pass = (input) =>
  times(readLength(input), () => {
    readLength(input);
    passString(input);
  });

/** A module's data: items of five kinds, and an end mark. */
export const passModule: Pass = (input) => {
  for (;;) {
    const kind = readLength(input);
    if (kind === 0) return;
    if (kind === 1 || kind === 2) readLength(input);
    else if (kind === 3) input.pass(4);
    else if (kind === 4) input.pass(8);
    else if (kind === 5) passString(input);
    else throw input.damage(`${kind} is not a valid type of module data`);
  }
};

/** @param version 2 adds counters, 3 the activity of consumers, 4 producers */
function stream(version: 1 | 2 | 3 | 4): Pass {
  return (input) => {
    times(2 * readLength(input), () => passString(input));
    times(version >= 2 ? 8 : 3, () => readLength(input));
    times(readLength(input), () => passGroup(input, version));
    if (version < 4) return;
    times(2, () => readLength(input));
    times(readLength(input), () => {
      passString(input);
      times(readLength(input), () => {
        passString(input);
        times(2, () => readLength(input));
      });
    });
    times(2, () => readLength(input));
  };
}

function passGroup(input: FileBytes, version: number): void {
  passString(input);
  times(version >= 2 ? 3 : 2, () => readLength(input));
  times(readLength(input), () => {
    input.pass(RAW_ID_BYTES + INSTANT_BYTES);
    readLength(input);
  });
  times(readLength(input), () => {
    passString(input);
    input.pass(version >= 3 ? 2 * INSTANT_BYTES : INSTANT_BYTES);
    times(readLength(input), () => input.pass(RAW_ID_BYTES));
  });
}

function passArray(input: FileBytes): void {
  const count = readLength(input);
  if (readLength(input) > 0) readLength(input);
  times(count, () => {
    readLength(input);
    const form = readLength(input);
    if (form === ARRAY_INTEGER || form === ARRAY_DOUBLE) input.pass(8);
    else passString(input);
  });
}

/** By the byte before a key; `DUMP_TYPES` of the domain explains the forms. */
export const VALUE_FORMS: Readonly<Record<number, Pass>> = {
  0: passString,
  1: strings,
  2: strings,
  3: pairs(scoreText),
  4: pairs(passString),
  5: pairs((input) => input.pass(8)),
  7: (input) => {
    readLength(input);
    passModule(input);
  },
  9: passString,
  10: passString,
  11: passString,
  12: passString,
  13: passString,
  14: strings,
  15: stream(1),
  16: passString,
  17: passString,
  18: listOfNodes,
  19: stream(2),
  20: passString,
  21: stream(3),
  22: hashWithExpiries(0),
  23: passString,
  24: hashWithExpiries(INSTANT_BYTES),
  25: packedHashWithExpiries,
  26: stream(4),
  28: passArray,
};
