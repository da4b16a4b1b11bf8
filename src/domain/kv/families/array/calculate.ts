/** AROP: one number from all values in a range. */
import type { ByteString } from '../../../../kernel/index.js';
import type { SlicedHandler } from '../../command-spec.js';
import { formatDouble, INT64_MAX, INT64_MIN, narrow, parseInt64 } from '../../numbers.js';
import { ErrorReply, type Reply, wrongArity } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { generalText, isLess, type LongDouble, parseLongDouble, sumOf, truncated } from '../../types/long-double.js';
import { indexAtWord, readArray } from './array-access.js';

const unknownOperation = new ErrorReply('ERR unknown operation');
const missingValue = new ErrorReply('ERR MATCH requires a value argument');

/** Visits values one by one. */
interface Calculation {
  take(value: ByteString): void;
  result(): Reply;
}

/** AROP key start end SUM | MIN | MAX | AND | OR | XOR | USED | MATCH value → the number, or null. WRONGTYPE. */
export const calculate: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args } = context;
  const from = indexAtWord(args, 2);
  const to = indexAtWord(args, 3);
  const operation = args.option(4);
  const calculation = operation === 'MATCH' ? counting(args.words) : CALCULATIONS[operation]?.();
  if (calculation === undefined) throw unknownOperation;
  if (operation !== 'MATCH' && args.length !== 5) throw wrongArity('arop');
  const pace = new SlicePace();
  for (const [, value] of readArray(context)?.entries(from, to) ?? []) {
    calculation.take(value);
    if (pace.isDue()) yield;
  }
  return calculation.result();
};

const CALCULATIONS: Readonly<Record<string, () => Calculation>> = {
  SUM: () => new Sum(),
  MIN: () => new Extreme((candidate, best) => isBelow(candidate, best)),
  MAX: () => new Extreme((candidate, best) => isBelow(best, candidate)),
  AND: () => new Bits((a, b) => a & b),
  OR: () => new Bits((a, b) => a | b),
  XOR: () => new Bits((a, b) => a ^ b),
  USED: () => counterOf(() => true),
};

function counting(words: readonly ByteString[]): Calculation {
  const [, , , , , sought] = words;
  if (sought === undefined || words.length > 6) throw missingValue;
  return counterOf((value) => value === sought);
}

function counterOf(isCounted: (value: ByteString) => boolean): Calculation {
  let count = 0;
  return {
    take: (value) => {
      if (isCounted(value)) count += 1;
    },
    result: () => count,
  };
}

/** A whole number, or an infinite one, as a JavaScript number; other numbers with 64 bits. */
type Numeric = number | LongDouble;

function numericOf(text: ByteString): Numeric | undefined {
  const whole = parseInt64(text);
  if (whole === undefined) return parseLongDouble(text);
  return typeof whole === 'number' ? whole : { mantissa: whole, exponent: 0 };
}

function widened(value: number): LongDouble {
  return { mantissa: BigInt(value), exponent: 0 };
}

function isBelow(a: Numeric, b: Numeric): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'number') return Number.isFinite(a) ? isLess(widened(a), b as LongDouble) : a < 0;
  if (typeof b === 'number') return Number.isFinite(b) ? isLess(a, widened(b)) : b > 0;
  return isLess(a, b);
}

function textOf(value: Numeric): ByteString {
  if (typeof value !== 'number') return generalText(value);
  return Number.isFinite(value) ? generalText(widened(value)) : formatDouble(value);
}

/** Whole numbers are added apart, as a number while it is exact, because most sums have no others. */
class Sum implements Calculation {
  #whole = 0;
  #rest: LongDouble = { mantissa: 0n, exponent: 0 };
  /** NaN after both infinities. */
  #infinite = 0;
  #isEmpty = true;

  take(text: ByteString): void {
    const value = numericOf(text);
    if (value === undefined) return;
    this.#isEmpty = false;
    if (typeof value !== 'number') this.#rest = sumOf(this.#rest, value);
    else if (!Number.isFinite(value)) this.#infinite += value;
    else if (Number.isSafeInteger(this.#whole + value)) this.#whole += value;
    else this.#rest = sumOf(this.#rest, widened(value));
  }

  result(): Reply {
    if (this.#isEmpty) return null;
    if (this.#infinite !== 0) return formatDouble(this.#infinite);
    return generalText(sumOf(this.#rest, widened(this.#whole)));
  }
}

class Extreme implements Calculation {
  #best: Numeric | undefined;

  constructor(private readonly isBetter: (candidate: Numeric, best: Numeric) => boolean) {}

  take(text: ByteString): void {
    const value = numericOf(text);
    if (value === undefined) return;
    if (this.#best === undefined || this.isBetter(value, this.#best)) this.#best = value;
  }

  result(): Reply {
    return this.#best === undefined ? null : textOf(this.#best);
  }
}

/** Of fractions the whole part counts; numbers beyond 64 bits do not count. */
class Bits implements Calculation {
  #bits: bigint | undefined;

  constructor(private readonly combine: (a: bigint, b: bigint) => bigint) {}

  take(text: ByteString): void {
    const value = numericOf(text);
    if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return;
    const whole = typeof value === 'number' ? BigInt(value) : truncated(value);
    if (whole > INT64_MAX || whole < INT64_MIN) return;
    this.#bits = this.#bits === undefined ? whole : this.combine(this.#bits, whole);
  }

  result(): Reply {
    return this.#bits === undefined ? null : narrow(this.#bits);
  }
}
