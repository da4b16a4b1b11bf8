/** Failure functions of runs in the DLQ: running a failed one again, and cancelling one that is in progress. */
import { suspended, usageRefusal } from '../messages/refusals.js';
import type { QueueTurn } from '../messages/turn.js';
import type { QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { ACTIVE, DELIVERED } from '../model/messages/message.js';
import type { HeaderList } from '../model/records.js';
import type { FailedRun } from '../model/runs/failed-run-index.js';
import { failureEnvelope } from './run-envelopes.js';
import { acceptPart, partOf } from './run-parts.js';

const NO_HEADER: HeaderList = [];
const NO_BODY = { number: 0, bytes: 0, content: undefined };

/**
 * Sends the same message as before, which was kept for this.
 * @returns the failed run's name
 */
export function runFailureFunction(command: QueueCommandOf<'RunFailureFunction'>, turn: QueueTurn): QueueReply {
  const { dlqId, messageId } = command;
  const { state, context } = turn;
  const failed = state.runs.failed(dlqId);
  if (failed === undefined) return failedRunNotFound(dlqId);
  const { run, failureFunction } = failed;
  if (state.acceptedIds.has(messageId)) return named(failed);
  if (context.account.state === 'passive') return suspended();
  const origin = run.shared.envelope;
  const { failureCallback } = origin.settings;
  const payload = run.entries[0];
  const isCallable = failureFunction?.state === 'CALLBACK_FAIL';
  if (!isCallable || failureCallback === undefined || payload === undefined) {
    return rejection('INVALID', `the failure function of ${dlqId} has not failed`);
  }
  const refusal = usageRefusal(1, turn);
  if (refusal !== undefined) return refusal;
  const part = { role: 'failure', ...partOf(run), dlqId, payload: payload.body } as const;
  const body = { ...failureFunction.request, content: undefined };
  const envelope = failureEnvelope(origin, failureCallback);
  acceptPart({ id: messageId, envelope, body, notBeforeMs: context.nowMs, part }, turn);
  return named(failed);
}

/** An open call is left to end; its outcome is ignored. */
export function cancelFailureFunction({ dlqId }: QueueCommandOf<'CancelFailureFunction'>, turn: QueueTurn): QueueReply {
  const { state, context, evolve } = turn;
  const failed = state.runs.failed(dlqId);
  if (failed === undefined) return failedRunNotFound(dlqId);
  const { run, failureFunction } = failed;
  if (failureFunction?.state !== 'CALLBACK_INPROGRESS') {
    return rejection('INVALID', `no failure function of ${dlqId} is in progress`);
  }
  const atMs = context.nowMs;
  const ended = { runId: run.id, dlqId, state: 'CALLBACK_CANCELED', status: 0, header: NO_HEADER } as const;
  evolve({ type: 'FailureFunctionEnded', ...ended, response: NO_BODY, atMs });
  const id = failureFunction.messageId;
  const message = state.messages.get(id);
  if (message === undefined || message.status === DELIVERED) return { type: 'Done' };
  const isActive = message.status === ACTIVE;
  evolve({ type: 'CancelRequested', id, atMs });
  if (!isActive) evolve({ type: 'MessageCancelled', id, atMs });
  return { type: 'Done' };
}

export function failedRunNotFound(dlqId: string): QueueReply {
  return rejection('NOT_FOUND', `dlq message ${dlqId} not found`);
}

function named({ run }: FailedRun): QueueReply {
  return { type: 'RunsStarted', runs: [run.name], after: undefined };
}
