/**
 * New runs from failed ones. A resumed run keeps the completed steps and continues with the others; a restarted run
 * begins again with the same payload. The failed run stays as it ended, and its entry leaves the DLQ.
 *
 *  FR1 a new run, its first deliveries and the removal of the entry are one turn: a failed run is either in the DLQ
 *      or started again, never both and never neither
 *  FR2 a repeated call starts no run twice: the ids of its runs and messages are derived from the first ones
 *  FR3 announced steps without a result are delivered, each with the entries before it; if there are none, the last
 *      entry is delivered
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import { suspended, usageRefusal } from '../messages/refusals.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { messageIdAt } from '../model/ids.js';
import { runIdAt } from '../model/run-ids.js';
import type { Envelope } from '../model/run-records.js';
import type { FailedRun } from '../model/runs/failed-run-index.js';
import type { Run } from '../model/runs/run.js';
import type { RunName } from '../model/workflow-commands.js';
import { selectFailedRuns } from './failed-run-selection.js';
import { deliverOpen, openEntries } from './open-entries.js';
import { type ResumedEnvelope, resumedEnvelope } from './resumed-envelopes.js';
import { creationMs } from './run-parts.js';

type ResumeRuns = QueueCommandOf<'ResumeRuns'>;

/** Entries of the runs that one step, or one page, starts with: about 2 ms. */
const ENTRIES_AT_ONCE = 2000;
/** The cost of starting a run without its entries, as a number of entries. */
const ENTRIES_OF_A_START = 20;
/** Before the first number: a page that begins here begins at the oldest entry. */
const BEGINNING = '0-0' as DlqId;

interface Planned {
  readonly failed: FailedRun;
  /** The index of the run within the call. */
  readonly at: number;
  readonly resumed: ResumedEnvelope;
}

export function resumeRuns(command: ResumeRuns, turn: QueueTurn): QueueReply | QueueSteps {
  const { selector, firstId } = command;
  const { state, context } = turn;
  if (selector.kind === 'filter' && state.acceptedIds.has(firstId)) return repeated(command, turn);
  if (context.account.state === 'passive') return suspended();
  if (selector.kind === 'ids') {
    const isKnown = (dlqId: DlqId, at: number) =>
      state.runs.failed(dlqId) !== undefined || wasStarted(command, at, turn);
    if (!selector.dlqIds.every(isKnown)) return rejection('NOT_FOUND', 'some messages were not found');
  }
  return resumeSelected(command, turn);
}

function* resumeSelected(command: ResumeRuns, turn: QueueTurn): Generator<void, QueueReply> {
  const { selector } = command;
  const isPage = selector.kind === 'filter';
  const bound = { costOf: entriesOf, most: isPage ? ENTRIES_AT_ONCE : Number.POSITIVE_INFINITY };
  const { runs, after } = yield* selectFailedRuns(selector, bound, turn.state);
  const planned = plan(command, runs, turn);
  if ('type' in planned) return planned;
  const names = new Map<number, RunName>();
  if (selector.kind === 'ids') noteStarted(command, selector.dlqIds.length, names, turn);
  let entries = 0;
  for (const one of planned) {
    // Named runs may take several turns. A page is one turn, because a repeated call could not tell its runs from
    // others.
    const cost = entriesOf(one.failed) + ENTRIES_OF_A_START;
    if (!isPage && entries > 0 && entries + cost > ENTRIES_AT_ONCE) {
      yield;
      entries = 0;
    }
    entries += cost;
    if (isThere(one.failed, turn)) names.set(one.at, start(command, one, turn));
  }
  const started = [...names].sort(([one], [other]) => one - other).map(([, name]) => name);
  return { type: 'RunsStarted', runs: started, after };
}

/** Judges all runs before the first event. */
function plan(command: ResumeRuns, runs: readonly FailedRun[], turn: QueueTurn): readonly Planned[] | QueueReply {
  const { selector, how, overrides } = command;
  const planned: Planned[] = [];
  // Runs with equal triggers share an envelope.
  const known = new Map<Envelope, ResumedEnvelope>();
  let messages = 0;
  for (const failed of runs) {
    // Another command may have removed it between the steps.
    if (!isThere(failed, turn)) continue;
    const at = selector.kind === 'ids' ? selector.dlqIds.indexOf(failed.entry.dlqId) : planned.length;
    const { envelope } = failed.run.shared;
    const resumed = known.get(envelope) ?? resumedEnvelope(envelope, overrides, turn.context);
    if ('type' in resumed) return resumed;
    known.set(envelope, resumed);
    const runId = runIdAt(command.firstRunId, at);
    if (turn.state.runs.active(runId) !== undefined) {
      return rejection('INVALID', `workflow run ${runId} is active already`);
    }
    messages += how === 'restart' ? 1 : openEntries(failed.run.entries).length;
    planned.push({ failed, at, resumed });
  }
  return usageRefusal(messages, turn) ?? planned;
}

function start(command: ResumeRuns, { failed, at, resumed }: Planned, turn: QueueTurn): RunName {
  const { how, firstRunId, firstId } = command;
  const { state, evolve } = turn;
  const { run: before, entry } = failed;
  const { dlqId } = entry;
  const runId = runIdAt(firstRunId, at);
  const atMs = creationMs(runId, turn);
  const { invoker, payloadHash, entries } = before;
  const { envelope } = resumed;
  const resumedFrom = { how, dlqId, runId: before.id, runCreatedAtMs: before.createdAtMs } as const;
  const kept = how === 'resume' ? [...entries] : [];
  evolve({ type: 'RunStarted', runId, atMs, envelope, invoker, resumedFrom, kept, payloadHash });
  const run = state.runs.active(runId) as Run;
  const notBeforeMs = atMs + resumed.delaySeconds * 1000;
  const open = how === 'resume' ? openEntries(entries) : [0];
  deliverOpen(run, { open, entries, firstId: messageIdAt(firstId, at), notBeforeMs }, turn);
  evolve({ type: 'DlqDeleted', dlqIds: [dlqId], atMs });
  return { runId, createdAtMs: atMs };
}

function entriesOf({ run }: FailedRun): number {
  return run.entries.length;
}

function isThere({ entry, run }: FailedRun, { state }: QueueTurn): boolean {
  return state.runs.failed(entry.dlqId)?.run === run;
}

function wasStarted({ firstId }: ResumeRuns, at: number, { state }: QueueTurn): boolean {
  return state.acceptedIds.has(messageIdAt(firstId, at));
}

/** Runs that an earlier, possibly interrupted, call has started. */
function noteStarted(command: ResumeRuns, most: number, names: Map<number, RunName>, turn: QueueTurn): void {
  for (let at = 0; at < most; at += 1) {
    if (wasStarted(command, at, turn)) names.set(at, nameOf(command, at, turn));
  }
}

/** A repeated page: its runs have left the DLQ, so the next page begins where this one began. */
function repeated(command: ResumeRuns, turn: QueueTurn): QueueReply {
  const { selector } = command;
  const runs: RunName[] = [];
  for (let at = 0; wasStarted(command, at, turn); at += 1) runs.push(nameOf(command, at, turn));
  const from = selector.kind === 'filter' ? (selector.after ?? BEGINNING) : undefined;
  return { type: 'RunsStarted', runs, after: from };
}

/** A run that is no longer active was started a moment ago and has ended. */
export function nameOf(
  { firstRunId, firstId }: Pick<ResumeRuns, 'firstRunId' | 'firstId'>,
  at: number,
  { state, context }: QueueTurn,
): RunName {
  const runId = runIdAt(firstRunId, at);
  const message = state.messages.get(messageIdAt(firstId, at) as MessageId);
  const createdAtMs = state.runs.active(runId)?.createdAtMs ?? message?.createdAtMs ?? context.nowMs;
  return { runId, createdAtMs };
}
