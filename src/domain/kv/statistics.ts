/**
 * What has been counted about one database since its owner took it up: calls, errors, hits, slow commands,
 * latencies. Never journaled; CONFIG RESETSTAT forgets it.
 */
import { type ByteString, obtain } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { Rate } from './rate.js';

export interface CallCount {
  calls: number;
  /** Time of the calls that were timed; commands that are fast by nature are not, unless that is asked for. */
  micros: number;
  failed: number;
}

export interface SlowCommand {
  readonly id: number;
  readonly atSeconds: number;
  readonly micros: number;
  readonly words: readonly ByteString[];
  readonly address: ByteString;
  readonly name: ByteString;
}

export interface WaitingCounts {
  readonly size: number;
  /** Keys that are waited for. */
  readonly keyCount: number;
  /** Those of them whose deletion a waiter has to hear of, because it reads for a group of a stream. */
  readonly groupKeyCount: number;
}

export interface LatencySample {
  readonly atSeconds: number;
  readonly ms: number;
}

/** Redis shows so many words of a slow command, so many bytes of each. */
const MAX_SLOW_WORDS = 32;
const MAX_SLOW_BYTES = 128;
/** Samples of one kind of event. */
const MAX_SAMPLES = 160;
/** Kinds of errors counted apart; beyond it they are somebody's own. */
const MAX_ERROR_KINDS = 128;

export class ServerCounters {
  commands = 0;
  readonly rate = new Rate();
  errors = 0;
  /** Commands that wait for a key now; the owner's. */
  waiting: WaitingCounts = { size: 0, keyCount: 0, groupKeyCount: 0 };
  /** Commands that changed something. */
  changes = 0;
  expiredKeys = 0;
  evictedKeys = 0;
  readonly calls = new Map<CommandSpec, CallCount>();
  readonly errorKinds = new Map<string, number>();
  readonly slow: SlowCommand[] = [];
  readonly latencies = new Map<string, LatencySample[]>();
  #slowCount = 0;
  /** The command counted last and its count, for the commands of a pipeline are mostly alike. */
  #lastSpec: CommandSpec | undefined;
  #lastCount: CallCount = { calls: 0, micros: 0, failed: 0 };

  /** @param micros 0: not timed */
  count(spec: CommandSpec, micros: number, error: ByteString | undefined): void {
    this.commands += 1;
    const count = spec === this.#lastSpec ? this.#lastCount : this.#countOf(spec);
    count.calls += 1;
    count.micros += micros;
    if (error !== undefined) {
      count.failed += 1;
      this.#countError(error);
    }
  }

  addSlow(
    command: {
      readonly words: readonly ByteString[];
      readonly micros: number;
      readonly address: ByteString;
      readonly name: ByteString;
    },
    nowMs: number,
    maxLength: number,
  ): void {
    const { words, micros, address, name } = command;
    const shown = words.slice(0, words.length > MAX_SLOW_WORDS ? MAX_SLOW_WORDS - 1 : MAX_SLOW_WORDS).map(cut);
    if (words.length > MAX_SLOW_WORDS) shown.push(`... (${words.length - MAX_SLOW_WORDS + 1} more arguments)`);
    this.slow.unshift({
      id: this.#slowCount,
      atSeconds: Math.floor(nowMs / 1000),
      micros,
      words: shown,
      address,
      name,
    });
    this.#slowCount += 1;
    if (this.slow.length > maxLength) this.slow.length = maxLength;
  }

  addLatency(event: string, ms: number, nowMs: number): void {
    const atSeconds = Math.floor(nowMs / 1000);
    const samples = this.latencies.get(event) ?? [];
    this.latencies.set(event, samples);
    const last = samples.at(-1);
    // The worst sample of each second is kept.
    if (last?.atSeconds === atSeconds) samples[samples.length - 1] = { atSeconds, ms: Math.max(last.ms, ms) };
    else samples.push({ atSeconds, ms });
    if (samples.length > MAX_SAMPLES) samples.shift();
  }

  /** Counts begin again; what is slow and what was late stays, as in Redis. */
  reset(): void {
    this.commands = 0;
    this.rate.restart();
    this.errors = 0;
    this.expiredKeys = 0;
    this.evictedKeys = 0;
    this.calls.clear();
    this.#lastSpec = undefined;
    this.errorKinds.clear();
  }

  #countOf(spec: CommandSpec): CallCount {
    const count = obtain(this.calls, spec, () => ({ calls: 0, micros: 0, failed: 0 }));
    this.#lastSpec = spec;
    this.#lastCount = count;
    return count;
  }

  #countError(text: ByteString): void {
    this.errors += 1;
    const blank = text.indexOf(' ');
    const kind = blank < 0 ? text : text.slice(0, blank);
    if (!this.errorKinds.has(kind) && this.errorKinds.size >= MAX_ERROR_KINDS) return;
    this.errorKinds.set(kind, (this.errorKinds.get(kind) ?? 0) + 1);
  }
}

function cut(word: ByteString): ByteString {
  if (word.length <= MAX_SLOW_BYTES) return word;
  return `${word.slice(0, MAX_SLOW_BYTES)}... (${word.length - MAX_SLOW_BYTES} more bytes)`;
}
