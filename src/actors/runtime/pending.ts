/**
 * A turn and the works that wait for its entry; and the errors of callers when an actor ends before the entry is
 * stored.
 */
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

/** A turn for which no work waits. */
export const NO_TURN = -1;

export function newPending<W>(number: number): PendingTurn<W> {
  return { turn: { number, nowMs: 0, commands: 0, effectBytes: 0, effects: 0 }, waiting: [], commandIds: [] };
}

/** The works to reject at an actor's end, by the state of their commands. */
export interface Abandoned<W> {
  readonly inFlight: readonly W[];
  readonly open: readonly W[];
  /** Not begun, or begun and not finished. */
  readonly waiting: readonly W[];
}

/** Works in flight may be stored or not; works executed after that are certainly not stored, nor are waiting ones. */
export function rejectAll<W extends Work>(
  shard: ShardName,
  { inFlight, open, waiting }: Abandoned<W>,
  reason: MillraceError,
): void {
  const isRefused = isMillraceError(reason, 'FENCED') && reason.details.outcome === 'not-applied';
  const settle = (work: W, mayBeStored: boolean) =>
    work.reject(work.hasWritten && mayBeStored ? unknown(shard, reason) : notApplied(shard, reason));
  for (const work of inFlight) settle(work, !isRefused || isSpread(work));
  for (const work of open) settle(work, isSpread(work));
  // Works whose reply waited only for proof of ownership have published their messages already.
  for (const work of waiting) {
    if (work.hasSaid === true && !work.hasWritten) work.reject(outOfTouch(shard, work));
    else settle(work, true);
  }
}

/** A pipeline may have effects in an earlier entry than the one that it waits for. */
function isSpread(work: Work): boolean {
  return work.commands > 1;
}

export function unavailable(message: string): MillraceError {
  return new MillraceError('SHARD_UNAVAILABLE', message);
}

/**
 * The owner may not answer any more. Published messages cannot be published again, because listeners have received
 * them.
 */
export function outOfTouch(shard: ShardName, { hasSaid = false }: Work): MillraceError {
  const message = `${shard}: the read lease of this owner has expired`;
  return hasSaid ? new MillraceError('OUTCOME_UNKNOWN', message, { isExecuted: true }) : unavailable(message);
}

/** The error of a work that waited until after its deadline. Part of a pipeline may have been executed in time. */
export function tooLate(shard: ShardName, { hasBegun }: Work): MillraceError {
  if (!hasBegun) return unavailable(`${shard}: its time limit passed before it was executed`);
  return new MillraceError('OUTCOME_UNKNOWN', `${shard}: its time limit passed during execution`, { isExecuted: true });
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

/** Records each unanswered append before it is repeated; `journal.append-answered` follows. */
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
