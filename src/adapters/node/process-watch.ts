/**
 * Watches the event loop and the garbage collector. The loop's delay is what everyone waits for beyond
 * their own work; collections are reported apart because no code of ours can slice them.
 *
 * Percentiles and maxima are those since the page was last made.
 *
 *  PRW1 a loop with next to nothing to do is looked at once a second, not sampled: two hundred samples a second would be
 *      most of what an idle process does. A look that is late itself counts, and so does what a round of the loop took at
 *      least since the look before, so that a long stall out of idleness shows
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
import { onTheBeat } from './beat.js';

/** How often the loop is sampled: fine enough for a bound of 20 ms, coarse enough to cost nothing. */
const RESOLUTION_MS = 5;
const LOOK_EVERY_MS = 1000;
/** In use for so much of the time between two looks, and by so many events, the loop is worth sampling. */
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
  /** As looks have found it, since the page was last made. */
  #stalledMs = 0;
  #longestPauseMs = 0;
  #pausedMs = 0;

  constructor(registry: prom.Registry) {
    this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delay.enable();
    this.#look = onTheBeat(LOOK_EVERY_MS, this.#lookNow);
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

  /** PRW1. */
  readonly #lookNow = (): void => {
    this.#look = onTheBeat(LOOK_EVERY_MS, this.#lookNow);
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

  /** The histogram holds intervals between samples: the delay is what exceeds the resolution. */
  #late(intervalNs: number): number {
    return Math.max(0, intervalNs / NANOSECONDS - RESOLUTION_MS / 1000);
  }
}

/** Since the thread began: rounds of the loop, and what came to it from outside. */
function loopCounts(): UVMetrics {
  return performance.nodeTiming.uvMetricsInfo;
}
