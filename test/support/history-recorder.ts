/** Clients that operate concurrently on few keys and record the start, the end and the result of each operation. */
import type { KvClient, Words } from './kv-client.js';
import { checkLinearizability, type Operation, type Verdict } from './linearizability.js';
import {
  type CounterInput,
  type CounterOutput,
  counterModel,
  type ListInput,
  type ListOutput,
  listModel,
  type RegisterInput,
  type RegisterOutput,
  registerModel,
} from './linearizability-models.js';
import type { SeededRandom } from './seeded-random.js';

/**
 * The time in which an operation of unknown outcome may still take effect: after an answer that says so, and after a
 * call without an answer.
 */
const FINAL_AFTER_MS = { answered: 1000, cut: 30_000 };
const ANSWERED = /^status \d/;

export class HistoryRecorder {
  readonly lists: Operation<ListInput, ListOutput>[] = [];
  readonly registers: Operation<RegisterInput, RegisterOutput>[] = [];
  readonly counters: Operation<CounterInput, CounterOutput>[] = [];
  #values = 0;
  #isStopping = false;
  #working: Promise<void>[] = [];

  constructor(
    /** The prefix of the keys; recorders of one database have different ones. */
    private readonly prefix: string,
    private readonly random: SeededRandom,
    private readonly keys: number,
  ) {}

  /** @param clients each sends one operation at a time */
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

  /** The verdicts of registers, counters and lists, in this order. */
  verdicts(): Verdict[] {
    return [
      checkLinearizability(this.registers, registerModel),
      checkLinearizability(this.counters, counterModel),
      checkLinearizability(this.lists, listModel),
    ];
  }

  /** The number of operations that were or may have been executed. */
  get recorded(): number {
    return this.registers.length + this.counters.length + this.lists.length;
  }

  /** The number of operations with an unknown outcome. */
  get open(): number {
    const all = [...this.registers, ...this.counters, ...this.lists];
    return all.filter(({ returned }) => returned === undefined).length;
  }

  async #step(client: KvClient, name: string): Promise<void> {
    const number = this.random.below(this.keys);
    const kind = this.random.below(3);
    if (kind === 0) {
      const key = `${this.prefix}counter:${number}`;
      const input: CounterInput = this.random.below(3) === 0 ? { type: 'get' } : { type: 'incrby', by: 1 };
      const words: Words = input.type === 'get' ? ['GET', key] : ['INCRBY', key, input.by];
      await this.#record(this.counters, client, name, key, input, words);
      return;
    }
    if (kind === 1) {
      const key = `${this.prefix}list:${number}`;
      const { input, words } = this.#listStep(key);
      await this.#record(this.lists, client, name, key, input, words);
      return;
    }
    const key = `${this.prefix}register:${number}`;
    const { input, words } = this.#registerStep(key);
    await this.#record(this.registers, client, name, key, input, words);
  }

  /** Pops are as frequent as pushes, so that lists stay short. */
  #listStep(key: string): { input: ListInput; words: Words } {
    this.#values += 1;
    const value = `e${this.#values}`;
    switch (this.random.below(5)) {
      case 0:
      case 1:
        return { input: { type: 'push', value }, words: ['RPUSH', key, value] };
      case 2:
      case 3:
        return { input: { type: 'pop' }, words: ['LPOP', key] };
      default:
        return { input: { type: 'length' }, words: ['LLEN', key] };
    }
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
    // An operation that was certainly not executed is left out of the history.
    if (outcome.kind === 'refused') return;
    const [operation, at] = [{ client: name, key, input, calledAt }, performance.now()];
    if (outcome.kind === 'done') history.push({ ...operation, returned: { at, output: outcome.result as Output } });
    else {
      const finalAfterMs = ANSWERED.test(outcome.why) ? FINAL_AFTER_MS.answered : FINAL_AFTER_MS.cut;
      history.push({ ...operation, finalAt: at + finalAfterMs });
    }
  }
}
