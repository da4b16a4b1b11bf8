/**
 * URL groups and schedules of an account with a manual clock. All events pass through the encoding of the journal, so
 * that the state can be rebuilt: from all events, as after a crash, or from a snapshot.
 */
import { decodeQueueEvents, encodeQueueEvent } from '../../src/codec/queue/index.js';
import {
  type AccountTerms,
  type NewSchedule,
  type QueueCommand,
  type QueueCommandOf,
  type QueueContext,
  type QueueEvent,
  type QueueEventOf,
  type QueueReply,
  rowOf,
  rowOfEvent,
  type Schedule,
  type UrlGroup,
} from '../../src/domain/queue/index.js';
import type { QueueTurn } from '../../src/domain/queue/messages/turn.js';
import { Bodies } from '../../src/domain/queue/model/messages/bodies.js';
import type { AccountParts } from '../../src/domain/queue/model/state/account-parts.js';
import { Groups } from '../../src/domain/queue/model/state/groups.js';
import type { TickMessage } from '../../src/domain/queue/model/state/schedule-ticks.js';
import { Schedules } from '../../src/domain/queue/model/state/schedules.js';
import type { MessageId, ScheduleId } from '../../src/kernel/index.js';
import { LIMITS, NOW_MS, parse, raw } from './queue-settings.js';

type GroupCommand = QueueCommandOf<
  'UpsertEndpoints' | 'RemoveEndpoints' | 'SetGroupDefaults' | 'DeleteGroup' | 'GetGroup' | 'ListGroups'
>;
type ScheduleCommand = QueueCommandOf<
  'SetSchedule' | 'PauseSchedule' | 'DeleteSchedule' | 'GetSchedule' | 'ListSchedules'
>;

export class QueueParts {
  nowMs = NOW_MS;
  terms: AccountTerms = { state: 'active', limits: LIMITS, centsPer100kMessages: 0 };
  /** All events, as an owner would have journaled them. */
  readonly journal: QueueEvent[] = [];
  /** The messages of ticks, in order. */
  readonly accepted: (TickMessage & { readonly atMs: number })[] = [];
  /** The number of references to each body. */
  readonly bodies = new Map<number, number>();
  readonly groups = new Groups();
  readonly schedules = new Schedules(this.groups, {
    hold: ({ number }) => this.count(number, 1),
    drop: ({ number }) => this.count(number, -1),
  });
  private readonly numbers = new Bodies({ put: () => undefined, drop: () => undefined });

  get context(): QueueContext {
    return { nowMs: this.nowMs, account: this.terms };
  }

  limit(limits: Partial<AccountTerms['limits']>): void {
    this.terms = { ...this.terms, limits: { ...this.terms.limits, ...limits } };
  }

  group(command: GroupCommand): QueueReply {
    return this.decide(command);
  }

  schedule(command: ScheduleCommand): QueueReply {
    return this.decide(command);
  }

  /** Does all work that is due at an instant, if it is later than now. @returns the events */
  workAt(nowMs: number): readonly QueueEvent[] {
    this.nowMs = Math.max(this.nowMs, nowMs);
    const from = this.journal.length;
    while (this.schedules.dueTicks(this.context, this.accept, this.happen));
    return this.journal.slice(from);
  }

  /** Does one step of the work, as the owner does. @returns true if more is due */
  step(): boolean {
    return this.schedules.dueTicks(this.context, this.accept, this.happen);
  }

  /** A successor with the state of the first `length` journaled events. */
  successor(length = this.journal.length): QueueParts {
    return this.rebuilt(this.journal.slice(0, length));
  }

  fromSnapshot(): QueueParts {
    return this.rebuilt([...this.snapshot()]);
  }

  *snapshot(): Iterable<QueueEvent> {
    yield* this.groups.rebuildingEvents();
    yield* this.schedules.rebuildingEvents();
  }

  the(id: string): Schedule {
    const reply = this.schedule({ type: 'GetSchedule', id: id as ScheduleId });
    if (reply.type !== 'Schedules') throw new Error(`there is no schedule ${id}`);
    return (reply.schedules[0] as { schedule: Schedule }).schedule;
  }

  theGroup(name: string): UrlGroup {
    const group = this.groups.get(name);
    if (group === undefined) throw new Error(`there is no group ${name}`);
    return group;
  }

  /** These commands use only the groups, schedules and body numbers of an account's state. */
  private decide(command: QueueCommand): QueueReply {
    const { groups, schedules, numbers, context } = this;
    const turn = { state: { groups, schedules, bodies: numbers }, context, evolve: this.happen };
    return rowOf(command).decide(command, turn as unknown as QueueTurn) as QueueReply;
  }

  private rebuilt(events: readonly QueueEvent[]): QueueParts {
    const parts = new QueueParts();
    parts.nowMs = this.nowMs;
    parts.terms = this.terms;
    const section = Buffer.concat(events.map(encodeQueueEvent));
    for (const event of decodeQueueEvents(section)) {
      parts.journal.push(event);
      parts.evolve(event);
    }
    return parts;
  }

  private readonly accept = (message: TickMessage): void => {
    this.accepted.push({ ...message, atMs: this.nowMs });
  };

  private readonly happen = (event: QueueEvent): void => {
    this.evolve(event);
    this.journal.push(event);
  };

  private evolve(event: QueueEvent): void {
    const { groups, schedules, numbers: bodies } = this;
    rowOfEvent(event).evolve(event, { groups, schedules, bodies } as unknown as AccountParts);
  }

  private count(body: number, by: number): void {
    if (body === 0) return;
    const count = (this.bodies.get(body) ?? 0) + by;
    if (count === 0) this.bodies.delete(body);
    else this.bodies.set(body, count);
  }
}

/** A schedule to a URL, by default every minute. */
export function newSchedule(id: string, changes: Partial<NewSchedule> = {}): NewSchedule {
  return {
    id: id as ScheduleId,
    cron: '* * * * *',
    destination: { kind: 'url', url: 'https://api.example/tick', settings: parse({}).settings },
    queueName: undefined,
    body: new Uint8Array(0),
    callerIp: '192.0.2.1',
    isAlias: false,
    ...changes,
  };
}

export function setSchedule(id: string, changes: Partial<NewSchedule> = {}): ScheduleCommand {
  return { type: 'SetSchedule', schedule: newSchedule(id, changes) };
}

export function toGroup(name: string, headers: Record<string, string> = {}, query: Record<string, string> = {}) {
  return { kind: 'group', name, raw: raw(headers, query) } as const;
}

export function upsert(group: string, ...endpoints: (readonly [url: string, name?: string])[]): GroupCommand {
  return { type: 'UpsertEndpoints', group, endpoints: endpoints.map(([url, name]) => ({ url, name })) };
}

/** The instants of the fired ticks. */
export function firedAt(events: readonly QueueEvent[]): readonly string[] {
  return events
    .filter((event): event is QueueEventOf<'ScheduleFired'> => event.type === 'ScheduleFired')
    .map(({ tickAtMs }) => isoOf(tickAtMs));
}

export function isoOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16);
}

export const ids = (parts: QueueParts): readonly MessageId[] => parts.accepted.map(({ id }) => id);
