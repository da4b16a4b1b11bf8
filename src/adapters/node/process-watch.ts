/**
 * Measures the event loop and garbage collection. The loop's delay is added to every request; collections are reported
 * separately, because our code cannot slice them. Percentiles and maxima are since the last reading of the metrics.
 *
 *  PRW1 an idle loop is checked once a second instead of sampled, because two hundred samples a second would be most
 *       of an idle process's work; a late check counts as a delay, and so does the shortest possible duration of a
 *       round since the check before, so that a stall after idleness is seen
 */
import {
  type IntervalHistogram,
  monitorEventLoopDelay,
  PerformanceObserver,
  performance,
  type UVMetrics,
} from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import prom from 'prom-client';
import type { Timer } from '../../ports/index.js';
import { coalescedTimer } from './coalesced-timer.js';

/** The sampling interval: fine enough for a bound of 20 ms, and cheap. */
const RESOLUTION_MS = 5;
const LOOK_EVERY_MS = 1000;
/** Above this use or number of events between two checks, the loop is sampled. */
const BUSY_MS = 50;
const BUSY_EVENTS = 20;
const NANOSECONDS = 1e9;

export class ProcessWatch {
  readonly #delay: IntervalHistogram;
  readonly #collections: PerformanceObserver;
  #look: Timer;
  #lookedAtMs = performance.now();
  #used = performance.eventLoopUtilization();
  #counts = loopCounts();
  /** From checks since the last reading of the metrics. */
  #stalledMs = 0;
  #longestPauseMs = 0;
  #pausedMs = 0;

  constructor(registry: prom.Registry) {
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delay.enable();
    this.#look = coalescedTimer(LOOK_EVERY_MS, this.#lookNow);
    this.#collections = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        this.#pausedMs += duration;
        this.#longestPauseMs = Math.max(this.#longestPauseMs, duration);
      }
    });
    this.#collections.observe({ entryTypes: ['gc'] });
    this.#declare(registry);
  }

  close(): void {
    this.#look.cancel();
    this.#delay.disable();
    this.#collections.disconnect();
  }

  /** The check of an idle loop (PRW1). */
  readonly #lookNow = (): void => {
    this.#look = coalescedTimer(LOOK_EVERY_MS, this.#lookNow);
    const nowMs = performance.now();
    const lateMs = nowMs - this.#lookedAtMs - LOOK_EVERY_MS;
    this.#lookedAtMs = nowMs;
    const used = performance.eventLoopUtilization();
    const { active: activeMs } = performance.eventLoopUtilization(used, this.#used);
    this.#used = used;
    const before = this.#counts;
    this.#counts = loopCounts();
    const rounds = Math.max(1, this.#counts.loopCount - before.loopCount);
    this.#stalledMs = Math.max(this.#stalledMs, lateMs, activeMs / rounds);
    if (activeMs >= BUSY_MS && this.#counts.events - before.events >= BUSY_EVENTS) this.#delay.enable();
    else this.#delay.disable();
  };

  #declare(registry: prom.Registry): void {
    const registers = [registry];
    const delay = new prom.Gauge({
      name: 'millrace_event_loop_delay_seconds',
      help: 'How late the event loop was, since the last scrape.',
      labelNames: ['stat'],
      registers,
      collect: () => {
        delay.set({ stat: 'p50' }, this.#late(this.#delay.percentile(50)));
        delay.set({ stat: 'p99' }, this.#late(this.#delay.percentile(99)));
        delay.set({ stat: 'max' }, Math.max(this.#late(this.#delay.max), this.#stalledMs / 1000));
        this.#delay.reset();
        this.#stalledMs = 0;
      },
    });
    const heap: prom.Gauge = new prom.Gauge({
      name: 'millrace_heap_limit_bytes',
      help: 'How large the heap of the main thread may get.',
      registers,
      collect: () => heap.set(getHeapStatistics().heap_size_limit),
    });
    const longest = new prom.Gauge({
      name: 'millrace_gc_longest_pause_seconds',
      help: 'Longest garbage collection since the last scrape.',
      registers,
      collect: () => {
        longest.set(this.#longestPauseMs / 1000);
        this.#longestPauseMs = 0;
      },
    });
    const paused = new prom.Counter({
      name: 'millrace_gc_seconds_total',
      help: 'Time in garbage collection.',
      registers,
      collect: () => {
        paused.reset();
        paused.inc(this.#pausedMs / 1000);
      },
    });
  }

  /** The histogram holds intervals between samples; the delay is the part above the resolution. */
  #late(intervalNs: number): number {
    return Math.max(0, intervalNs / NANOSECONDS - RESOLUTION_MS / 1000);
  }
}

/** Rounds of the loop and external events since the thread began. */
function loopCounts(): UVMetrics {
  return performance.nodeTiming.uvMetricsInfo;
}
