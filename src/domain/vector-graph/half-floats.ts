/** Numbers of 16 bits (binary16 of IEEE 754) as bit patterns, for magnitudes below 65,504. */

const EXPONENT_SHIFT = 10;
const FRACTION = 2 ** EXPONENT_SHIFT;
const SIGN = 0x8000;
const SMALLEST_EXPONENT = -14;

/** The value of each bit pattern. */
export const HALF_VALUES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const exponent = (bits >> EXPONENT_SHIFT) & 0x1f;
  const fraction = (bits & (FRACTION - 1)) / FRACTION;
  const value =
    exponent === 0 ? fraction * 2 ** SMALLEST_EXPONENT : (1 + fraction) * 2 ** (exponent - 1 + SMALLEST_EXPONENT);
  return bits >= SIGN ? -value : value;
});

/** The bit pattern of the nearest number of 16 bits. */
export function halfOf(value: number): number {
  const magnitude = Math.abs(value);
  const sign = value < 0 ? SIGN : 0;
  const exponent = Math.max(SMALLEST_EXPONENT, exponentOf(magnitude));
  // In units of the last place. A carry into the next exponent gives the right pattern, because exponents follow fractions.
  const units = Math.round(magnitude / 2 ** (exponent - EXPONENT_SHIFT));
  return sign + units + (exponent - SMALLEST_EXPONENT) * FRACTION;
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The exponent of a number of 32 bits; that of 0 and of subnormal numbers is −127. */
export function exponentOf(value: number): number {
  single[0] = value;
  return (((singleBits[0] as number) >>> 23) & 0xff) - 127;
}
