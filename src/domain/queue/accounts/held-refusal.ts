/**
 * When an account holds too much for something new.
 *
 *  HR1 what grows nothing is never refused, and neither is what comes of what was accepted: retries, callbacks, entries
 *      of the DLQ, and those being sent again
 *  HR2 what a run in progress asks for has bounds of its own, somewhat wider: it goes on while new runs are refused
 */
import type { QueueReply } from '../commands.js';
import { type QueueContext, rejection } from '../decision.js';
import type { QueueEventOf } from '../events.js';
import type { Schedule } from '../records.js';
import type { TickMessage } from '../schedules/schedule-ticks.js';
import {
  type EnvelopeTexts,
  envelopeBytes,
  envelopeMemoryBytes,
  type GroupTexts,
  groupBytes,
  groupMemoryBytes,
  type Held,
  type HeldBounds,
  MESSAGE_MEMORY_BYTES,
  type QueueBounds,
  type ScheduleTexts,
  scheduleBytes,
  scheduleMemoryBytes,
} from './held.js';

/** Steps of runs that have begun, beside what the account may hold. */
export const FOR_RUNS = 0.25;

/** What a command would add. Envelopes count as if nobody shared them: that is known when they are held. */
export class Growth implements Held {
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

  /** Kept in the state itself. */
  text(bytes: number): this {
    this.bytes += bytes;
    this.memoryBytes += bytes;
    return this;
  }

  /** @param sign -1: it goes */
  group(group: GroupTexts, sign: 1 | -1): this {
    this.bytes += sign * groupBytes(group);
    this.memoryBytes += sign * groupMemoryBytes(group);
    return this;
  }

  /** @param sign -1: it goes */
  schedule(schedule: ScheduleTexts, bodyBytes: number, sign: 1 | -1): this {
    this.bytes += sign * (scheduleBytes(schedule) + bodyBytes);
    this.memoryBytes += sign * scheduleMemoryBytes(schedule);
    return this;
  }
}

interface Holder {
  heldAt(nowMs: number): Held;
}

/** @param whose `ofRuns`: for a run in progress */
export function heldRefusal(
  growth: Held,
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

/** Refused is what a schedule takes more than the one that it replaces. */
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

/** The same of a group. */
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

/** The body of a tick is the schedule's own. */
export function isTickRefused(messages: readonly TickMessage[], state: Holder, context: QueueContext): boolean {
  if (context.boundsFor === undefined) return false;
  const growth = new Growth();
  for (const { envelope } of messages) growth.message(envelope);
  return heldRefusal(growth, state, context) !== undefined;
}

function isNothing({ messages, bytes, memoryBytes }: Held): boolean {
  return messages <= 0 && bytes <= 0 && memoryBytes <= 0;
}

function isBeyond(what: keyof Held, growth: Held, held: Held, bounds: HeldBounds): boolean {
  return growth[what] > 0 && held[what] + growth[what] > bounds[what];
}
