/** Registers, counters and lists with a recorded history, in a database that both workers own partitions of. */
import { HistoryRecorder } from './history-recorder.js';
import { KvClient } from './kv-client.js';
import type { SeededRandom } from './seeded-random.js';

const CLIENTS = 4;
const KEYS = 3;
const PACE_MS = 10;
/** Longer than a frozen worker needs to be replaced. */
const TIMEOUT_MS = 8_000;

export class WorkerLoad {
  readonly #recorder: HistoryRecorder;
  readonly #clients: readonly KvClient[];

  constructor(to: { readonly url: string; readonly token: string }, random: SeededRandom) {
    this.#recorder = new HistoryRecorder('recorded:', random, KEYS);
    // Each has one connection, which the supervisor gives to one of the workers.
    this.#clients = Array.from(
      { length: CLIENTS },
      () => new KvClient({ ...to, connections: 1, timeoutMs: TIMEOUT_MS }),
    );
    this.#recorder.start(this.#clients, PACE_MS);
  }

  get recorded(): number {
    return this.#recorder.recorded;
  }

  /** @returns the kinds of the verdicts about registers, counters and lists */
  async end(): Promise<string[]> {
    await this.#recorder.stop();
    for (const client of this.#clients) client.close();
    return this.#recorder.verdicts().map(({ kind }) => kind);
  }
}
