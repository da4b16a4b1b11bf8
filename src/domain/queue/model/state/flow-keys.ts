/**
 * Flow-control keys: the calls of a key that may be active together, and the calls that may start within a window.
 *
 *  FK1 a key exists as soon as a message names it; unless pinned, its limits are those of the latest such message
 *  FK2 a window begins with the first start after the previous one has expired
 *  FK3 an active call holds a token from its start to its outcome, also across restarts; a reset of `all` takes the
 *      tokens of active calls away, and their outcomes free none
 *  FK4 a key without messages is forgotten an hour after the last one if it is neither paused nor pinned and its
 *      window has expired; by the times of events, a bounded number with each
 */
import { getOrCreate } from '../../../../kernel/index.js';
import { SplitMap } from '../../collections/split-map.js';
import type { QueueEventOf } from '../events.js';
import type { FlowControlSetting } from '../records.js';
import { FlowKey } from './flow-key.js';

const FLOW_MEMORY_MS = 60 * 60 * 1000;
const LOOKED_AT_WITH_EACH_EVENT = 2;

export class FlowKeys {
  readonly #byKey = new SplitMap<string, FlowKey>();
  /** Keys that may be forgotten, least recently used first, apart from those with long windows. */
  readonly #idle = new Set<FlowKey>();
  /** Number of paused or pinned keys. */
  heldCount = 0;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): FlowKey | undefined {
    return this.#byKey.get(key);
  }

  all(): IterableIterator<FlowKey> {
    return this.#byKey.values();
  }

  /** A message that names the key is accepted. */
  join(setting: FlowControlSetting, atMs: number): void {
    const flow = this.#joined(setting.key);
    flow.configure(setting);
    flow.isKnown = true;
    flow.usedAtMs = atMs;
  }

  /** A message of a snapshot joins; the limits come with the key's own event. */
  joinAsItIs(key: string): void {
    this.#joined(key);
  }

  leave(key: string, atMs: number): void {
    const flow = this.#getOrMake(key);
    flow.messages -= 1;
    flow.usedAtMs = atMs;
    this.#settle(flow);
  }

  setPaused({ key, isPaused, atMs }: QueueEventOf<'FlowPaused'>): void {
    this.#change(key, atMs, (flow) => {
      flow.isPaused = isPaused;
    });
  }

  pin({ key, parallelism, rate, periodSeconds, atMs }: QueueEventOf<'FlowPinned'>): void {
    this.#change(key, atMs, (flow) => {
      if (parallelism !== undefined) {
        flow.parallelism = parallelism;
        flow.isParallelismPinned = true;
      }
      if (rate !== undefined) {
        flow.rate = rate;
        flow.isRatePinned = true;
      }
      if (periodSeconds !== undefined) flow.periodSeconds = periodSeconds;
      flow.restartWindow(atMs);
    });
  }

  unpin({ key, parallelism, rate, atMs }: QueueEventOf<'FlowUnpinned'>): void {
    this.#change(key, atMs, (flow) => {
      if (parallelism) flow.isParallelismPinned = false;
      if (rate) flow.isRatePinned = false;
    });
  }

  reset({ key, all, atMs }: QueueEventOf<'FlowReset'>): void {
    this.#change(key, atMs, (flow) => {
      flow.restartWindow(atMs);
      if (all) flow.active = 0;
    });
  }

  restore(event: QueueEventOf<'FlowRestored'>): void {
    const flow = this.#getOrMake(event.key);
    const wasHeld = flow.isHeld;
    flow.parallelism = event.parallelism;
    flow.rate = event.rate;
    flow.periodSeconds = event.periodSeconds;
    flow.isPaused = event.isPaused;
    flow.isParallelismPinned = event.isParallelismPinned;
    flow.isRatePinned = event.isRatePinned;
    flow.active = event.active;
    flow.started = event.started;
    flow.windowStartedAtMs = event.windowStartedAtMs;
    flow.usedAtMs = event.usedAtMs;
    flow.isKnown = true;
    this.heldCount += Number(flow.isHeld) - Number(wasHeld);
    this.#settle(flow);
  }

  forget(nowMs: number): void {
    for (let looked = 0; looked < LOOKED_AT_WITH_EACH_EVENT; looked += 1) {
      const [flow] = this.#idle;
      if (flow === undefined || flow.usedAtMs + FLOW_MEMORY_MS > nowMs) return;
      this.#idle.delete(flow);
      // A key with an open window moves to the end, so that it does not block the others.
      if (flow.windowEndsAtMs > nowMs) this.#idle.add(flow);
      else this.#byKey.delete(flow.key);
    }
  }

  /** In an order that restores the order of forgetting. */
  *rebuildingEvents(): Iterable<QueueEventOf<'FlowRestored'>> {
    for (const flow of this.#byKey.values()) if (!this.#idle.has(flow)) yield restored(flow);
    for (const flow of this.#idle) yield restored(flow);
  }

  #change(key: string, atMs: number, change: (flow: FlowKey) => void): void {
    const flow = this.#getOrMake(key);
    const wasHeld = flow.isHeld;
    change(flow);
    flow.isKnown = true;
    flow.usedAtMs = atMs;
    this.heldCount += Number(flow.isHeld) - Number(wasHeld);
    this.#settle(flow);
  }

  #settle(flow: FlowKey): void {
    this.#idle.delete(flow);
    if (flow.messages === 0 && !flow.isHeld) this.#idle.add(flow);
  }

  #joined(key: string): FlowKey {
    const flow = this.#getOrMake(key);
    flow.messages += 1;
    this.#idle.delete(flow);
    return flow;
  }

  #getOrMake(key: string): FlowKey {
    const flow = getOrCreate(this.#byKey, key, () => new FlowKey(key));
    return flow;
  }
}

function restored({ key, parallelism, rate, periodSeconds, isPaused, ...flow }: FlowKey): QueueEventOf<'FlowRestored'> {
  const { isParallelismPinned, isRatePinned, active, started, windowStartedAtMs, usedAtMs } = flow;
  return {
    type: 'FlowRestored',
    key,
    parallelism,
    rate,
    periodSeconds,
    isPaused,
    isParallelismPinned,
    isRatePinned,
    active,
    started,
    windowStartedAtMs,
    usedAtMs,
  };
}
