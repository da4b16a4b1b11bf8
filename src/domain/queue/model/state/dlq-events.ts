/** Events that change the DLQ. The entry of a run is stored with its run. */
import type { DlqId } from '../../../../kernel/index.js';
import type { QueueEventOf } from '../events.js';
import { numberOf } from '../messages/dlq-entries.js';
import type { DlqEntry } from '../records.js';
import type { AccountParts } from './account-parts.js';
import { endMessage } from './attempt-events.js';

/** The entry takes over the message's envelope and body, so neither is released. */
export function messageDeadLettered(event: QueueEventOf<'MessageDeadLettered'>, parts: AccountParts): void {
  const { id, atMs, dlqId, status, header, error, response } = event;
  const { messages, bodies, deadLetters } = parts;
  const message = messages.pending(id);
  endMessage(message, atMs, 'FAIL', status > 0, parts);
  messages.delete(message);
  bodies.take(response);
  const { shared, bodyNumber, bodyBytes, createdAtMs, notBeforeMs, retried } = message;
  const entry: DlqEntry = {
    dlqId,
    messageId: id,
    envelope: shared.envelope,
    body: { number: bodyNumber, bytes: bodyBytes },
    createdAtMs,
    notBeforeMs,
    failedAtMs: atMs,
    retried,
    response: { status, header, error, body: { number: response.number, bytes: response.bytes } },
  };
  enter(entry, parts);
  deadLetters.next = Math.max(deadLetters.next, numberOf(dlqId) + 1);
}

export function leaveDlq(dlqIds: readonly DlqId[], { runs, dlq, envelopes, bodies }: AccountParts): void {
  for (const dlqId of dlqIds) {
    const entry = runs.dropEntry(dlqId) ?? dlq.delete(dlqId);
    envelopes.releaseOf(entry.envelope);
    bodies.drop(entry.body);
    bodies.drop(entry.response.body);
  }
}

/** From a snapshot. */
export function dlqRestored({ entry }: QueueEventOf<'DlqRestored'>, parts: AccountParts): void {
  const { envelope } = parts.envelopes.hold(entry.envelope);
  enter(envelope === entry.envelope ? entry : { ...entry, envelope }, parts);
  parts.bodies.hold(entry.body);
  parts.bodies.hold(entry.response.body);
}

function enter(entry: DlqEntry, { dlq, runs }: AccountParts): void {
  if (entry.envelope.workflow === undefined) dlq.add(entry);
  else runs.addEntry(entry);
}
