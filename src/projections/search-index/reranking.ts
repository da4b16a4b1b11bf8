/**
 * Reranks the best candidates by word order: whether a document has the words of the query next to each other, or in
 * the same order. It uses no model.
 */
import { type JsonObject, searchableText } from '../../domain/search/index.js';

/** Number of reranked candidates; the cost of reranking is counted by it too. */
export const RERANKED_CANDIDATES = 100;
/** The share of the final score that depends on word order. */
const SHARE = 0.3;
/** The value of words in order but apart, relative to the phrase. */
const APART = 0.5;
/** Compared words of the query: the work per candidate is their number times that of the candidate's words. */
const MAX_WORDS = 64;

/** @param content undefined for a document outside the reranked ones, which must not overtake them */
export function reranked(score: number, queryWords: readonly string[], content: JsonObject | undefined): number {
  const fit = content === undefined ? 0 : orderFit(queryWords.slice(0, MAX_WORDS), searchableText(content).words);
  return (1 - SHARE) * score + SHARE * fit;
}

/** 1: the whole phrase; less: the part of it in order; 0: no two words in order. */
function orderFit(wanted: readonly string[], words: readonly string[]): number {
  if (wanted.length < 2) return wanted.length === 1 && words.includes(wanted[0] as string) ? 1 : 0;
  const run = longestRun(wanted, words);
  if (run === wanted.length) return 1;
  const ordered = longestInOrder(wanted, words);
  const pairs = wanted.length - 1;
  return Math.max((run - 1) / pairs, (APART * (ordered - 1)) / pairs, 0);
}

/** The longest sequence of adjacent words in both. */
function longestRun(wanted: readonly string[], words: readonly string[]): number {
  let longest = 0;
  let before = new Uint16Array(wanted.length + 1);
  for (const word of words) {
    const now = new Uint16Array(wanted.length + 1);
    for (let at = 0; at < wanted.length; at += 1) {
      if (wanted[at] !== word) continue;
      now[at + 1] = (before[at] as number) + 1;
      longest = Math.max(longest, now[at + 1] as number);
    }
    before = now;
  }
  return longest;
}

function longestInOrder(wanted: readonly string[], words: readonly string[]): number {
  const longest = new Uint16Array(wanted.length + 1);
  for (const word of words) {
    let diagonal = 0;
    for (let at = 1; at <= wanted.length; at += 1) {
      const above = longest[at] as number;
      longest[at] = wanted[at - 1] === word ? diagonal + 1 : Math.max(above, longest[at - 1] as number);
      diagonal = above;
    }
  }
  return longest[wanted.length] as number;
}
