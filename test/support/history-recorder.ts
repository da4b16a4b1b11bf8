/** Clients that work on few keys at once and write down when they asked, when they heard, and what. */
import type { KvClient, Words } from './kv-client.js';
import type { Operation } from './linearizability.js';
import type { CounterInput, CounterOutput, RegisterInput, RegisterOutput } from './linearizability-models.js';
import type { SeededRandom } from './seeded-random.js';

export class HistoryRecorder {
  readonly registers: Operation<RegisterInput, RegisterOutput>[] = [];
  readonly counters: Operation<CounterInput, CounterOutput>[] = [];
  #values = 0;
  #isStopping = false;
  #working: Promise<void>[] = [];

  constructor(
    /** Distinct between recorders that work on one database. */
    private readonly prefix: string,
    private readonly random: SeededRandom,
    private readonly keys: number,
  ) {}

  /** @param clients each asks one thing at a time */
  start(clients: readonly KvClient[], paceMs: number): void {
    this.#working = clients.map(async (client, index) => {
      while (!this.#isStopping) {
        await this.#step(client, `client ${index}`);
        await new Promise((done) => setTimeout(done, paceMs));
      }
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#working);
  }

  async #step(client: KvClient, name: string): Promise<void> {
    const number = this.random.below(this.keys);
    if (this.random.below(2) === 0) {
      const key = `${this.prefix}counter:${number}`;
      const input: CounterInput = this.random.below(3) === 0 ? { type: 'get' } : { type: 'incrby', by: 1 };
      const words: Words = input.type === 'get' ? ['GET', key] : ['INCRBY', key, input.by];
      await this.#record(this.counters, client, name, key, input, words);
      return;
    }
    const key = `${this.prefix}register:${number}`;
    const { input, words } = this.#registerStep(key);
    await this.#record(this.registers, client, name, key, input, words);
  }

  #registerStep(key: string): { input: RegisterInput; words: Words } {
    this.#values += 1;
    const value = `v${this.#values}`;
    switch (this.random.below(6)) {
      case 0:
      case 1:
        return { input: { type: 'set', value }, words: ['SET', key, value] };
      case 2:
        return { input: { type: 'del' }, words: ['DEL', key] };
      case 3: {
        const expected = `v${Math.max(1, this.#values - 1 - this.random.below(4))}`;
        return { input: { type: 'cas', expected, value }, words: ['SET', key, value, 'IFEQ', expected] };
      }
      default:
        return { input: { type: 'get' }, words: ['GET', key] };
    }
  }

  async #record<Input, Output>(
    history: Operation<Input, Output>[],
    client: KvClient,
    name: string,
    key: string,
    input: Input,
    words: Words,
  ): Promise<void> {
    const calledAt = performance.now();
    const outcome = await client.command(...words);
    // What was surely not done has no place in a history.
    if (outcome.kind === 'refused') return;
    const operation = { client: name, key, input, calledAt };
    if (outcome.kind === 'unknown') history.push(operation);
    else history.push({ ...operation, returned: { at: performance.now(), output: outcome.result as Output } });
  }
}
