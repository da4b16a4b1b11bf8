/**
 * Converts text to a vector, for similarity beyond equal words. `HashedNgrams` needs no model: words and their runs
 * of three characters are hashed to dimensions, so texts are similar if they share words, word forms or misspellings.
 * It does not recognise synonyms; an implementation with a model may replace it.
 */
import { wordsOf } from './words.js';

export interface Embedding {
  /** Identifies the method: vectors of different methods are not compared. */
  readonly name: string;
  readonly dimensions: number;
  /** Deterministic; not normalised; zero for a text without words. */
  embed(text: string): Float32Array;
}

/** Unrelated words share a dimension with a probability of one in 256. */
const DIMENSIONS = 256;
/** Weights in a text's vector: of a word, and of each of its runs. */
const WORD_WEIGHT = 1;
const RUN_WEIGHT = 0.35;
const RUN_CHARACTERS = 3;
/** Shorter words count less, because most of them are grammatical. */
const FULL_WORD_CHARACTERS = 4;
/** FNV-1a, 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
/** A different seed, so that a run and an equal word are different features. */
const RUN_SEED = 0x9e3779b9;

export class HashedNgrams implements Embedding {
  readonly name = 'hashed-ngrams-1';

  constructor(readonly dimensions = DIMENSIONS) {}

  embed(text: string): Float32Array {
    const vector = new Float32Array(this.dimensions);
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

/** The hash also determines the sign, so that collisions cancel out on average. */
function add(vector: Float32Array, hashed: number, weight: number): void {
  const at = hashed % vector.length;
  const isPositive = Math.floor(hashed / vector.length) % 2 === 0;
  vector[at] = (vector[at] as number) + (isPositive ? weight : -weight);
}

function hash(text: string, from: number, to: number, seed: number): number {
  let value = seed;
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ text.charCodeAt(at), PRIME);
  // The low bits of FNV-1a are weak for short texts.
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}
