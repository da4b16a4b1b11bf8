/**
 * Commands about the DLQ. Commands with a filter scan it in order and in steps, starting where the previous page
 * ended.
 *
 *  DLQ1 a retry and the removal of its entry are one turn: a message is either in the DLQ or pending, never both and
 *       never neither
 *  DLQ2 a repeated retry is answered with the messages that it made before: their ids are derived from the first one
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import { ensureQueue } from '../messages/accept.js';
import { Growth, heldRefusal } from '../messages/held-refusal.js';
import { messageMatcher } from '../messages/message-filter.js';
import { queuesRefusal, suspended, usageRefusal } from '../messages/refusals.js';
import type { QueueSteps, QueueTurn } from '../messages/turn.js';
import type { DlqSelector, Published, QueueCommandOf, QueueReply } from '../model/commands.js';
import { rejection } from '../model/decision.js';
import { messageIdAt } from '../model/ids.js';
import { MAX_DLQ_COUNT } from '../model/limits.js';
import type { DlqEntry, Envelope, RawSettings } from '../model/records.js';
import { overrideSettings } from '../model/settings/publish-settings.js';

const LOOKED_AT_ONCE = 1000;

export function getDlq({ dlqId }: QueueCommandOf<'GetDlq'>, { state }: QueueTurn): QueueReply {
  const entry = state.dlq.get(dlqId);
  if (entry === undefined) return rejection('NOT_FOUND', `dlq message ${dlqId} not found`);
  return { type: 'Dlq', entry, content: undefined, response: undefined };
}

export function* deleteDlq({ selector }: QueueCommandOf<'DeleteDlq'>, turn: QueueTurn): Generator<void, QueueReply> {
  const { entries, after } = yield* select(selector, turn);
  const dlqIds = entries.map(({ dlqId }) => dlqId).filter((dlqId) => turn.state.dlq.get(dlqId) !== undefined);
  if (dlqIds.length > 0) turn.evolve({ type: 'DlqDeleted', dlqIds, atMs: turn.context.nowMs });
  return { type: 'DlqDeleted', count: dlqIds.length, after };
}

export function retryDlq(command: QueueCommandOf<'RetryDlq'>, turn: QueueTurn): QueueReply | QueueSteps {
  const { selector, firstId } = command;
  if (turn.state.acceptedIds.has(firstId)) return repeated(command, turn);
  if (turn.context.account.state === 'passive') return suspended();
  if (selector.kind === 'ids' && selector.dlqIds.some((dlqId) => turn.state.dlq.get(dlqId) === undefined)) {
    return rejection('NOT_FOUND', 'some messages were not found');
  }
  return retrySelected(command, turn);
}

function* retrySelected(command: QueueCommandOf<'RetryDlq'>, turn: QueueTurn): Generator<void, QueueReply> {
  const { state } = turn;
  const { entries, after } = yield* select(command.selector, turn);
  const plan: { entry: DlqEntry; envelope: Envelope }[] = [];
  const queues = new Set<string>();
  const growth = new Growth();
  for (const entry of entries) {
    // Another command may have removed it between the steps.
    if (state.dlq.get(entry.dlqId) === undefined) continue;
    const envelope = overridden(entry.envelope, command.overrides, turn);
    if ('type' in envelope) return envelope;
    const { queueName } = envelope;
    if (queueName !== undefined && state.queues.get(queueName) === undefined) queues.add(queueName);
    // HR1 (a command that adds to no count is never refused): with unchanged settings the retry adds no bytes.
    if (envelope !== entry.envelope) growth.envelope(envelope);
    plan.push({ entry, envelope });
  }
  const refusal =
    usageRefusal(plan.length, turn) ?? queuesRefusal(queues, turn) ?? heldRefusal(growth, state, turn.context);
  if (refusal !== undefined) return refusal;
  const isDelayed = namesDelay(command.overrides);
  const results = plan.map(({ entry, envelope }, at): Published => {
    const id = messageIdAt(command.firstId, at);
    retry(entry, id, envelope, isDelayed, turn);
    return { messageId: id, url: envelope.url, isDuplicate: false };
  });
  return { type: 'DlqRetried', results, after };
}

/** The message's first delay has passed: only a delay in the retry request counts. */
function retry(entry: DlqEntry, id: MessageId, envelope: Envelope, isDelayed: boolean, turn: QueueTurn): void {
  const { context, evolve } = turn;
  const atMs = context.nowMs;
  ensureQueue(envelope.queueName, turn);
  evolve({
    type: 'MessageAccepted',
    id,
    atMs,
    envelope,
    body: { ...entry.body, content: undefined },
    notBeforeMs: atMs + (isDelayed ? envelope.settings.delaySeconds * 1000 : 0),
    deduplication: undefined,
    retryOf: entry.dlqId,
    holdsPlaceOf: undefined,
  });
  evolve({ type: 'DlqRetried', dlqId: entry.dlqId, as: id, atMs });
}

function overridden(envelope: Envelope, overrides: RawSettings, { context }: QueueTurn): Envelope | QueueReply {
  if (overrides.headers.length === 0 && overrides.query.length === 0) return envelope;
  const { limits } = context.account;
  const outcome = overrideSettings(envelope.settings, overrides, { limits, nowMs: context.nowMs, of: 'retry' });
  if (!outcome.isOk) return rejection('INVALID', outcome.message);
  return { ...envelope, settings: outcome.parsed.settings };
}

function namesDelay({ headers, query }: RawSettings): boolean {
  return [...headers, ...query].some(([name]) => name === 'svc-delay');
}

function repeated({ selector, firstId }: QueueCommandOf<'RetryDlq'>, { state }: QueueTurn): QueueReply {
  const most = selector.kind === 'ids' ? selector.dlqIds.length : MAX_DLQ_COUNT;
  const results: Published[] = [];
  for (let at = 0; at < most; at += 1) {
    const messageId = messageIdAt(firstId, at);
    if (!state.acceptedIds.has(messageId)) break;
    const url = state.messages.get(messageId)?.shared.envelope.url ?? '';
    results.push({ messageId, url, isDuplicate: false });
  }
  return { type: 'DlqRetried', results, after: undefined };
}

interface Selected {
  readonly entries: readonly DlqEntry[];
  /** The start of the next page; undefined at the end. */
  readonly after: DlqId | undefined;
}

function* select(selector: DlqSelector, { state }: QueueTurn): Generator<void, Selected> {
  const { dlq } = state;
  if (selector.kind === 'ids') {
    const entries = [...new Set(selector.dlqIds)].map((dlqId) => dlq.get(dlqId));
    return { entries: entries.filter((entry) => entry !== undefined), after: undefined };
  }
  const { filter, count, after, order } = selector;
  const matches = messageMatcher(filter);
  const entries: DlqEntry[] = [];
  let looked = 0;
  for (const entry of order === 'earliestFirst' ? dlq.ascending(after) : dlq.descending(after)) {
    looked += 1;
    if (looked % LOOKED_AT_ONCE === 0) yield;
    const { messageId: id, envelope, failedAtMs, response } = entry;
    if (!matches({ id, envelope, atMs: failedAtMs, responseStatus: response.status })) continue;
    // One more match than asked for shows that another page exists.
    if (entries.length === count) return { entries, after: entries.at(-1)?.dlqId };
    entries.push(entry);
  }
  return { entries, after: undefined };
}
