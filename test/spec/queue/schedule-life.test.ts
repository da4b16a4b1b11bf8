/** The messages of a schedule, from their creation to their end, in the complete queue of an account. Proves SCD5. */
import { expect } from 'chai';
import { decodeQueueEvents, encodeQueueEvent } from '../../../src/codec/queue/index.js';
import {
  type AttemptOutcome,
  type QueueCommand,
  QueueEngine,
  type QueueEvent,
  type QueueEventOf,
  type QueueReply,
  type QueueReplyOf,
} from '../../../src/domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../../src/kernel/index.js';
import { setSchedule, toGroup, upsert } from '../../support/queue-parts.js';
import { LIMITS, NOW_MS, parse } from '../../support/queue-settings.js';

const MINUTE_MS = 60_000;
const ONE = 'one' as ScheduleId;
const once = {
  kind: 'url',
  url: 'https://api.example/tick',
  settings: parse({ 'svc-retries': '0' }).settings,
} as const;

/** An owner and its successors, each of which knows only the journal. */
class Owner {
  nowMs = NOW_MS;
  /** One entry for each turn. */
  readonly entries: QueueEvent[][] = [];
  readonly dropped: number[] = [];
  readonly engine = new QueueEngine({ put: () => {}, drop: (body) => this.dropped.push(body) });

  get context() {
    return {
      nowMs: this.nowMs,
      account: { state: 'active', limits: LIMITS, centsPer100kMessages: 0 },
    } as const;
  }

  execute(command: QueueCommand): QueueReply {
    const entry: QueueEvent[] = [];
    const reply = this.engine.execute(command, this.context, (event) => entry.push(event));
    if ('next' in reply) throw new Error('a command of many steps');
    if (entry.length > 0) this.entries.push(entry);
    return reply;
  }

  workAt(nowMs: number, room = 100): readonly QueueEvent[] {
    this.nowMs = nowMs;
    const entry: QueueEvent[] = [];
    do this.engine.work(this.context, room, (event) => entry.push(event));
    while (this.engine.isBehind && room > 0);
    if (entry.length > 0) this.entries.push(entry);
    return entry;
  }

  conclude(id: MessageId, status: number): void {
    const outcome: AttemptOutcome = {
      kind: 'response',
      status,
      header: [],
      body: new Uint8Array(0),
      isCut: false,
      durationMs: 1,
    };
    this.execute({ type: 'RecordAttempt', id, retried: 0, restarts: 0, outcome, sentBody: undefined });
  }

  successor(entries = this.entries.length): Owner {
    const owner = new Owner();
    owner.nowMs = this.nowMs;
    for (const entry of this.entries.slice(0, entries)) {
      owner.entries.push(entry);
      const section = Buffer.concat(entry.map(encodeQueueEvent));
      for (const event of decodeQueueEvents(section)) owner.engine.evolve(event);
    }
    for (const _ of owner.engine.prepare(owner.nowMs));
    return owner;
  }

  outcomes(): readonly string[] {
    const reply = this.execute({ type: 'GetSchedule', id: ONE }) as QueueReplyOf<'Schedules'>;
    return [...(reply.schedules[0]?.schedule.lastOutcomes.values() ?? [])];
  }

  accepted(): readonly MessageId[] {
    return this.entries
      .flat()
      .filter((event): event is QueueEventOf<'MessageAccepted'> => event.type === 'MessageAccepted')
      .map(({ id }) => id);
  }
}

describe('the messages of a schedule', () => {
  let owner: Owner;
  const tick = (number: number) => NOW_MS + number * MINUTE_MS;
  const types = (events: readonly QueueEvent[]) => events.map(({ type }) => type);

  beforeEach(() => {
    owner = new Owner();
  });

  it('are accepted, recorded with the tick, and started in one entry', () => {
    owner.execute(setSchedule('one'));
    expect(owner.engine.nextDueAtMs(owner.context)).to.equal(tick(1));
    expect(types(owner.workAt(tick(1)))).to.deep.equal(['MessageAccepted', 'ScheduleFired', 'AttemptStarted']);
  });

  it('show their outcomes in the schedule', () => {
    owner.execute(upsert('all', ['https://a.example/'], ['https://b.example/']));
    owner.execute(setSchedule('one', { destination: toGroup('all', { 'svc-retries': '0' }) }));
    owner.workAt(tick(1));
    expect(owner.outcomes()).to.deep.equal(['IN_PROGRESS', 'IN_PROGRESS']);
    const [first, second] = owner.accepted() as [MessageId, MessageId];
    owner.conclude(first, 200);
    owner.conclude(second, 500);
    expect(owner.outcomes()).to.deep.equal(['SUCCESS', 'FAIL']);
    expect(owner.successor().outcomes()).to.deep.equal(['SUCCESS', 'FAIL']);
  });

  it('wait in the queue that the schedule names, which is created if missing', () => {
    owner.execute(setSchedule('one', { queueName: 'orders' }));
    owner.workAt(tick(1));
    owner.workAt(tick(2));
    expect(owner.execute({ type: 'GetQueue', name: 'orders' })).to.have.nested.property('queues[0].lag', 2);
    expect(owner.engine.activeCount).to.equal(1);
  });

  it('share the body of the schedule, and keep it when the schedule is deleted', () => {
    owner.execute(setSchedule('one', { destination: once, body: Uint8Array.from([1]) }));
    owner.workAt(tick(1));
    owner.execute({ type: 'DeleteSchedule', id: ONE });
    expect(owner.engine.isNeeded(1)).to.equal(true);
    expect(owner.successor().engine.isNeeded(1)).to.equal(true);
    const [id] = owner.accepted() as [MessageId];
    owner.conclude(id, 200);
    owner.workAt(tick(2));
    expect(owner.accepted()).to.have.length(1);
  });

  it('come once for each tick, at any crash point of the owner', () => {
    owner.execute(upsert('all', ['https://a.example/'], ['https://b.example/']));
    owner.execute(setSchedule('one'));
    owner.execute(setSchedule('two', { destination: toGroup('all'), cron: '*/2 * * * *' }));
    const setUp = owner.entries.length;
    for (let number = 1; number <= 4; number += 1) owner.workAt(tick(number));
    const expected = [...owner.accepted()].sort();
    expect(new Set(expected).size).to.equal(4 + 2 * 2);
    for (let entries = setUp; entries <= owner.entries.length; entries += 1) {
      const successor = owner.successor(entries);
      successor.workAt(tick(4));
      expect([...successor.accepted()].sort(), `after ${entries} entries`).to.deep.equal(expected);
    }
  });

  it('count as messages of the day', () => {
    owner.execute(setSchedule('one'));
    for (let number = 1; number <= 3; number += 1) owner.workAt(tick(number), 0);
    const restored = [...owner.engine.rebuildingEvents()].find((event) => event.type === 'AccountRestored');
    expect(restored).to.have.property('messagesToday', 3);
  });
});
