/** A command, or transaction, that runs in slices: its suspension, the reasons to cancel it, and SCRIPT KILL. */
import {
  type CommandSpec,
  findCommand,
  type KvEngine,
  OK,
  type Reply,
  type SlicedCommand,
} from '../../domain/kv/index.js';
import type { ShouldStop } from '../runtime/index.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';

/** Suspends a command that is half done until the next turn of the event loop. */
export function suspend(owned: OwnedPartition, { run }: KvEngine, work: KvWork): void {
  if (work.isHalfway) run.pause();
  owned.underway = work;
  work.isHalfway = true;
}

/** Marks the command as running again. */
export function resume(owned: OwnedPartition, work: KvWork): void {
  owned.underway = undefined;
  work.isHalfway = false;
  work.isKilled = false;
}

/** Runs slices while the turn has time. @returns undefined when slices are left */
export function nextSlices(slices: SlicedCommand, nowMs: number, shouldStop: ShouldStop): Reply | undefined {
  for (;;) {
    const reply = slices.next(nowMs);
    if (reply !== undefined) return reply;
    if (shouldStop(true)) return undefined;
  }
}

/** @returns the reason to cancel a half-done command. @param isTimed  true when the command checks its own time */
export function cancelReason({ run, commandMs }: KvEngine, work: KvWork, isTimed = false): string | undefined {
  if (work.isUnwanted) return 'it was killed';
  return !isTimed && run.spentMs >= commandMs ? `it took longer than ${commandMs} ms` : undefined;
}

export function isScript({ family }: Pick<CommandSpec, 'family'>): boolean {
  return family === 'scripting' || family === 'function';
}

/**
 * Executes SCRIPT KILL and FUNCTION KILL while a command is half done, without waiting for its end. @returns false when
 * the work is another command, or no script runs
 */
export function killScript(owned: OwnedPartition, work: KvWork): boolean {
  const { underway } = owned;
  const { commands, mode } = work.request;
  const [words = []] = commands;
  if (underway?.slices === undefined || commands.length !== 1) return false;
  if (mode !== 'single' && mode !== 'pipeline') return false;
  if (words.length !== 2 || findCommand(words)?.endsScript !== true) return false;
  const spec = findCommand(underway.request.commands[underway.progress] as readonly string[]);
  if (spec === undefined || !isScript(spec)) return false;
  underway.isKilled = true;
  work.replies.push(OK);
  return true;
}
