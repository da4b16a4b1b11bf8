/**
 * Would a second entry in flight make a shard faster? Entries of one, of 25 and of 100 SETs are stored in one stream of a
 * nats-server that syncs each write, with one and with two requests in flight, in turn. Each request expects its position.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from 'nats';
import { startNatsServer } from '../test/support/nats-server.js';
import { type Figure, median } from './figures.js';
import { sized } from './sizes.js';

const SUBJECT = 'entries';
const ROUNDS = sized(9, 1);
const ROUND_MS = sized(1000, 200);
const TIMEOUT_MS = 10_000;
const BYTES_OF_A_SET = 100;
const SETS = [1, 25, 100];

export async function inFlight(progress: (line: string) => void): Promise<Figure[]> {
  const server = await startNatsServer({ syncAlways: true });
  const connection = await connect({ servers: server.url });
  try {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: SUBJECT, subjects: [SUBJECT], num_replicas: 1 });
    const stream = new EntryStream(connection);
    const figures: Figure[] = [];
    for (const sets of SETS) {
      const payload = new Uint8Array(sets * BYTES_OF_A_SET);
      const ratios: number[] = [];
      const ones: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const [one, two] = [await stream.rate(payload, 1), await stream.rate(payload, 2)];
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
    await connection.close();
    await server.stop();
  }
}

class EntryStream {
  #last = 0;

  constructor(private readonly connection: NatsConnection) {}

  /** Stored entries a second. */
  async rate(payload: Uint8Array, most: number): Promise<number> {
    const beganMs = performance.now();
    const asked: Promise<void>[] = [];
    let stored = 0;
    while (performance.now() - beganMs < ROUND_MS) {
      while (asked.length < most) asked.push(this.#append(payload));
      await asked.shift();
      stored += 1;
    }
    const passedMs = performance.now() - beganMs;
    await Promise.all(asked);
    return (stored * 1000) / passedMs;
  }

  async #append(payload: Uint8Array): Promise<void> {
    const expected = headers();
    expected.set('Nats-Expected-Last-Sequence', String(this.#last));
    this.#last += 1;
    const answer = await this.connection.request(SUBJECT, payload, { headers: expected, timeout: TIMEOUT_MS });
    const { error } = answer.json<{ error?: { description: string } }>();
    if (error !== undefined) throw new Error(error.description);
  }
}
