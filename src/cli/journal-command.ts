/**
 * `millrace journal …`: verifies, exports, watches, replays and compares histories. Each verb has a file. Exit codes:
 * 0 fine, 1 damage found or journal unreadable, 2 wrong usage.
 */
import { requireComplete, tailLines } from '../journal/index.js';
import { describeError, isMillraceError } from '../kernel/index.js';
import type { Moment } from '../protocol/index.js';
import { takeCheckpoint } from './checkpoint-command.js';
import { byShard, type JournalCommandDeps, type PlacedPartition, placesOf } from './journal-deps.js';
import { diffDatabases } from './journal-diff.js';
import { exportNdjson, exportResp } from './journal-export.js';
import type { JournalQuestion, Whose } from './journal-question.js';
import { replayMoment } from './journal-replay.js';
import { verify, verifyAll } from './journal-verify.js';
import { UsageError } from './parser.js';

export type { JournalCommandDeps } from './journal-deps.js';

/** @returns the exit code. @throws UsageError */
export async function journalCommand(question: JournalQuestion, deps: JournalCommandDeps): Promise<0 | 1 | 2> {
  try {
    return await answer(question, deps);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    deps.writeError(`millrace journal: ${describeError(error)}`);
    return isMillraceError(error, 'INVALID') || isMillraceError(error, 'NOT_FOUND') ? 2 : 1;
  }
}

async function answer(question: JournalQuestion, deps: JournalCommandDeps): Promise<0 | 1> {
  switch (question.verb) {
    case 'verify':
      return verify(deps, await placesFor(deps, question.whose), question);
    case 'verify-all':
      return verifyAll(deps, question);
    case 'export': {
      const { range, format } = question;
      const places = await wholePlacesFor(deps, question.whose, range.from, range.to);
      await (format === 'resp' ? exportResp : exportNdjson)(deps, places, range);
      return 0;
    }
    case 'tail':
      await tail(deps, await wholePlacesFor(deps, question.whose));
      return 0;
    case 'replay':
      await replayMoment(deps, await wholePlacesFor(deps, question.whose, question.at), question);
      return 0;
    case 'diff':
      await diffDatabases(deps, await wholePlacesFor(deps, question.whose, question.from, question.to), question);
      return 0;
    case 'checkpoint':
      await takeCheckpoint(deps, question);
      return 0;
  }
}

/** A journal that lost its end would give an incomplete result, so the command refuses. `verify` still reads it. */
async function wholePlacesFor(
  deps: JournalCommandDeps,
  whose: Whose,
  ...moments: readonly (Moment | undefined)[]
): Promise<PlacedPartition[]> {
  const places = await placesFor(deps, whose, ...moments);
  for (const shard of byShard(places).keys()) await requireComplete(deps, shard);
  return places;
}

async function placesFor(
  deps: JournalCommandDeps,
  { of, name }: Whose,
  ...moments: readonly (Moment | undefined)[]
): Promise<PlacedPartition[]> {
  const places = placesOf(await (of === 'database' ? deps.resolveDatabase(name) : deps.resolveAccount(name)));
  const isAmbiguous = byShard(places).size > 1 && moments.some((moment) => moment?.kind === 'position');
  if (!isAmbiguous) return places;
  throw new UsageError('this database has several journals, each with its own positions: give an instant instead');
}

/** `millrace journal tail`: newly stored sections, one line each, until it is interrupted. */
async function tail(deps: JournalCommandDeps, places: readonly PlacedPartition[]): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const watching = [...byShard(places)].map(async ([shard, partitions]) => {
    // Writes whole lines, because lines of several shards alternate.
    for await (const line of tailLines(deps, shard, new Set(partitions), { signal })) await deps.write(line);
  });
  try {
    await Promise.all(watching);
  } finally {
    // After a failure of one shard the others are stopped, too.
    stop.abort();
    await Promise.allSettled(watching);
  }
}
