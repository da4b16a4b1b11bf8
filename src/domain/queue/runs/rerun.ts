/**
 * A new run that begins with entries of an earlier one: the payload and the results of the steps before the one to
 * execute again. The earlier run stays as it is.
 *
 *  RER1 the new run and its first deliveries are one turn
 *  RER2 a repeated call starts no second run: the run and its messages have the ids of the call
 *  RER3 the new run's deliveries are those of a resumed run: FR3 (announced steps without a result, else the last entry)
 */

import { Growth, heldRefusal } from '../messages/held-refusal.js';
import { suspended, usageRefusal } from '../messages/refusals.js';
import type { QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { derivedMessageId } from '../model/ids.js';
import type { CarriedBody } from '../model/records.js';
import type { RunEntry } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import { deliverOpen, openEntries } from './open-entries.js';
import { nameOf } from './resume.js';
import { resumedEnvelope } from './resumed-envelopes.js';
import { NO_MARK } from './run-envelopes.js';
import { creationMs } from './run-parts.js';

type RerunRun = QueueCommandOf<'RerunRun'>;

export function rerunRun(command: RerunRun, turn: QueueTurn): QueueReply {
  const { firstRunId: runId, firstId, entries, payloadHash, from } = command;
  const { state, context, evolve } = turn;
  // RER2 (a repeated call starts no second run).
  if (state.acceptedIds.has(firstId))
    return { type: 'RunsStarted', runs: [nameOf(command, 0, turn)], after: undefined };
  if (context.account.state === 'passive') return suspended();
  if (state.runs.active(runId) !== undefined) return rejection('INVALID', `workflow run ${runId} is active already`);
  if (entries.length === 0 || entries[0]?.step !== undefined) return rejection('INVALID', 'the payload is missing');
  const origin = { ...command.envelope, workflow: command.envelope.workflow ?? NO_MARK };
  const resumed = resumedEnvelope(origin, command.overrides, context);
  if ('type' in resumed) return resumed;
  const open = openEntries(entries);
  const refusal = usageRefusal(open.length, turn) ?? heldRefusal(growthOf(command, open.length), state, context);
  if (refusal !== undefined) return refusal;

  const atMs = creationMs(runId, turn);
  const envelope = state.envelopes.commonOf(resumed.envelope);
  const { kept, contents } = numbered(command, turn);
  const rerunOf = { runId: from.runId, runCreatedAtMs: from.createdAtMs, contents };
  evolve({
    type: 'RunStarted',
    runId,
    atMs,
    envelope,
    invoker: undefined,
    resumedFrom: undefined,
    kept,
    payloadHash,
    rerunOf,
  });
  const run = state.runs.active(runId) as Run;
  deliverOpen(run, { open, entries: kept, firstId, notBeforeMs: atMs + resumed.delaySeconds * 1000 }, turn);
  return { type: 'RunsStarted', runs: [{ runId, createdAtMs: atMs }], after: undefined };
}

/** The entries with bodies of this account's next numbers. */
function numbered({ entries, firstId }: RerunRun, { state }: QueueTurn) {
  const kept: RunEntry[] = [];
  const contents: CarriedBody[] = [];
  entries.forEach(({ step, body: content, createdAtMs }, index) => {
    const bytes = content.byteLength;
    const number = bytes === 0 ? 0 : state.bodies.next + contents.length;
    const body = { number, bytes };
    if (bytes > 0) contents.push({ ...body, content });
    kept.push({ messageId: derivedMessageId(`${firstId} kept ${index}`), body, step, createdAtMs });
  });
  return { kept, contents };
}

function growthOf({ entries, envelope }: RerunRun, deliveries: number): Growth {
  const growth = new Growth();
  for (let at = 0; at < deliveries; at += 1) growth.message(envelope);
  for (const { body } of entries) growth.body(body.byteLength);
  return growth;
}
