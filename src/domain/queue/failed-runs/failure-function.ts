/**
 * Failure functions of runs that are in the DLQ: called once more when their calls have failed, and taken back while
 * they are being called.
 */
import type { QueueCommandOf, QueueReply } from '../commands.js';
import { rejection } from '../decision.js';
import { ACTIVE, DELIVERED } from '../messages/message.js';
import type { HeaderList } from '../records.js';
import { suspended, usageRefusal } from '../refusals.js';
import { failureEnvelope } from '../runs/run-envelopes.js';
import { acceptPart, partOf } from '../runs/run-parts.js';
import type { QueueTurn } from '../turn.js';
import type { FailedRun } from './failed-run-index.js';

const NO_HEADER: HeaderList = [];
const NO_BODY = { number: 0, bytes: 0, content: undefined };

/** It is run with the same message as before, which is kept for that. @returns the failed run's name */
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

/** A call that is being made is left to end; what it comes to is of no consequence. */
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
