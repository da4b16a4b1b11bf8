/**
 * Text → vector, for likeness beyond equal words. `HashedNgrams` needs no model: words and the runs of three
 * characters in them are hashed to dimensions, so texts are alike that share words, forms of words, or misspellings.
 * What means the same in other words it cannot know; an implementation with a model may take its place.
 */
import { wordsOf } from './words.js';

export interface Embedding {
  /** Tells one way to make vectors from another: vectors of different ones are not compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Deterministic; not normalised; zero for a text without words. */
  embed(text: string): Float32Array;
}

/** Two words of which neither has to do with the other meet in one dimension out of so many. */
const DIMENSIONS = 256;
/** Shares of a word in its text's vector: itself, and each of its runs. */
const WORD_WEIGHT = 1;
const RUN_WEIGHT = 0.35;
const RUN_CHARACTERS = 3;
/** Words shorter than this count less: most of them are the grammar's. */
const FULL_WORD_CHARACTERS = 4;
/** FNV-1a, 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
/** Runs and words with the same letters are different features. */
const RUN_SEED = 0x9e3779b9;

export class HashedNgrams implements Embedding {
  readonly name = 'hashed-ngrams-1';
  readonly dimensions = DIMENSIONS;

  embed(text: string): Float32Array {
    const vector = new Float32Array(DIMENSIONS);
    for (const word of wordsOf(text)) {
      const share = Math.min(1, word.length / FULL_WORD_CHARACTERS);
      add(vector, hash(word, 0, word.length, OFFSET), WORD_WEIGHT * share);
      const marked = `^${word}$`;
      for (let from = 0; from + RUN_CHARACTERS <= marked.length; from += 1) {
        add(vector, hash(marked, from, from + RUN_CHARACTERS, RUN_SEED), RUN_WEIGHT * share);
      }
    }
    return vector;
  }
}

/** The sign is the hash's too, so that what meets by chance cancels out on average. */
function add(vector: Float32Array, hashed: number, weight: number): void {
  const at = hashed & (DIMENSIONS - 1);
  vector[at] = (vector[at] as number) + ((hashed & DIMENSIONS) === 0 ? weight : -weight);
}

function hash(text: string, from: number, to: number, seed: number): number {
  let value = seed;
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ text.charCodeAt(at), PRIME);
  // The low bits of this hash are weak for short texts.
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}
