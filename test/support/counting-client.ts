/** A client that adds one to many keys, one request after the other, without repeating one, until its connection ends. */
import { expect } from 'chai';
import type { Redis } from 'ioredis';

/** More than partitions of a database, so that each worker owns some. */
const KEYS = 32;

export interface CountingEnd {
  readonly isClosed: boolean;
  /** Requests with an unknown outcome. */
  readonly unknown: number;
}

/** @throws if a request fails otherwise, or an answer is not the next number */
export async function countUntil(
  client: Redis,
  name: string,
  over: { readonly isOver: boolean },
): Promise<CountingEnd> {
  const counts = new Array<number>(KEYS).fill(0);
  let unknown = 0;
  for (let at = 0; !over.isOver; at = (at + 1) % KEYS) {
    const [key, before] = [`${name}-${at}`, counts[at] ?? 0];
    try {
      counts[at] = await client.incr(key);
      expect(counts[at]).to.equal(before + 1);
    } catch (error) {
      if (client.status === 'end') return { isClosed: true, unknown };
      if (!String(error).includes('outcome=unknown')) throw error;
      unknown += 1;
      counts[at] = Number(await client.get(key));
      expect(counts[at]).to.be.within(before, before + 1);
    }
  }
  return { isClosed: false, unknown };
}
