/** The formula BM25: the parts that all indexes share. */

export const K1 = 1.2;
const B = 0.75;

/** The worth of a word in `documents` of `size` documents: positive even for a word in all of them. */
export function worthOf(size: number, documents: number): number {
  return Math.log(1 + (size - documents + 0.5) / (documents + 0.5));
}

/** Added to a word's count in a document of `length` words, which damps it: longer documents damp more. */
export function lengthFactor(length: number, average: number): number {
  return K1 * (1 - B + (B * length) / average);
}

/** @param worth of the word @param factor the document's length factor */
export function bm25(worth: number, count: number, factor: number): number {
  return (worth * (K1 + 1) * count) / (count + factor);
}
