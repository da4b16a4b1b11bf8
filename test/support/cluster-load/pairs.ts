/**
 * Transactions that add one to each of two counters: every read must show equal counters, and no transaction may be
 * lost or applied twice.
 */
import type { KvClient, Outcome } from '../kv-client.js';

export class Pairs {
  readonly counts = { done: 0, unknown: 0 };
  readonly #violations: string[] = [];
  #last = 0;

  constructor(
    private readonly client: KvClient,
    private readonly prefix: string,
  ) {}

  async step(): Promise<void> {
    const outcome = await this.client.transaction([
      ['INCR', `${this.prefix}left`],
      ['INCR', `${this.prefix}right`],
    ]);
    if (outcome.kind === 'unknown') this.counts.unknown += 1;
    if (outcome.kind === 'done') this.#compare(outcome);
  }

  /** @returns one line for each violation */
  async judge(): Promise<readonly string[]> {
    const { done, unknown } = this.counts;
    const [left, right] = (await this.client.values([`${this.prefix}left`, `${this.prefix}right`])).map(Number);
    if (left !== right) this.#violations.push(`${this.prefix}: half a transaction, ${left} and ${right}`);
    if (Number(left) < done || Number(left) > done + unknown) {
      this.#violations.push(`${this.prefix}: ${left} were done, ${done} acknowledged, ${unknown} unknown`);
    }
    return this.#violations;
  }

  #compare({ result }: Extract<Outcome, { kind: 'done' }>): void {
    this.counts.done += 1;
    const [left, right] = (result as { result: number }[]).map((item) => item.result);
    if (left !== right || Number(left) <= this.#last) {
      this.#violations.push(`${this.prefix}: ${left} and ${right} after ${this.#last}`);
    }
    this.#last = Number(left);
  }
}
