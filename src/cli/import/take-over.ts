/** Copies keys from a source into a database, batch by batch, and compares both sides. */
import type { Timers } from '../../ports/index.js';
import type { ImportReport } from './import-report.js';
import type { ImportState } from './import-state.js';
import { KeyComparison } from './key-comparison.js';
import type { KeyWriter } from './key-writer.js';
import type { PayloadReader } from './payload-reader.js';
import type { RespLink } from './resp-link.js';
import type { KeySource } from './source.js';

export interface TakeOverDeps {
  readonly source: KeySource;
  readonly destination: RespLink;
  readonly payloads: PayloadReader;
  readonly report: ImportReport;
  readonly timers: Timers;
  /** Keys per second to write or compare; 0: no limit. */
  readonly keysPerSecond: number;
  readonly signal: AbortSignal;
  nowMs(): number;
}

/** Stopped before the end. */
class Interrupted extends Error {}

export async function takeOver(deps: TakeOverDeps, writer: KeyWriter, state: ImportState): Promise<void> {
  const { source, report } = deps;
  const rate = new Pace(deps);
  try {
    for await (const { keys, libraries, left, next } of source.batches(await state.read())) {
      for (const [item, reason] of left) report.leave(item, reason);
      for (const library of libraries) await writer.writeLibrary(library);
      await writer.write(keys);
      await state.reached(next);
      const { taken, unchanged, left: refused } = report.counts;
      report.tell('importing', { taken, unchanged, left: refused });
      await rate.keep(keys.length);
    }
  } catch (error) {
    await state.write();
    throw error;
  }
  await state.end();
}

/** @returns the digests of the compared keys, of the source and of the destination */
export async function compareSides(deps: TakeOverDeps): Promise<{ source: string; destination: string }> {
  const { source, destination, payloads, report } = deps;
  const comparison = new KeyComparison(destination, payloads, report, deps.nowMs);
  const rate = new Pace(deps);
  for await (const { keys } of source.batches(undefined)) {
    await comparison.compare(keys);
    const { compared, different } = report.counts;
    report.tell('comparing', { compared, different });
    await rate.keep(keys.length);
  }
  return { source: String(comparison.source), destination: String(comparison.destination) };
}

/** Limits the rate, and stops on an interruption. */
export class Pace {
  readonly #startMs: number;
  #keys = 0;

  constructor(private readonly deps: Pick<TakeOverDeps, 'keysPerSecond' | 'nowMs' | 'timers' | 'signal'>) {
    this.#startMs = deps.nowMs();
  }

  /** @throws Interrupted */
  async keep(keys: number): Promise<void> {
    const { keysPerSecond, nowMs, timers, signal } = this.deps;
    if (signal.aborted) throw new Interrupted('interrupted: the keys imported so far stay');
    if (keysPerSecond === 0) return;
    this.#keys += keys;
    const earlyMs = this.#startMs + (this.#keys * 1000) / keysPerSecond - nowMs();
    if (earlyMs > 0) await timers.pause(earlyMs, signal);
  }
}
