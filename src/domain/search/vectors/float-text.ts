/** Numbers of 32 bits in answers: the shortest decimal number that is the same with 32 bits. */

const FEWEST_DIGITS = 6;
/** Nine digits always tell two numbers of 32 bits apart. */
const MOST_DIGITS = 9;

export function shortFloat(value: number): number {
  const float = Math.fround(value);
  if (Number.isInteger(float) && Math.abs(float) < 2 ** 24) return float;
  for (let digits = FEWEST_DIGITS; digits < MOST_DIGITS; digits += 1) {
    const short = Number(float.toPrecision(digits));
    if (Math.fround(short) === float) return short;
  }
  return Number(float.toPrecision(MOST_DIGITS));
}
