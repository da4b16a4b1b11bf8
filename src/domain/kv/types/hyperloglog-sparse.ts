/**
 * The sparse form of a HyperLogLog: runs of registers as opcodes, in Redis's format.
 *
 * 00xxxxxx           1–64 registers with value 0
 * 01xxxxxx yyyyyyyy  1–16384 registers with value 0
 * 1vvvvvxx           1–4 registers with a value from 1 to 32
 */
export const REGISTERS = 16_384;
/** The highest value that a run can encode. */
export const MAX_SPARSE_VALUE = 32;
const MAX_VALUE_RUN = 4;
const MAX_ZERO_RUN = 64;
/** Opcodes checked for merging, starting with the one before the change. */
const JOIN_WINDOW = 5;

interface Run {
  readonly value: number;
  readonly length: number;
  /** The opcode's length in bytes. */
  readonly width: 1 | 2;
}

function runAt(bytes: readonly number[], at: number): Run {
  const first = bytes[at] as number;
  if ((first & 0x80) !== 0) return { value: ((first >> 2) & 0x1f) + 1, length: (first & 3) + 1, width: 1 };
  if ((first & 0x40) === 0) return { value: 0, length: (first & 0x3f) + 1, width: 1 };
  return { value: 0, length: (((first & 0x3f) << 8) | (bytes[at + 1] ?? 0)) + 1, width: 2 };
}

export function emptyRuns(): number[] {
  return zeros(REGISTERS);
}

function zeros(length: number): number[] {
  if (length === 0) return [];
  if (length <= MAX_ZERO_RUN) return [length - 1];
  return [0x40 | ((length - 1) >> 8), (length - 1) & 0xff];
}

function values(value: number, length: number): number[] {
  return length === 0 ? [] : [0x80 | ((value - 1) << 2) | (length - 1)];
}

/** Visits the runs of all registers; false when they do not cover all registers exactly. */
export function eachRun(
  bytes: readonly number[],
  visit: (index: number, value: number, length: number) => void,
): boolean {
  let index = 0;
  for (let at = 0; at < bytes.length; ) {
    const { value, length, width } = runAt(bytes, at);
    if (index + length > REGISTERS) return false;
    visit(index, value, length);
    index += length;
    at += width;
  }
  return index === REGISTERS;
}

export type SparseOutcome = 'changed' | 'unchanged' | 'too-large' | 'corrupt';

/**
 * Raises a register to `count`, in place. `too-large`: the result would exceed `maxBytes`, and no register was changed.
 * @param count from 1 to MAX_SPARSE_VALUE
 */
export function raiseSparse(bytes: number[], index: number, count: number, maxBytes: number): SparseOutcome {
  let at = 0;
  let first = 0;
  let before = -1;
  let run: Run | undefined;
  while (at < bytes.length) {
    run = runAt(bytes, at);
    if (index < first + run.length) break;
    before = at;
    at += run.width;
    first += run.length;
  }
  if (run === undefined || at >= bytes.length) return 'corrupt';
  if (run.value >= count) return 'unchanged';
  const ahead = index - first;
  const behind = run.length - ahead - 1;
  const fill = run.value === 0 ? zeros : (length: number) => values((run as Run).value, length);
  const split = [...fill(ahead), ...values(count, 1), ...fill(behind)];
  const growth = split.length - run.width;
  if (growth > 0 && bytes.length + growth > maxBytes) return 'too-large';
  bytes.splice(at, run.width, ...split);
  joinValues(bytes, Math.max(0, before));
  return 'changed';
}

/** Merges adjacent runs of equal value where one opcode can hold both. */
function joinValues(bytes: number[], start: number): void {
  let at = start;
  for (let looked = 0; looked < JOIN_WINDOW && at < bytes.length; looked += 1) {
    const run = runAt(bytes, at);
    const isValue = run.value > 0;
    if (isValue && at + 1 < bytes.length) {
      const next = runAt(bytes, at + 1);
      if (next.value === run.value && next.length + run.length <= MAX_VALUE_RUN) {
        bytes.splice(at, 2, ...values(run.value, run.length + next.length));
        continue;
      }
    }
    at += run.width;
  }
}
