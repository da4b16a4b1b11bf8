/**
 * `millrace journal …`: histories, proven, taken out, watched, brought back and compared. Each verb is a file.
 * Exit codes: 0 fine, 1 damage was found or the journal could not be read, 2 it was asked wrongly.
 */
import { mustBeWhole } from '../journal/index.js';
import { describeError, isMillraceError } from '../kernel/index.js';
import type { Moment } from '../messages/index.js';
import { takeCheckpoint } from './checkpoint-command.js';
import { byShard, type JournalCommandDeps, type PlacedPartition, placesOf } from './journal-deps.js';
import { diffDatabases } from './journal-diff.js';
import { exportNdjson, exportResp } from './journal-export.js';
import type { JournalQuestion, Whose } from './journal-question.js';
import { replayMoment } from './journal-replay.js';
import { tail } from './journal-tail.js';
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

/** What is made of a journal that lost its end would be less than was asked for: said, and not made. `verify` looks anyway. */
async function wholePlacesFor(
  deps: JournalCommandDeps,
  whose: Whose,
  ...moments: readonly (Moment | undefined)[]
): Promise<PlacedPartition[]> {
  const places = await placesFor(deps, whose, ...moments);
  for (const shard of byShard(places).keys()) await mustBeWhole(deps, shard);
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
  throw new UsageError('this database lies in several journals, each with positions of its own: name an instant');
}
