/** A turn and those who wait for its entry; and what callers hear when an actor ends before it is stored. */
import { type CommandId, describeError, isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import { RecurringFact } from '../../ports/index.js';
import type { ActorPorts } from './activation.js';
import type { Turn, Work } from './work.js';

export interface PendingTurn<W> {
  readonly turn: Turn;
  /** Finished works that wait for this turn's entry. */
  readonly waiting: W[];
  commandIds: CommandId[];
}

/** Nothing ever waits for it. */
export const NO_TURN = -1;

export function newPending<W>(number: number): PendingTurn<W> {
  return { turn: { number, nowMs: 0, commands: 0, effectBytes: 0, effects: 0 }, waiting: [], commandIds: [] };
}

/** Who is to hear of an actor's end, by what may have become of their commands. */
export interface Abandoned<W> {
  readonly inFlight: readonly W[];
  readonly open: readonly W[];
  /** Not begun, or begun and not finished. */
  readonly waiting: readonly W[];
}

/** What is in flight may be stored or not; what was executed after it surely is not, nor is what waits. */
export function rejectAll<W extends Work>(
  shard: ShardName,
  { inFlight, open, waiting }: Abandoned<W>,
  why: MillraceError,
): void {
  const isRefused = isMillraceError(why, 'FENCED') && why.details.outcome === 'not-applied';
  const settle = (work: W, mayBeStored: boolean) =>
    work.reject(work.hasWritten && mayBeStored ? unknown(shard, why) : notApplied(shard, why));
  for (const work of inFlight) settle(work, !isRefused || isSpread(work));
  for (const work of open) settle(work, isSpread(work));
  // Of those whose reply waited for proof of ownership alone, what they said has left.
  for (const work of waiting) {
    if (work.hasSaid === true && !work.hasWritten) work.reject(outOfTouch(shard, work));
    else settle(work, true);
  }
}

/** A pipeline may have effects in an earlier entry than the one it waits for. */
function isSpread(work: Work): boolean {
  return work.commands > 1;
}

export function unavailable(message: string): MillraceError {
  return new MillraceError('SHARD_UNAVAILABLE', message);
}

/** The owner may not answer any more. What was said cannot be said again: somebody has heard it. */
export function outOfTouch(shard: ShardName, { hasSaid = false }: Work): MillraceError {
  const message = `${shard}: this owner has lost touch`;
  return hasSaid ? new MillraceError('OUTCOME_UNKNOWN', message, { isExecuted: true }) : unavailable(message);
}

/** Work that waited until after its deadline is answered so. Of a pipeline some may have been executed in time. */
export function tooLate(shard: ShardName, { hasBegun }: Work): MillraceError {
  if (!hasBegun) return unavailable(`${shard}: its time was over before its turn came`);
  return new MillraceError('OUTCOME_UNKNOWN', `${shard}: time was over in the middle of it`, { isExecuted: true });
}

function notApplied(shard: ShardName, cause: MillraceError): MillraceError {
  return new MillraceError('NOT_APPLIED', `${shard}: the owner ended before anything was stored`, { shard }, cause);
}

function unknown(shard: ShardName, cause: MillraceError): MillraceError {
  return new MillraceError('OUTCOME_UNKNOWN', `${shard}: the owner ended while the entry was open`, { shard }, cause);
}

export function asFailure(error: unknown, shard: ShardName): MillraceError {
  if (error instanceof MillraceError) return error;
  return new MillraceError('DEFECT', `${shard}: ${describeError(error)}`, { shard }, error);
}

/** What is done each time an append was not answered, and is about to be sent again; `journal.append-answered` follows. */
export function watchAppends(ports: Pick<ActorPorts, 'metrics' | 'log' | 'clock'>, shard: ShardName) {
  const fact = new RecurringFact(ports, 'journal.append-unknown', 'journal.append-answered');
  return {
    unanswered: (cause: unknown): void => {
      ports.metrics.appendUnknown(shard);
      fact.happened({ shard, cause: describeError(cause) });
    },
    answered: (): void => fact.isWell({ shard }),
  };
}
