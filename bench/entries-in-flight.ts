/**
 * Would a second entry in flight make a shard faster? Entries of one, of 25 and of 100 SETs are stored in one stream of a
 * nats-server that syncs each write, with one and with two requests in flight, in turn. Each request expects its position.
 */
import { EntryServer } from './entry-stream.js';
import { type Figure, median } from './figures.js';
import { sized } from './sizes.js';

const ROUNDS = sized(9, 1);
const ROUND_MS = sized(1000, 200);
const BYTES_OF_A_SET = 100;
const SETS = [1, 25, 100];

export async function inFlight(progress: (line: string) => void): Promise<Figure[]> {
  const server = await EntryServer.start();
  try {
    const stream = await server.stream('entries');
    const figures: Figure[] = [];
    for (const sets of SETS) {
      const payload = new Uint8Array(sets * BYTES_OF_A_SET);
      const rate = (most: number) => stream.rate(payload, { inFlight: most, forMs: ROUND_MS });
      const ratios: number[] = [];
      const ones: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const [one, two] = [await rate(1), await rate(2)];
        progress(`entries of ${sets}: one in flight ${one.toFixed(0)} a second, two ${two.toFixed(0)}`);
        // The first round warms up.
        if (round === 0) continue;
        ratios.push(two / one);
        ones.push(one);
      }
      const note = `${median(ones).toFixed(0)} a second with one`;
      figures.push({ name: `entries of ${sets}, two in flight / one`, value: median(ratios), unit: 'ratio', note });
    }
    return figures;
  } finally {
    await server.stop();
  }
}
