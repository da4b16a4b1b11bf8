/** `millrace journal replay`: a database at a moment, as a summary or served; a queue only as a summary. */

import type { PartitionFold } from '../journal/index.js';
import { MillraceError } from '../kernel/index.js';
import { parseKvPartition } from '../protocol/index.js';
import { countsOf, type Replayed, type ReplayedPart, replayDatabase, replayQueue } from '../replay/index.js';
import { byShard, hex, type JournalCommandDeps, type PlacedPartition, teller, walkOptions } from './journal-deps.js';
import type { QuestionOf } from './journal-question.js';

export async function replayMoment(
  deps: JournalCommandDeps,
  places: readonly PlacedPartition[],
  { whose, at, serve, asJson }: QuestionOf<'replay'>,
): Promise<void> {
  const options = walkOptions(deps);
  const tell = teller(deps, asJson);
  if (whose.of === 'account') {
    const queue = await replayQueue(deps, byShard(places), at, options);
    await tell(headFact(whose.name, queue), headLines(whose.name, queue));
    for (const part of queue.parts) {
      const all = countsOf(part.fold);
      const { messages, dlq, schedules, queues, groups, runs } = all;
      const counts =
        `${messages} messages, ${dlq} in the DLQ, ${schedules} schedules, ${queues} queues, ` +
        `${groups} groups, ${runs} workflow runs`;
      await tell({ ...partFact(part), ...all }, partLine(part, counts));
    }
    return;
  }
  const database = await replayDatabase(deps, byShard(places), at, options);
  await tell(headFact(whose.name, database), headLines(whose.name, database));
  const sum = { keys: 0, bytes: 0 };
  for (const part of database.parts) {
    const { keys, bytes } = part.fold.visibleAt(database.atMs);
    sum.keys += keys;
    sum.bytes += bytes;
    await tell({ ...partFact(part), keys, bytes }, partLine(part, `${keys} keys, ${bytes} bytes`));
  }
  await tell(sum, `${sum.keys} keys, ${sum.bytes} bytes\n`);
  if (serve === undefined) return;
  const [first] = places;
  if (first === undefined) throw new MillraceError('DEFECT', 'a database without partitions', { name: whose.name });
  const server = await deps.serveReplay(parseKvPartition(first.partition).database, database, serve);
  await tell({ token: server.token, kv: server.url }, `token ${server.token}\nready kv=${server.url}\n`);
  await aborted(deps.signal);
  await server.close();
}

function headFact<F extends PartitionFold>(name: string, { atMs, shards }: Replayed<F>) {
  const heads = shards.map(({ shard, head: { number, position, hash }, snapshot, entries }) => ({
    shard,
    number,
    position,
    hash: hex(hash),
    snapshot,
    entries,
  }));
  return { name, at: new Date(atMs).toISOString(), shards: heads };
}

function partFact<F extends PartitionFold>({ partition, index, hash, fold }: ReplayedPart<F>) {
  return { partition, section: index, hash: hex(hash), state: fold.digest() };
}

function headLines<F extends PartitionFold>(name: string, { atMs, shards }: Replayed<F>): string {
  const lines = shards.map(({ shard, head, snapshot, entries }) => {
    const since = snapshot === undefined ? 'its beginning' : snapshot;
    if (head.number === 0) return `${shard}: the journal is empty`;
    const time = new Date(head.clockMs).toISOString();
    return `${shard}: entry ${head.number} at position ${head.position} of ${time}, hash ${hex(head.hash)}; ${entries} entries replayed from ${since}`;
  });
  return `${[`${name} as it was at ${new Date(atMs).toISOString()}`, ...lines].join('\n')}\n`;
}

function partLine<F extends PartitionFold>({ partition, index, hash, fold }: ReplayedPart<F>, counts: string): string {
  const section = index === 0 ? 'no sections' : `section ${index} with hash ${hex(hash)}`;
  return `${partition}: ${counts}; ${section}, state ${fold.digest()}\n`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
