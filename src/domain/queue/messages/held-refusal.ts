/**
 * Refusals of commands that would make an account hold too much.
 *
 *  HR1 a command that adds to no count is never refused, and neither are the consequences of accepted messages:
 *      retries, callbacks, DLQ entries and their retries
 *  HR2 a run in progress has separate bounds, wider by a quarter: it continues while new runs are refused
 */
import type { QueueReply } from '../model/commands.js';
import { type QueueContext, rejection } from '../model/decision.js';
import type { QueueEventOf } from '../model/events.js';
import {
  type AccountUsage,
  type EnvelopeTexts,
  envelopeBytes,
  envelopeMemoryBytes,
  type GroupTexts,
  groupBytes,
  groupMemoryBytes,
  type HeldBounds,
  MESSAGE_MEMORY_BYTES,
  type QueueBounds,
  type ScheduleTexts,
  scheduleBytes,
  scheduleMemoryBytes,
} from '../model/held.js';
import type { Schedule } from '../model/records.js';
import type { TickMessage } from '../model/state/schedule-ticks.js';

/** Extra room for steps of runs in progress, as a share of the account's bounds. */
export const FOR_RUNS = 0.25;

/** The holdings that a command would add. Each envelope counts as unshared: sharing is known only once it is held. */
export class Growth implements AccountUsage {
  messages = 0;
  bytes = 0;
  memoryBytes = 0;

  message(envelope: EnvelopeTexts): this {
    this.messages += 1;
    this.memoryBytes += MESSAGE_MEMORY_BYTES;
    return this.envelope(envelope);
  }

  envelope(envelope: EnvelopeTexts): this {
    const bytes = envelopeBytes(envelope);
    this.bytes += bytes;
    this.memoryBytes += envelopeMemoryBytes(envelope, bytes);
    return this;
  }

  body(bytes: number): this {
    this.bytes += bytes;
    return this;
  }

  /** Text kept in the state itself. */
  text(bytes: number): this {
    this.bytes += bytes;
    this.memoryBytes += bytes;
    return this;
  }

  /** @param sign -1 when the group is removed */
  group(group: GroupTexts, sign: 1 | -1): this {
    this.bytes += sign * groupBytes(group);
    this.memoryBytes += sign * groupMemoryBytes(group);
    return this;
  }

  /** @param sign -1 when the schedule is removed */
  schedule(schedule: ScheduleTexts, bodyBytes: number, sign: 1 | -1): this {
    this.bytes += sign * (scheduleBytes(schedule) + bodyBytes);
    this.memoryBytes += sign * scheduleMemoryBytes(schedule);
    return this;
  }
}

interface Holder {
  heldAt(nowMs: number): AccountUsage;
}

/** @param whose `ofRuns` for a run in progress */
export function heldRefusal(
  growth: AccountUsage,
  state: Holder,
  { boundsFor, nowMs }: QueueContext,
  whose: keyof QueueBounds = 'ofAccount',
): QueueReply | undefined {
  if (boundsFor === undefined || isNothing(growth)) return undefined;
  const held = state.heldAt(nowMs);
  const bounds = boundsFor(held)[whose];
  if (isBeyond('messages', growth, held, bounds)) {
    return rejection('FULL', `too many messages are waiting, current limit: ${bounds.messages}`);
  }
  if (isBeyond('bytes', growth, held, bounds)) {
    return rejection('FULL', `the messages that are waiting are too large, current limit: ${bounds.bytes} bytes`);
  }
  if (isBeyond('memoryBytes', growth, held, bounds)) {
    return rejection('FULL', 'the server has no room for more waiting messages');
  }
  return undefined;
}

/** Refuses the growth of a schedule over the one it replaces. */
export function scheduleRefusal(
  { schedule, body }: QueueEventOf<'ScheduleSet'>,
  before: Schedule | undefined,
  state: Holder,
  context: QueueContext,
): QueueReply | undefined {
  const growth = new Growth().schedule(schedule, body.bytes, 1);
  if (before !== undefined) growth.schedule(before, before.body.bytes, -1);
  return heldRefusal(growth, state, context);
}

/** Refuses the growth of a group over the one it replaces. */
export function groupRefusal(
  after: GroupTexts,
  before: GroupTexts | undefined,
  state: Holder,
  context: QueueContext,
): QueueReply | undefined {
  const growth = new Growth().group(after, 1);
  if (before !== undefined) growth.group(before, -1);
  return heldRefusal(growth, state, context);
}

/** The body of a tick adds no bytes: it is the schedule's. */
export function isTickRefused(messages: readonly TickMessage[], state: Holder, context: QueueContext): boolean {
  if (context.boundsFor === undefined) return false;
  const growth = new Growth();
  for (const { envelope } of messages) growth.message(envelope);
  return heldRefusal(growth, state, context) !== undefined;
}

function isNothing({ messages, bytes, memoryBytes }: AccountUsage): boolean {
  return messages <= 0 && bytes <= 0 && memoryBytes <= 0;
}

function isBeyond(measure: keyof AccountUsage, growth: AccountUsage, held: AccountUsage, bounds: HeldBounds): boolean {
  return growth[measure] > 0 && held[measure] + growth[measure] > bounds[measure];
}
