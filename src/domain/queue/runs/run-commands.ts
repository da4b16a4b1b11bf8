/** Commands that show runs and end them from outside. */
import { type MessageId, type RunId, readUrl } from '../../../kernel/index.js';
import { hostsOf, wantedHosts } from '../messages/message-filter.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import type { Run } from '../model/runs/run.js';
import type { EntryView, RunFilter } from '../model/workflow-commands.js';
import { endText, LARGE_OUT_BYTES, type OutText } from './out-texts.js';
import { endRun, failRefused } from './run-end.js';

/** Runs that one step looks at: about 1 ms. */
const LOOKED_AT_ONCE = 2000;
const CANCELLED_AT_ONCE = 50;

/** Returns as many entries as fit, at least one; the caller continues from `nextFrom`. */
export function getRun({ runId, from, maxBytes }: QueueCommandOf<'GetRun'>, { state }: QueueTurn): QueueReply {
  const run = state.runs.look(runId);
  if (run === undefined) return runNotFound(runId);
  const entries: EntryView[] = [];
  let bytes = 0;
  let at = from;
  for (; at < run.entries.length; at += 1) {
    const entry = run.entries[at];
    if (entry === undefined || (entries.length > 0 && bytes + entry.body.bytes > maxBytes)) break;
    bytes += entry.body.bytes;
    entries.push({ messageId: entry.messageId, body: entry.body, content: undefined });
  }
  const nextFrom = at < run.entries.length ? at : undefined;
  return { type: 'Run', run: run.name, entries, nextFrom };
}

export function endRunByCommand(command: QueueCommandOf<'EndRun'>, turn: QueueTurn): QueueReply | QueueSteps {
  const { runId, how, response } = command;
  const isTold = how === 'finish' && turn.state.runs.active(runId)?.invoker !== undefined;
  if (!isTold || response === undefined || response.byteLength <= LARGE_OUT_BYTES) return endNow(command, turn);
  return endTelling(command, response, turn);
}

/** Another command may end the run between the steps. */
function* endTelling(
  command: QueueCommandOf<'EndRun'>,
  response: Uint8Array,
  turn: QueueTurn,
): QueueSteps & Generator<void, QueueReply> {
  return endNow(command, turn, yield* endText('RUN_SUCCESS', response));
}

function endNow({ runId, how, response }: QueueCommandOf<'EndRun'>, turn: QueueTurn, out?: OutText): QueueReply {
  const run = turn.state.runs.active(runId);
  if (how === 'finish') {
    if (run !== undefined) endRun(run, { state: 'RUN_SUCCESS', response, out }, turn);
    return { type: 'Done' };
  }
  if (run === undefined) return runNotFound(runId);
  endRun(run, { state: 'RUN_CANCELED' }, turn);
  return { type: 'Done' };
}

export function* cancelRuns(
  { selector }: QueueCommandOf<'CancelRuns'>,
  turn: QueueTurn,
): QueueSteps & Generator<void, QueueReply> {
  let count = 0;
  if (selector.kind === 'ids') {
    for (const runId of new Set(selector.runIds)) {
      if (!cancel(turn.state.runs.active(runId), turn)) continue;
      count += 1;
      if (count % CANCELLED_AT_ONCE === 0) yield;
    }
    return { type: 'Cancelled', count };
  }
  const matches = runMatcher(selector.filter);
  let looked = 0;
  // Runs started after this point are left alone.
  const beforeMs = turn.context.nowMs;
  for (const run of turn.state.runs.actives()) {
    if (count >= selector.count) break;
    looked += 1;
    if (run.createdAtMs <= beforeMs && matches(run) && cancel(turn.state.runs.active(run.id), turn)) {
      count += 1;
      if (count % CANCELLED_AT_ONCE === 0) yield;
    }
    if (looked % LOOKED_AT_ONCE === 0) yield;
  }
  return { type: 'Cancelled', count };
}

function cancel(run: Run | undefined, turn: QueueTurn): boolean {
  if (run === undefined || run.isOver) return false;
  endRun(run, { state: 'RUN_CANCELED' }, turn);
  return true;
}

/**
 * The delivery that made the refused step fails; its later answer changes no state. A run without an open delivery
 * waits for a call or a child, and then its newest message fails.
 */
export function refuseStep({ runId, error }: QueueCommandOf<'RefuseStep'>, turn: QueueTurn): QueueReply {
  const { runs, messages } = turn.state;
  const run = runs.active(runId);
  if (run === undefined) return { type: 'Done' };
  // An open call of a third party has sent no step, so deliveries come first.
  const isCall = (id: MessageId) => runs.placeOf(id)?.part.role === 'call';
  const open = [...run.open].sort((a, b) => Number(isCall(a)) - Number(isCall(b)));
  const id = open.find((each) => !messages.isWaiting(each)) ?? open[0];
  if (id === undefined) endRun(run, { state: 'RUN_FAILED', error }, turn);
  else failRefused(run, messages.pending(id), error, turn);
  return { type: 'Done' };
}

function runNotFound(runId: RunId): QueueReply {
  return rejection('NOT_FOUND', `workflowRun ${runId} not found`);
}

function runMatcher(filter: RunFilter): (run: Run) => boolean {
  const { url, isUrlExact, label, flowControlKey, callerIp, fromMs, toMs, path } = filter;
  const hosts = filter.host && wantedHosts(filter.host);
  return (run) => {
    const { settings, callerIp: from } = run.shared.envelope;
    if (url && !url.some((one) => (isUrlExact ? run.url === one : run.url.startsWith(one)))) return false;
    if (label && !label.some((one) => settings.labels.includes(one))) return false;
    if (flowControlKey && !flowControlKey.includes(settings.flowControl?.key ?? '')) return false;
    if (callerIp && !callerIp.includes(from)) return false;
    if (hosts && !hostsOf(run.url).some((one) => hosts.has(one))) return false;
    if (path && !path.includes(readUrl(run.url)?.pathname ?? '')) return false;
    return run.createdAtMs >= (fromMs ?? 0) && run.createdAtMs <= (toMs ?? Number.POSITIVE_INFINITY);
  };
}
