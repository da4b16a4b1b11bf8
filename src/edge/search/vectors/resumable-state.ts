/** The stored state of a resumable query: the query, and where its results ended. */
import type { Random, VectorQuery } from '../../../ports/index.js';
import type { ShownParts } from './vector-bodies.js';

export interface ResumableState {
  readonly name: string;
  readonly query: VectorQuery;
  readonly shown: ShownParts;
  readonly idleMs: number;
}

export function encodeResumable(state: ResumableState): string {
  return JSON.stringify(state);
}

/** @param text as `encodeResumable` made it */
export function decodeResumable(text: string): ResumableState {
  return JSON.parse(text) as ResumableState;
}

/** A random UUID, version 4. */
export function newResumableId(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
