/**
 * The origins of calls. One that has been idle for `idleMs` is closed; above `maxOrigins` the longest idle one is
 * closed earlier. Origins with calls are never closed: the number of calls bounds them.
 */
import { OriginConnections, type OriginOptions } from './origin-connections.js';

export interface OriginsOptions extends OriginOptions {
  readonly maxOrigins: number;
  readonly idleMs: number;
}

export class Origins {
  readonly #all = new Map<string, OriginConnections>();
  /** Origins without calls, longest idle first, with the time. */
  readonly #idleSinceMs = new Map<OriginConnections, number>();
  readonly #sweep: NodeJS.Timeout;

  constructor(readonly options: OriginsOptions) {
    this.#sweep = setInterval(() => this.#closeIdle(), Math.max(1, options.idleMs / 4));
    this.#sweep.unref();
  }

  get count(): number {
    return this.#all.size;
  }

  connections(): Iterable<OriginConnections> {
    return this.#all.values();
  }

  /** A call begins. */
  use(origin: string): OriginConnections {
    const known = this.#all.get(origin);
    if (known !== undefined) {
      this.#idleSinceMs.delete(known);
      return known;
    }
    const made = new OriginConnections(origin, this.options);
    this.#all.set(origin, made);
    if (this.#all.size > this.options.maxOrigins) this.#closeLongestIdle();
    return made;
  }

  /** A call has ended. */
  noteEnd(connections: OriginConnections): void {
    if (connections.isIdle) this.#idleSinceMs.set(connections, performance.now());
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const connections of this.#all.values()) connections.destroy();
    this.#all.clear();
    this.#idleSinceMs.clear();
  }

  #closeIdle(): void {
    const nowMs = performance.now();
    for (const connections of this.#all.values()) connections.closeIdle(nowMs);
    const before = nowMs - this.options.idleMs;
    for (const [connections, sinceMs] of this.#idleSinceMs) {
      if (sinceMs > before) return;
      this.#forget(connections);
    }
  }

  #closeLongestIdle(): void {
    const longest = this.#idleSinceMs.keys().next();
    if (!longest.done) this.#forget(longest.value);
  }

  #forget(connections: OriginConnections): void {
    this.#idleSinceMs.delete(connections);
    this.#all.delete(connections.origin);
    connections.destroy();
  }
}
