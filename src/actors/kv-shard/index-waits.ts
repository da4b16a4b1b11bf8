/**
 * Requests that wait for an index: a query until it is built, SEARCH.WAITINDEXING until earlier changes are in it.
 *
 *  IW1 a request leaves once: when its index is ready or gone, or after `MAX_BUILD_WAIT_MS` or `MAX_CHANGES_WAIT_MS`
 */
import type { FullTextIndexes, LiveIndex } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvWork } from './kv-work.js';

/** A query is answered with an error after this time; a caller in another process waits a little longer. */
const MAX_BUILD_WAIT_MS = 4000;
/** SEARCH.WAITINDEXING is answered with an error after this time. */
const MAX_CHANGES_WAIT_MS = 60_000;

interface IndexWait {
  readonly work: KvWork;
  /** The name or alias in the command. */
  readonly name: ByteString;
  /** Undefined: until the index is built. */
  readonly change: number | undefined;
  readonly untilMs: number;
}

export class IndexWaits {
  #waits: IndexWait[] = [];

  get size(): number {
    return this.#waits.length;
  }

  /** Makes the request wait if the index is not ready. @returns whether it waits */
  add(work: KvWork, name: ByteString, live: LiveIndex, forWhat: 'built' | 'changes', nowMs: number): boolean {
    const change = forWhat === 'built' ? undefined : live.changes;
    if (isReady(live, change)) return false;
    const untilMs = nowMs + (change === undefined ? MAX_BUILD_WAIT_MS : MAX_CHANGES_WAIT_MS);
    this.#waits.push({ work, name, change, untilMs });
    return true;
  }

  /** The requests whose index is ready or gone, or that have waited long enough. */
  takeReady(searches: FullTextIndexes, nowMs: number): KvWork[] {
    if (this.#waits.length === 0) return [];
    const ready: KvWork[] = [];
    const left: IndexWait[] = [];
    for (const wait of this.#waits) {
      if (mayContinue(wait, searches, nowMs)) ready.push(wait.work);
      else left.push(wait);
    }
    this.#waits = left;
    return ready;
  }

  clear(): KvWork[] {
    const works = this.#waits.map(({ work }) => work);
    this.#waits = [];
    return works;
  }
}

function mayContinue({ work, name, change, untilMs }: IndexWait, searches: FullTextIndexes, nowMs: number): boolean {
  const live = searches.lookUp(name);
  if (live === undefined || isReady(live, change) || work.isUnwanted) return true;
  if (nowMs < untilMs) return false;
  work.hasWaitedInVain = true;
  return true;
}

function isReady(live: LiveIndex, change: number | undefined): boolean {
  if (live.isOutOfRoom) return true;
  return change === undefined ? live.isBuilt : live.hasProcessed(change);
}
