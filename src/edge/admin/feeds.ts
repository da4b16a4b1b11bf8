/**
 * Live feeds from the read models: events of messages, and the last steps of statistics.
 *
 *  FD1 each event is sent once, also when several have the same millisecond
 */

import type { EventStream } from '../http/event-stream.js';
import { invalid } from '../http/refused.js';
import { eventRecord } from '../records/event-record.js';
import { NEUTRAL_SPELLING } from '../wire-alias.js';
import type { AdminCall } from './admin-call.js';
import { FEED_EVENTS, FEED_EVERY_MS } from './admin-limits.js';
import { openStream } from './open-stream.js';

/** Events `log`: entries of the message log, from now or from `?from=` (milliseconds). */
export async function logFeed(call: AdminCall): Promise<void> {
  const { account } = await call.queue();
  const { messageLog, clock } = call.endpoint.parts;
  const from = call.query.get('from');
  if (from !== null && !/^\d{1,15}$/.test(from)) throw invalid('from: must be a number of milliseconds');
  let fromMs = from === null ? Math.trunc(clock.nowMs()) : Number(from);
  // The log grows only at its end: the number already sent of the newest millisecond, in which more may follow.
  let sentOfIt = 0;
  await everySecond(call, async (stream) => {
    let left = sentOfIt;
    let cursor: string | undefined;
    const filter = { fromMs };
    do {
      const query = { filter, states: [], order: 'earliestFirst', count: FEED_EVENTS, cursor } as const;
      const page = await messageLog.events(account, query, 0);
      for (const event of page.events) {
        if (left > 0 && event.atMs === filter.fromMs) {
          left -= 1;
          continue;
        }
        await stream.send('log', JSON.stringify(eventRecord(event, NEUTRAL_SPELLING)));
        sentOfIt = event.atMs === fromMs ? sentOfIt + 1 : 1;
        fromMs = event.atMs;
      }
      cursor = page.cursor;
    } while (cursor !== undefined && !stream.signal.aborted);
  });
}

/** Events `statistics`: the last hour of a database (`/databases/`) or a queue, its newest step last. */
export async function statisticsFeed(call: AdminCall, of: 'database' | 'queue'): Promise<void> {
  const { statistics, clock } = call.endpoint.parts;
  const place = of === 'database' ? await call.database() : await call.queue();
  let last = '';
  await everySecond(call, async (stream) => {
    const nowMs = clock.nowMs();
    const series =
      place.kind === 'database'
        ? await statistics.database(place.database, '1h', nowMs)
        : await statistics.account(place.account, '1h', nowMs);
    const text = JSON.stringify(series);
    if (text !== last) await stream.send('statistics', text);
    last = text;
  });
}

/** Events `cluster`: the whole status after each change. */
export async function clusterFeed(call: AdminCall): Promise<void> {
  let last = '';
  await everySecond(call, async (stream) => {
    const text = JSON.stringify(await call.endpoint.parts.cluster.look());
    if (text !== last) await stream.send('cluster', text);
    last = text;
  });
}

async function everySecond(call: AdminCall, look: (stream: EventStream) => Promise<void>): Promise<void> {
  await openStream(call, async (stream) => {
    stream.begin();
    while (!stream.signal.aborted) {
      await look(stream);
      await stream.pause(FEED_EVERY_MS);
    }
  });
}
