/**
 * Accepts records of the outboxes of databases: messages, runs, schedules and events that commands have stored with
 * their data.
 *
 *  OUT1 a record is accepted once: its acceptance and the sequence of its source are in one entry
 *  OUT2 the records of a source are accepted in order
 *  OUT3 no record is dropped: one that is refused for the moment stays with its sender, and a message that the account
 *      can never accept becomes a DLQ entry
 */
import { calledUrl } from '../../../kernel/index.js';
import { accept } from '../messages/accept.js';
import { expireBeyondLimit } from '../messages/dlq-expiry.js';
import { type QueueSteps, type QueueTurn, WholeSteps } from '../messages/turn.js';
import type { OutboxCall, PublishItem, QueueCommandOf, QueueReply, QueueReplyOf } from '../model/commands.js';
import { derivedMessageId, dlqIdOf } from '../model/ids.js';
import type { DeliverySettings, HeaderList, RawSettings } from '../model/records.js';
import { parseSettings } from '../model/settings/publish-settings.js';
import { plainSettings } from '../model/settings/settings-reader.js';
import { notify } from '../runs/waits.js';
import { publish } from './publish.js';
import { setSchedule } from './schedule-commands.js';

type Rejected = QueueReplyOf<'Rejected'>;

const NO_HEADER: HeaderList = [];

/** Refusals that time alone does not lift. */
const IS_FINAL: ReadonlySet<Rejected['reason']> = new Set(['INVALID', 'NOT_FOUND', 'RUN_OVER', 'TOO_MANY']);

export function takeOutbox(
  { source, records, upTo = 0 }: QueueCommandOf<'TakeOutbox'>,
  turn: QueueTurn,
): QueueReply | QueueSteps {
  const takenUpTo = turn.state.outboxes.of(source);
  const untaken = records.filter(({ sequence }) => sequence > takenUpTo);
  const [first] = untaken;
  if (first === undefined) {
    const sequence = Math.max(takenUpTo, upTo);
    if (sequence > takenUpTo) turn.evolve({ type: 'OutboxTaken', source, sequence, atMs: turn.context.nowMs });
    return { type: 'OutboxTaken', sequence };
  }
  const items: PublishItem[] = [];
  let { sequence } = first;
  for (const record of untaken) {
    if (record.call.kind !== 'publish') break;
    items.push(record.call.item);
    sequence = record.sequence;
  }
  const call = first.call;
  const decided = items.length > 0 ? publish({ type: 'Publish', items, isTold: false }, turn) : decideOne(call, turn);
  const isAlone = items.length <= 1;
  const conclude = (reply: QueueReply): QueueReply => {
    if (reply.type === 'Rejected') {
      if (!isAlone || !IS_FINAL.has(reply.reason) || !giveUp(call, reply, turn)) return reply;
    }
    turn.evolve({ type: 'OutboxTaken', source, sequence, atMs: turn.context.nowMs });
    return { type: 'OutboxTaken', sequence };
  };
  return 'next' in decided ? new WholeSteps(inSteps(decided, conclude)) : conclude(decided);
}

/** OUT1 (acceptance and sequence are in one entry): the steps are one decision, and the first records no event. */
function* inSteps(steps: QueueSteps, conclude: (reply: QueueReply) => QueueReply): Generator<void, QueueReply> {
  yield;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return conclude(step.value);
    yield;
  }
}

function decideOne(call: OutboxCall, turn: QueueTurn): QueueReply | QueueSteps {
  if (call.kind === 'schedule') return setSchedule({ type: 'SetSchedule', schedule: call.schedule }, turn);
  if (call.kind === 'publish') return publish({ type: 'Publish', items: [call.item], isTold: false }, turn);
  const { eventId, runId, firstId, content } = call;
  return notify({ type: 'Notify', eventId, runId, firstId, content, isHook: false }, turn);
}

/**
 * OUT3 (no record is dropped).
 * @returns false for an event: its run takes it once it has room
 */
function giveUp(call: OutboxCall, { message: error }: Rejected, turn: QueueTurn): boolean {
  if (call.kind === 'notify') return false;
  const { state, context, evolve } = turn;
  const atMs = context.nowMs;
  const { destination, queueName, body, callerIp, isAlias } = call.kind === 'publish' ? call.item : call.schedule;
  const id = call.kind === 'publish' ? call.item.id : derivedMessageId(`schedule ${call.schedule.id} ${atMs}`);
  const isGroup = destination.kind === 'group';
  const envelope = {
    // A group without endpoints has no URL. Names below `.invalid` never resolve (RFC 2606).
    url: isGroup ? `https://url-group.invalid/${destination.name}` : calledUrl(destination.url),
    settings: isGroup ? settingsOf(destination.raw, turn) : destination.settings,
    queueName: queueName !== undefined && state.queues.get(queueName) === undefined ? undefined : queueName,
    scheduleId: undefined,
    topicName: isGroup ? destination.name : undefined,
    endpointName: undefined,
    callerIp,
    isAlias,
    callbackOf: undefined,
  };
  accept({ id, envelope, notBeforeMs: atMs, deduplication: undefined }, state.bodies.carried(body), turn);
  const dlqId = dlqIdOf(atMs, state.deadLetters.next);
  const response = state.bodies.carried(new Uint8Array(0));
  evolve({ type: 'MessageDeadLettered', id, dlqId, atMs, status: 0, error, header: NO_HEADER, response });
  expireBeyondLimit(turn);
  return true;
}

function settingsOf(raw: RawSettings, { context }: QueueTurn): DeliverySettings {
  const outcome = parseSettings(raw, { limits: context.account.limits, nowMs: context.nowMs, of: 'publish' });
  return outcome.isOk ? outcome.parsed.settings : plainSettings(0, NO_HEADER);
}
