/**
 * New runs from failed ones: resumed, they keep what was done and go on at what was not; restarted, they begin again
 * with the same payload. The failed run stays as it ended, and its entry leaves the DLQ.
 *
 *  FR1 a new run, its first deliveries and the removal of the entry are one turn: what failed is in the DLQ or has been
 *      taken up again, never both, never neither
 *  FR2 asked again, a call starts nothing a second time: the ids of its runs and messages follow from the first ones
 *  FR3 where a step that was announced has no result, exactly those announcements are delivered, each with what was
 *      there before it; else the last entry is
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import type { QueueCommandOf, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { derivedMessageId, messageIdAt } from '../ids.js';
import { suspended, usageRefusal } from '../refusals.js';
import type { RunName } from '../runs/commands.js';
import type { Envelope, RunEntry } from '../runs/records.js';
import type { Run } from '../runs/run.js';
import { runIdAt } from '../runs/run-ids.js';
import { acceptPart, creationMs, partOf } from '../runs/run-parts.js';
import type { QueueSteps, QueueTurn } from '../turn.js';
import type { FailedRun } from './failed-run-index.js';
import { selectFailedRuns } from './failed-run-selection.js';
import { openEnvelope, type ResumedEnvelope, resumedEnvelope } from './resumed-envelopes.js';

type ResumeRuns = QueueCommandOf<'ResumeRuns'>;

/** Entries that runs of one step, and of a page, begin with: about two milliseconds. */
const ENTRIES_AT_ONCE = 2000;
/** What a run costs beside its entries, in theirs. */
const ENTRIES_OF_A_START = 20;
/** Before the first number: a page that begins here begins at the oldest. */
const BEGINNING = '0-0' as DlqId;

interface Planned {
  readonly failed: FailedRun;
  /** Which of the call's runs it is. */
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
    // Runs that are named may be too many for a turn. Those of a page could not be told from others when it is asked
    // for again, so that a page is a turn.
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

/** All of it is judged before anything happens. */
function plan(command: ResumeRuns, runs: readonly FailedRun[], turn: QueueTurn): readonly Planned[] | QueueReply {
  const { selector, how, overrides } = command;
  const planned: Planned[] = [];
  // Runs that were triggered alike share an envelope.
  const known = new Map<Envelope, ResumedEnvelope>();
  let messages = 0;
  for (const failed of runs) {
    // Others ran between the steps.
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
    messages += how === 'restart' ? 1 : openEntries(failed.run).length;
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
  const open = how === 'resume' ? openEntries(before) : [0];
  const id = messageIdAt(firstId, at);
  open.forEach((index, nth) => {
    const { body, step } = entries[index] as RunEntry;
    const part = { role: 'step', ...partOf(run), index, step } as const;
    const messageId = nth === 0 ? id : derivedMessageId(`${id} entry ${index}`);
    const carried = { ...body, content: undefined };
    acceptPart({ id: messageId, envelope: openEnvelope(run, index), body: carried, notBeforeMs, part }, turn);
  });
  evolve({ type: 'DlqDeleted', dlqIds: [dlqId], atMs });
  return { runId, createdAtMs: atMs };
}

/** FR3. Indexes. */
function openEntries({ entries }: Run): readonly number[] {
  const done = new Set<number>();
  for (const { step } of entries) if (step !== undefined && step.stepId > 0) done.add(step.stepId);
  const announced: number[] = [];
  entries.forEach(({ step }, index) => {
    if (step?.stepId === 0 && !done.has(step.targetStep)) announced.push(index);
  });
  return announced.length > 0 ? announced : [entries.length - 1];
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

/** Those of a call that was asked before, whole or in part. */
function noteStarted(command: ResumeRuns, most: number, names: Map<number, RunName>, turn: QueueTurn): void {
  for (let at = 0; at < most; at += 1) {
    if (wasStarted(command, at, turn)) names.set(at, nameOf(command, at, turn));
  }
}

/** A page that is asked for again has nothing more of its runs in the DLQ: what is left begins where it began. */
function repeated(command: ResumeRuns, turn: QueueTurn): QueueReply {
  const { selector } = command;
  const runs: RunName[] = [];
  for (let at = 0; wasStarted(command, at, turn); at += 1) runs.push(nameOf(command, at, turn));
  const from = selector.kind === 'filter' ? (selector.after ?? BEGINNING) : undefined;
  return { type: 'RunsStarted', runs, after: from };
}

/** One that has ended meanwhile was started a moment ago. */
function nameOf({ firstRunId, firstId }: ResumeRuns, at: number, { state, context }: QueueTurn): RunName {
  const runId = runIdAt(firstRunId, at);
  const message = state.messages.get(messageIdAt(firstId, at) as MessageId);
  const createdAtMs = state.runs.active(runId)?.createdAtMs ?? message?.createdAtMs ?? context.nowMs;
  return { runId, createdAtMs };
}
