/** Dense vectors of texts without a model: words and parts of words are hashed. Texts with common words are near. */
import { HashedNgrams } from '../embedding.js';

/** @returns a vector of length 1; the same for the same text */
export function hashedText(text: string, dimension: number): Float32Array {
  const vector = new HashedNgrams(dimension).embed(text);
  // A text without words, such as punctuation, has only itself as a feature.
  if (vector.every((value) => value === 0)) vector[codesOf(text) % dimension] = 1;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

function codesOf(text: string): number {
  let sum = 0;
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
