/**
 * `millrace journal …`: histories, proven, taken out, watched, brought back and compared. Each verb is a file.
 * Exit codes: 0 fine, 1 damage was found or the journal could not be read, 2 it was asked wrongly.
 */
import { mustBeWhole } from '../journal/index.js';
import { describeError, isMillraceError } from '../kernel/index.js';
import type { Moment } from '../messages/index.js';
import { takeCheckpoint } from './checkpoint-command.js';
import { UsageError } from './command-line.js';
import { byShard, type JournalCommandDeps, type PlacedPartition, placesOf } from './journal-deps.js';
import { diffDatabases } from './journal-diff.js';
import { exportNdjson, exportResp } from './journal-export.js';
import { JOURNAL_USAGE, parseQuestion, type Whose } from './journal-question.js';
import { replayMoment } from './journal-replay.js';
import { tail } from './journal-tail.js';
import { verify, verifyAll } from './journal-verify.js';

export type { JournalCommandDeps } from './journal-deps.js';

/** @param argv  what follows `millrace journal`. @returns the exit code; never throws */
export async function journalCommand(argv: readonly string[], deps: JournalCommandDeps): Promise<0 | 1 | 2> {
  try {
    return await answer(argv, deps);
  } catch (error) {
    if (error instanceof UsageError) {
      deps.writeError(`${error.message}\n${JOURNAL_USAGE}`);
      return 2;
    }
    deps.writeError(`millrace journal: ${describeError(error)}`);
    return isMillraceError(error, 'INVALID') || isMillraceError(error, 'NOT_FOUND') ? 2 : 1;
  }
}

async function answer(argv: readonly string[], deps: JournalCommandDeps): Promise<0 | 1> {
  const question = parseQuestion(argv);
  switch (question.verb) {
    case 'verify':
      return verify(deps, await placesFor(deps, question.whose));
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
      await takeCheckpoint(deps, question.file);
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
