/**
 * Counters of one database since its owner took it over: calls, errors, hits, slow commands, latencies. Not journaled;
 * CONFIG RESETSTAT clears them.
 */
import { type ByteString, getOrCreate } from '../../kernel/index.js';
import type { CommandDescription } from './command-description.js';

/** The growth rate of a counter that is read now and then, without a timer. */
const PERIOD_MS = 1_000;

/** Growth per second over the last one to two periods of `PERIOD_MS`, or since the last note. */
export class Rate {
  #earlier = { atMs: Number.NEGATIVE_INFINITY, count: 0 };
  #later = { atMs: Number.NEGATIVE_INFINITY, count: 0 };

  /** @param count never lower than before, except after `restart` */
  note(nowMs: number, count: number): void {
    if (nowMs - this.#later.atMs < PERIOD_MS) return;
    this.#earlier = this.#later;
    this.#later = { atMs: nowMs, count };
  }

  perSecond(nowMs: number, count: number): number {
    const { atMs, count: before } = Number.isFinite(this.#earlier.atMs) ? this.#earlier : this.#later;
    return Number.isFinite(atMs) ? ((count - before) * 1000) / Math.max(PERIOD_MS, nowMs - atMs) : 0;
  }

  restart(): void {
    this.#earlier = { atMs: Number.NEGATIVE_INFINITY, count: 0 };
    this.#later = this.#earlier;
  }
}

export interface CallCount {
  calls: number;
  /** Time of the calls that were timed; fast commands are timed only on request. */
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
  /** Keys with waiting commands. */
  readonly keyCount: number;
  /** Keys with a waiter that reads for a consumer group, which must also be told about their deletion. */
  readonly groupKeyCount: number;
}

export interface LatencySample {
  readonly atSeconds: number;
  readonly ms: number;
}

/** As Redis: the number of words shown of a slow command, and the bytes of each word. */
const MAX_SLOW_WORDS = 32;
const MAX_SLOW_BYTES = 128;
const MAX_SAMPLES = 160;
/**
 * Kinds of errors counted separately. More kinds can only come from scripts with error codes they invent, and are not
 * counted.
 */
const MAX_ERROR_KINDS = 128;

export class ServerCounters {
  commands = 0;
  readonly rate = new Rate();
  errors = 0;
  /** Commands that wait for a key now; set by the owner. */
  waiting: WaitingCounts = { size: 0, keyCount: 0, groupKeyCount: 0 };
  changes = 0;
  /** Expired keys that were removed: all of them, and those removed without a command asking for them. */
  expiredKeys = 0;
  activelyExpiredKeys = 0;
  /** As above, for hash fields. */
  expiredFields = 0;
  activelyExpiredFields = 0;
  evictedKeys = 0;
  readonly calls = new Map<CommandDescription, CallCount>();
  readonly errorKinds = new Map<string, number>();
  readonly slow: SlowCommand[] = [];
  readonly latencies = new Map<string, LatencySample[]>();
  #slowCount = 0;
  /** The most recent command and its counter, because the commands of a pipeline are mostly alike. */
  #lastSpec: CommandDescription | undefined;
  #lastCount: CallCount = { calls: 0, micros: 0, failed: 0 };

  /** @param micros 0: not timed */
  count(spec: CommandDescription, micros: number, error: ByteString | undefined): void {
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
    this.trimSlow(maxLength);
  }

  /** Keeps only the newest slow commands. */
  trimSlow(maxLength: number): void {
    if (this.slow.length > maxLength) this.slow.length = maxLength;
  }

  addLatency(event: string, ms: number, nowMs: number): void {
    const atSeconds = Math.floor(nowMs / 1000);
    const samples = this.latencies.get(event) ?? [];
    this.latencies.set(event, samples);
    const last = samples.at(-1);
    // Keeps the worst sample of each second.
    if (last?.atSeconds === atSeconds) samples[samples.length - 1] = { atSeconds, ms: Math.max(last.ms, ms) };
    else samples.push({ atSeconds, ms });
    if (samples.length > MAX_SAMPLES) samples.shift();
  }

  /** Resets the counters; slow commands and latencies stay, as in Redis. */
  reset(): void {
    this.commands = 0;
    this.rate.restart();
    this.errors = 0;
    this.expiredKeys = 0;
    this.activelyExpiredKeys = 0;
    this.expiredFields = 0;
    this.activelyExpiredFields = 0;
    this.evictedKeys = 0;
    this.calls.clear();
    this.#lastSpec = undefined;
    this.errorKinds.clear();
  }

  #countOf(spec: CommandDescription): CallCount {
    const count = getOrCreate(this.calls, spec, () => ({ calls: 0, micros: 0, failed: 0 }));
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
