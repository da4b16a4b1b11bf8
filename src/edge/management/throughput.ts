/** Queries and updates per second of an index, as its record shows them. */
import type { SearchIndex } from '../../domain/control/index.js';
import { describeError } from '../../kernel/index.js';
import type { Timers } from '../../ports/index.js';
import type { Point } from '../http/shapes.js';
import { throughputOf } from './answers/search-statistics.js';
import type { ManagementCall } from './management-call.js';
import { THROUGHPUT_WAIT_MS } from './management-limits.js';

/** Parallel requests to the statistics: a list must leave room in their queue for other callers. */
const ASKED_AT_ONCE = 8;

/** Shows every index with its throughput. */
export async function shownWithThroughput<Answer>(
  call: ManagementCall,
  indexes: readonly SearchIndex[],
  shown: (index: SearchIndex, throughput: readonly Point[]) => Answer,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < indexes.length; from += ASKED_AT_ONCE) {
    const some = indexes.slice(from, from + ASKED_AT_ONCE);
    answers.push(...(await Promise.all(some.map(async (index) => shown(index, await throughput(call, index))))));
  }
  return answers;
}

/** Most callers do not need the throughput: without statistics the list is empty. */
export async function throughput(call: ManagementCall, { id }: SearchIndex): Promise<Point[]> {
  const { endpoint, nowMs } = call;
  const { statistics, timers, log } = endpoint.parts;
  if (statistics === undefined) return [];
  try {
    const series = await inTime(statistics.search(id, '1h', nowMs), timers);
    return series === undefined ? [] : throughputOf(call.shows(series));
  } catch (failure) {
    log.warn('management.throughput.unknown', { index: id, error: describeError(failure) });
    return [];
  }
}

/** @returns undefined if it takes longer than `THROUGHPUT_WAIT_MS` */
async function inTime<T>(answer: Promise<T>, timers: Timers): Promise<T | undefined> {
  const isThere = new AbortController();
  try {
    return (await Promise.race([answer, timers.pause(THROUGHPUT_WAIT_MS, isThere.signal)])) as T | undefined;
  } finally {
    isThere.abort();
  }
}
