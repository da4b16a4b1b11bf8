/**
 * The changes of the open turn: which partitions have effects to store, which entry a reply waits for (CR1), and which
 * partitions must be rebuilt because a command failed (CR2).
 */
import { type CommandSpec, ErrorReply, type KvEngine, type Reply, StateInDoubt } from '../../domain/kv/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import type { Turn } from '../runtime/index.js';
import type { CommandExecution } from './command-execution.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';

const INTERNAL_ERROR = new ErrorReply('ERR internal error; the command was undone');

export class TurnChanges {
  /** Partitions with effects in the open turn. */
  readonly changed = new Set<OwnedPartition>();
  /** Partitions to be rebuilt. */
  readonly doubted = new Set<OwnedPartition>();

  constructor(private readonly log: Log) {}

  /** Counts effects that were added to the partition's part of the open entry. */
  note(owned: OwnedPartition, engine: KvEngine, turn: Turn, added: number, bytes: number): void {
    const { open } = engine.keyspace.changes;
    if (engine.effects.count === 0) {
      // The change has no effect to store, so no reply needs to wait for it.
      if (!open.isEmpty && !this.changed.has(owned)) open.clear();
      return;
    }
    // A change without keys (parameters, libraries): every later reply waits for it.
    if (open.isEmpty) open.everything = true;
    owned.authors.note(added);
    turn.effects += added;
    turn.effectBytes += bytes;
    owned.openOrdinal = turn.effects;
    this.changed.add(owned);
  }

  /** Records the effects of a command and the entry that its reply must wait for. */
  noteOutcome(execution: CommandExecution, spec: CommandSpec, words: readonly string[]): void {
    if (this.noteWritten(execution)) execution.engine.statistics.changes += 1;
    else this.noteRead(execution.owned, spec, words, execution.work, execution.turn);
  }

  /** @returns whether the command has written */
  noteWritten({ owned, engine, work, turn, effectsBefore, bytesBefore }: CommandExecution): boolean {
    const added = engine.effects.count - effectsBefore;
    owned.authors.current = work.request.by ?? '';
    this.note(owned, engine, turn, added, engine.effects.bytes - bytesBefore);
    owned.authors.current = '';
    if (added === 0) return false;
    work.hasWritten = true;
    work.ordinal = turn.effects;
    work.waitsForTurn = turn.number;
    return true;
  }

  noteRead(owned: OwnedPartition, spec: CommandSpec, words: readonly string[], work: KvWork, turn: Turn): void {
    // An uncommitted key that an earlier slice read is stored by the open entry or an earlier one.
    const waitFor = owned.turnToWaitFor(spec, words, turn.number);
    if (waitFor > work.waitsForTurn) work.waitsForTurn = waitFor;
  }

  /** Handles an internal error of a command: its changes are undone by rebuilding the partition. @returns its reply */
  doubt(
    { owned, engine, effectsBefore, bytesBefore }: CommandExecution,
    words: readonly string[],
    error: unknown,
  ): Reply {
    if (engine.run.isOpen) engine.run.undo();
    else engine.effects.rollBack(effectsBefore, bytesBefore);
    const isKnown = error instanceof StateInDoubt;
    this.putInDoubt(owned, words[0], isKnown ? error.message : undefined);
    if (isKnown) return error.reply;
    const stack = error instanceof Error ? error.stack : undefined;
    const told = { partition: owned.name, command: words[0], error: describeError(error), stack };
    this.log.error('partition.defect', told);
    return INTERNAL_ERROR;
  }

  /** @param reason  undefined: it is logged as an error of the command */
  putInDoubt(owned: OwnedPartition, command: string | undefined, reason: string | undefined): void {
    owned.isInDoubt = true;
    this.doubted.add(owned);
    if (reason !== undefined) this.log.warn('partition.in-doubt', { partition: owned.name, command, reason });
  }
}
