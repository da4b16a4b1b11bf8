/**
 * Schedules: setting, pausing and replacing them; the messages they create, their ticks and skipped ticks. Proves
 * SCD1–SCD4, SCD6.
 */
import { expect } from 'chai';
import type { QueueReply, Schedule } from '../../../src/domain/queue/index.js';
import { messageIdAt } from '../../../src/domain/queue/index.js';
import { tickMessageId } from '../../../src/domain/queue/model/state/schedule-ticks.js';
import type { MessageId, ScheduleId } from '../../../src/kernel/index.js';
import {
  firedAt,
  ids,
  isoOf,
  newSchedule,
  QueueParts,
  setSchedule,
  toGroup,
  upsert,
} from '../../support/queue-parts.js';
import { parse } from '../../support/queue-settings.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DONE: QueueReply = { type: 'Done' };
const body = (text: string) => Uint8Array.from(Buffer.from(text));
const id = (text: string) => text as ScheduleId;

function refuses(reply: QueueReply, reason: string, text: string): void {
  expect(reply).to.include({ type: 'Rejected', reason });
  expect(reply).to.have.property('message').that.contains(text);
}

describe('schedules', () => {
  let parts: QueueParts;
  let startMs: number;

  beforeEach(() => {
    parts = new QueueParts();
    startMs = parts.nowMs;
  });

  const minutes = (count: number) => startMs + count * MINUTE_MS;
  const pause = (name: string, isPaused = true) => parts.schedule({ type: 'PauseSchedule', id: id(name), isPaused });
  const skips = () => parts.journal.filter((event) => event.type === 'ScheduleSkipped');

  describe('SetSchedule', () => {
    it('is answered with the id, and the schedule is shown as sent', () => {
      const cron = '  CRON_TZ=Europe/Vienna 0 3 * * *  ';
      expect(parts.schedule(setSchedule('nightly', { cron, body: body('hi') }))).to.deep.equal({
        type: 'ScheduleSet',
        id: 'nightly',
      });
      expect(parts.the('nightly')).to.deep.include({
        cron: 'CRON_TZ=Europe/Vienna 0 3 * * *',
        destination: { kind: 'url', url: 'https://api.example/tick' },
        body: { number: 1, bytes: 2 },
        isPaused: false,
        createdAtMs: startMs,
        lastTickAtMs: 0,
        lastOutcomes: new Map(),
      });
    });

    it('sets the first tick to the first instant after now', () => {
      parts.schedule(setSchedule('minutely'));
      expect(parts.schedules.nextTickAtMs()).to.equal(minutes(1));
      expect(parts.workAt(minutes(1) - 1)).to.deep.equal([]);
      expect(firedAt(parts.workAt(minutes(1)))).to.deep.equal([isoOf(minutes(1))]);
    });

    it('is refused for an invalid cron expression, a bad name, or an unknown destination', () => {
      refuses(parts.schedule(setSchedule('x', { cron: '' })), 'INVALID', 'Invalid cron expression');
      refuses(parts.schedule(setSchedule('x', { cron: '61 * * * *' })), 'INVALID', 'Invalid cron expression');
      refuses(parts.schedule(setSchedule('x', { cron: 'CRON_TZ=Mars/Base * * * * *' })), 'INVALID', 'time zone');
      refuses(parts.schedule(setSchedule('x', { cron: '0 0 30 2 *' })), 'INVALID', 'Invalid cron expression');
      refuses(parts.schedule(setSchedule('a b')), 'INVALID', 'schedule id');
      refuses(parts.schedule(setSchedule('x'.repeat(129))), 'INVALID', '128');
      refuses(parts.schedule(setSchedule('x', { queueName: 'a/b' })), 'INVALID', 'queue name');
      refuses(
        parts.schedule(setSchedule('x', { destination: toGroup('nobody') })),
        'INVALID',
        'invalid destination url',
      );
      expect(parts.journal).to.deep.equal([]);
    });

    it('is refused if the settings conflict with the defaults of the group', () => {
      parts.group(upsert('all', ['https://a.example/']));
      const asked = toGroup('all', { 'svc-retries': 'x' });
      refuses(parts.schedule(setSchedule('x', { destination: asked })), 'INVALID', 'svc-retries');
    });

    it('is refused above maxSchedules, but an existing schedule may be replaced', () => {
      parts.limit({ maxSchedules: 1 });
      parts.schedule(setSchedule('one'));
      refuses(parts.schedule(setSchedule('two')), 'TOO_MANY', 'quota maxSchedules exceeded, current limit: 1');
      expect(parts.schedule(setSchedule('one', { cron: '@hourly' }))).to.include({ type: 'ScheduleSet' });
    });

    it('is refused for a suspended account', () => {
      parts.terms = { ...parts.terms, state: 'passive' };
      refuses(parts.schedule(setSchedule('one')), 'SUSPENDED', 'suspended');
    });

    it('lists and finds schedules by id until they are deleted', () => {
      parts.schedule(setSchedule('one'));
      parts.schedule(setSchedule('two'));
      const listed = () => {
        const reply = parts.schedule({ type: 'ListSchedules' });
        return reply.type === 'Schedules' ? reply.schedules.map(({ schedule }) => schedule.id) : reply;
      };
      expect(listed()).to.deep.equal(['one', 'two']);
      expect(parts.schedule({ type: 'DeleteSchedule', id: id('one') })).to.deep.equal(DONE);
      expect(listed()).to.deep.equal(['two']);
      refuses(parts.schedule({ type: 'GetSchedule', id: id('one') }), 'NOT_FOUND', 'schedule one not found');
      refuses(parts.schedule({ type: 'DeleteSchedule', id: id('one') }), 'NOT_FOUND', 'one');
      refuses(pause('one'), 'NOT_FOUND', 'one');
      parts.schedule({ type: 'DeleteSchedule', id: id('two') });
      expect(parts.workAt(minutes(5))).to.deep.equal([]);
      expect(parts.schedules.nextTickAtMs()).to.equal(undefined);
    });
  });

  describe('a tick', () => {
    it("makes a message with the schedule's settings, body, queue and id", () => {
      const { settings } = parse({ 'svc-method': 'PUT', 'svc-retries': '1', 'svc-forward-a': 'b' });
      const destination = { kind: 'url', url: 'https://api.example/x', settings } as const;
      parts.schedule(setSchedule('one', { destination, body: body('abc'), queueName: 'orders', isAlias: true }));
      parts.workAt(minutes(1) + 20);
      expect(parts.accepted).to.deep.equal([
        {
          id: tickMessageId(parts.the('one'), minutes(1)),
          envelope: {
            url: 'https://api.example/x',
            settings,
            queueName: 'orders',
            scheduleId: 'one',
            topicName: undefined,
            endpointName: undefined,
            callerIp: '192.0.2.1',
            isAlias: true,
            callbackOf: undefined,
          },
          body: { number: 1, bytes: 3 },
          notBeforeMs: minutes(1) + 20,
          atMs: minutes(1) + 20,
        },
      ]);
    });

    it('delays each message, counted from the tick', () => {
      const { settings } = parse({ 'svc-delay': '90s' });
      parts.schedule(setSchedule('one', { destination: { kind: 'url', url: 'https://a.example/', settings } }));
      parts.workAt(minutes(1) + 500);
      expect(parts.accepted.map(({ notBeforeMs }) => notBeforeMs)).to.deep.equal([minutes(1) + 90_000]);
    });

    it('calls the normalised URL, and shows the URL that was given', () => {
      const { settings } = parse({});
      parts.schedule(setSchedule('one', { destination: { kind: 'url', url: 'HTTPS://A.example:443', settings } }));
      parts.workAt(minutes(1));
      expect(parts.accepted.map(({ envelope }) => envelope.url)).to.deep.equal(['https://a.example/']);
      expect(parts.the('one').destination).to.include({ url: 'HTTPS://A.example:443' });
    });

    it('makes one message for each present endpoint of its group', () => {
      parts.group(upsert('all', ['https://a.example/', 'first']));
      parts.schedule(setSchedule('one', { destination: toGroup('all') }));
      parts.group(upsert('all', ['https://b.example/']));
      parts.workAt(minutes(1));
      const first = tickMessageId(parts.the('one'), minutes(1));
      expect(ids(parts)).to.deep.equal([first, messageIdAt(first, 1)]);
      expect(
        parts.accepted.map(({ envelope }) => [envelope.url, envelope.topicName, envelope.endpointName]),
      ).to.deep.equal([
        ['https://a.example/', 'all', 'first'],
        ['https://b.example/', 'all', undefined],
      ]);
      expect(parts.the('one').lastOutcomes).to.deep.equal(
        new Map(ids(parts).map((message) => [message, 'IN_PROGRESS'])),
      );
    });

    it('merges headers over the query, and both over the defaults of the group', () => {
      parts.group(upsert('all', ['https://a.example/']));
      const asked = toGroup('all', { 'svc-retries': '1' }, { 'svc-retries': '2', 'svc-timeout': '7s' });
      parts.schedule(setSchedule('one', { destination: asked }));
      const defaults = [
        ['svc-retries', '9'],
        ['svc-timeout', '8s'],
        ['svc-label', 'mail'],
      ] as const;
      parts.group({ type: 'SetGroupDefaults', group: 'all', defaults });
      parts.workAt(minutes(1));
      const { settings } = parts.accepted[0]?.envelope ?? expect.fail('no message');
      expect(settings).to.deep.include({ maxRetries: 1, timeoutSeconds: 7, labels: ['mail'] });
    });

    it('leaves out defaults that the account may no longer have', () => {
      parts.group(upsert('all', ['https://a.example/']));
      parts.schedule(setSchedule('one', { destination: toGroup('all', { 'svc-label': 'own' }) }));
      parts.group({ type: 'SetGroupDefaults', group: 'all', defaults: [['svc-retries', '9']] });
      parts.limit({ maxRetries: 5 });
      parts.workAt(minutes(1));
      expect(parts.accepted[0]?.envelope.settings).to.deep.include({ maxRetries: 3, labels: ['own'] });
    });

    it('is skipped while the group is missing, and made again when it exists', () => {
      parts.group(upsert('all', ['https://a.example/']));
      parts.schedule(setSchedule('one', { destination: toGroup('all') }));
      parts.group({ type: 'DeleteGroup', group: 'all' });
      parts.workAt(minutes(1));
      expect(skips()).to.deep.equal([
        {
          type: 'ScheduleSkipped',
          id: 'one',
          tickAtMs: minutes(1),
          nextTickAtMs: minutes(2),
          reason: 'no-destination',
          atMs: minutes(1),
        },
      ]);
      parts.group(upsert('all', ['https://a.example/']));
      expect(firedAt(parts.workAt(minutes(2)))).to.have.length(1);
    });

    it('comes in the order of instants, over all schedules', () => {
      parts.schedule(setSchedule('b-even', { cron: '*/2 * * * *' }));
      parts.schedule(setSchedule('a-all'));
      const events = parts.workAt(minutes(4));
      expect(
        events.map((event) => (event.type === 'ScheduleFired' ? [event.id, event.tickAtMs] : event)),
      ).to.deep.equal([
        ['a-all', minutes(1)],
        ['a-all', minutes(2)],
        ['b-even', minutes(2)],
        ['a-all', minutes(3)],
        ['a-all', minutes(4)],
        ['b-even', minutes(4)],
      ]);
    });

    it('records the outcomes of the latest tick only', () => {
      parts.schedule(setSchedule('one'));
      parts.workAt(minutes(1));
      parts.workAt(minutes(2));
      const [earlier, latest] = ids(parts) as [MessageId, MessageId];
      const before = parts.the('one');
      parts.schedules.noteOutcome(id('one'), earlier, 'FAIL');
      parts.schedules.noteOutcome(id('one'), latest, 'SUCCESS');
      parts.schedules.noteOutcome(id('gone'), latest, 'FAIL');
      expect(parts.the('one').lastOutcomes).to.deep.equal(new Map([[latest, 'SUCCESS']]));
      expect(before.lastOutcomes).to.deep.equal(new Map([[latest, 'IN_PROGRESS']]));
      expect(parts.the('one').lastTickAtMs).to.equal(minutes(2));
    });
  });

  describe('late ticks', () => {
    it('of the last ten minutes are made in order, and one event skips older ones', () => {
      parts.schedule(setSchedule('one'));
      const events = parts.workAt(minutes(30));
      expect(skips()).to.have.length(1);
      expect(skips()[0]).to.include({ reason: 'late', tickAtMs: minutes(1), nextTickAtMs: minutes(20) });
      expect(firedAt(events)).to.deep.equal(Array.from({ length: 11 }, (_, at) => isoOf(minutes(20 + at))));
    });

    it('are skipped one millisecond above ten minutes', () => {
      parts.schedule(setSchedule('daily', { cron: '1 0 * * *' }));
      parts.workAt(minutes(11) + 1);
      expect(skips()[0]).to.include({ reason: 'late', tickAtMs: minutes(1), nextTickAtMs: minutes(1) + DAY_MS });
      parts.workAt(minutes(11) + DAY_MS);
      expect(ids(parts)).to.have.length(1);
    });

    it('are made in steps, for any number of schedules', () => {
      parts.limit({ maxSchedules: 1000 });
      for (let at = 0; at < 300; at += 1) parts.schedule(setSchedule(`s${at}`));
      parts.nowMs = minutes(3);
      let steps = 0;
      let isMore = true;
      while (isMore) {
        const before = parts.journal.length;
        isMore = parts.step();
        steps += 1;
        expect(parts.journal.length - before).to.be.at.most(16);
      }
      expect(ids(parts)).to.have.length(900);
      expect(steps).to.be.at.least(900 / 16);
      expect(parts.step()).to.equal(false);
    });
  });

  describe('a paused schedule', () => {
    it('skips its ticks and keeps its timetable', () => {
      parts.schedule(setSchedule('one'));
      expect(pause('one')).to.deep.equal(DONE);
      parts.workAt(minutes(3));
      expect(ids(parts)).to.deep.equal([]);
      expect(parts.the('one')).to.include({ isPaused: true, nextTickAtMs: minutes(4), lastTickAtMs: 0 });
      expect(skips().map((event) => event.type === 'ScheduleSkipped' && event.reason)).to.deep.equal(['paused']);
      pause('one', false);
      expect(firedAt(parts.workAt(minutes(5)))).to.deep.equal([isoOf(minutes(4)), isoOf(minutes(5))]);
    });

    it('does not run skipped ticks later, even if they were not yet recorded', () => {
      parts.schedule(setSchedule('one'));
      pause('one');
      parts.nowMs = minutes(2) + 5;
      pause('one', false);
      expect(firedAt(parts.workAt(minutes(3)))).to.deep.equal([isoOf(minutes(3))]);
      expect(ids(parts)).to.have.length(1);
    });

    it('records no event when it is paused or resumed again', () => {
      parts.schedule(setSchedule('one'));
      const before = parts.journal.length;
      expect(pause('one', false)).to.deep.equal(DONE);
      pause('one');
      pause('one');
      expect(parts.journal.length - before).to.equal(1);
    });

    it('stays paused when it is replaced', () => {
      parts.schedule(setSchedule('one'));
      pause('one');
      parts.schedule(setSchedule('one', { cron: '@hourly' }));
      expect(parts.the('one')).to.include({ isPaused: true, cron: '@hourly' });
    });
  });

  describe('a replaced schedule', () => {
    it('loses all settings that are not given again', () => {
      const { settings } = parse({ 'svc-label': 'old' });
      const destination = { kind: 'url', url: 'https://old.example/', settings } as const;
      parts.schedule(setSchedule('one', { destination, body: body('old'), queueName: 'orders' }));
      parts.nowMs += 10;
      parts.schedule(setSchedule('one'));
      const { settings: plain } = newSchedule('one').destination as { settings: Schedule['settings'] };
      expect(parts.the('one')).to.deep.include({
        settings: plain,
        queueName: undefined,
        body: { number: 0, bytes: 0 },
        createdAtMs: startMs,
      });
    });

    it('releases its old body, as a deleted one does', () => {
      parts.schedule(setSchedule('one', { body: body('old') }));
      parts.schedule(setSchedule('one', { body: body('new') }));
      expect([...parts.bodies]).to.deep.equal([[2, 1]]);
      expect([...parts.fromSnapshot().bodies]).to.deep.equal([[2, 1]]);
      parts.schedule({ type: 'DeleteSchedule', id: id('one') });
      expect([...parts.bodies]).to.deep.equal([]);
    });

    it('with the same timetable loses no due tick', () => {
      parts.schedule(setSchedule('one'));
      parts.nowMs = minutes(1) + 5;
      parts.schedule(setSchedule('one', { body: body('new') }));
      parts.workAt(minutes(1) + 6);
      expect(parts.accepted.map(({ body: { number } }) => number)).to.deep.equal([1]);
    });

    it('with another timetable follows it from now on', () => {
      parts.schedule(setSchedule('one'));
      parts.schedule(setSchedule('one', { cron: '30 * * * *' }));
      expect(firedAt(parts.workAt(minutes(35)))).to.deep.equal([isoOf(minutes(30))]);
    });
  });

  describe('a suspended account', () => {
    it('skips ticks, and continues when it is active again', () => {
      parts.schedule(setSchedule('one'));
      parts.terms = { ...parts.terms, state: 'passive' };
      parts.workAt(minutes(2));
      expect(skips()[0]).to.include({ reason: 'suspended', tickAtMs: minutes(1), nextTickAtMs: minutes(3) });
      parts.terms = { ...parts.terms, state: 'active' };
      expect(firedAt(parts.workAt(minutes(3)))).to.deep.equal([isoOf(minutes(3))]);
    });
  });

  describe('schedules in time zones', () => {
    const VIENNA = 'CRON_TZ=Europe/Vienna';
    const ticksOf = (cron: string, from: string, to: string) => {
      parts.nowMs = Date.parse(from);
      parts.schedule(setSchedule('one', { cron }));
      for (let at = parts.nowMs; at <= Date.parse(to); at += 5 * MINUTE_MS) parts.workAt(at);
      return firedAt(parts.journal);
    };

    it('keep their local time when clocks change, in both directions', () => {
      const spring = ticksOf(`${VIENNA} 30 6 * * *`, '2026-03-28T00:00:00Z', '2026-03-30T00:00:00Z');
      expect(spring).to.deep.equal(['2026-03-28T05:30', '2026-03-29T04:30']);
      parts = new QueueParts();
      const autumn = ticksOf(`${VIENNA} 30 6 * * *`, '2026-10-24T00:00:00Z', '2026-10-26T00:00:00Z');
      expect(autumn).to.deep.equal(['2026-10-24T04:30', '2026-10-25T05:30']);
    });

    it('tick once on a day without that time, and once on a day that has it twice', () => {
      const spring = ticksOf(`${VIENNA} 30 2 * * *`, '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z');
      expect(spring).to.have.length(2);
      expect(spring[0]).to.match(/^2026-03-29T01:/);
      expect(spring[1]).to.equal('2026-03-30T00:30');
      parts = new QueueParts();
      const autumn = ticksOf(`${VIENNA} 30 2 * * *`, '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z');
      expect(autumn).to.deep.equal(['2026-10-25T00:30', '2026-10-26T01:30']);
    });

    it('tick every hour of a day of 23 and of 25 hours', () => {
      const spring = ticksOf(`${VIENNA} 0 */1 * * *`, '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z');
      expect(spring).to.have.length(23);
      parts = new QueueParts();
      const autumn = ticksOf(`${VIENNA} 0 */1 * * *`, '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z');
      expect(autumn).to.have.length(25);
      expect(new Set(autumn).size).to.equal(25);
    });
  });

  describe('a next tick stored by a release with other rules of the zone', () => {
    const NEW_YORK = 'CRON_TZ=America/New_York 0,30 2 14 3 *';
    /** A successor on a journal with another next tick of the schedule. */
    const successorWith = (stored: string, cron = NEW_YORK) => {
      parts.nowMs = Date.parse('2027-01-01T00:00:00Z');
      parts.schedule(setSchedule('one', { cron }));
      const last = parts.journal.pop();
      if (last?.type !== 'ScheduleSet') throw new Error('the schedule was refused');
      parts.journal.push({ ...last, schedule: { ...last.schedule, nextTickAtMs: Date.parse(stored) } });
      return parts.successor();
    };

    it('is corrected and recorded once', () => {
      const successor = successorWith('2028-03-14T06:00:00Z');
      const [corrected, ...more] = successor.workAt(parts.nowMs + 1000);
      expect(corrected).to.include({ type: 'SchedulePaused', isPaused: false });
      expect(corrected).to.have.property('nextTickAtMs', Date.parse('2027-03-14T07:00:00Z'));
      expect(more).to.deep.equal([]);
      expect(successor.successor().workAt(parts.nowMs + 2000)).to.deep.equal([]);
      expect(firedAt(successor.workAt(Date.parse('2027-03-14T07:00:00Z')))).to.deep.equal(['2027-03-14T07:00']);
    });

    it('is kept if it is due, and so is the phase of @every', () => {
      expect(firedAt(successorWith('2027-01-01T00:00:00Z').workAt(parts.nowMs))).to.deep.equal(['2027-01-01T00:00']);
      parts = new QueueParts();
      const every = successorWith('2027-01-01T00:07:00Z', 'CRON_TZ=UTC @every 10m');
      expect(every.workAt(parts.nowMs + 1000)).to.deep.equal([]);
      expect(every.the('one').nextTickAtMs).to.equal(Date.parse('2027-01-01T00:07:00Z'));
    });
  });

  describe('schedules with @every', () => {
    const every = (cron: string) => parts.schedule(setSchedule('one', { cron }));

    it('count from their creation, and keep their phase when ticks are late or paused', () => {
      every('@every 90m');
      expect(parts.the('one').nextTickAtMs).to.equal(minutes(90));
      parts.workAt(minutes(90));
      expect(parts.the('one').nextTickAtMs).to.equal(minutes(180));
      parts.workAt(minutes(211));
      expect(skips()).to.have.length(1);
      expect(parts.the('one').nextTickAtMs).to.equal(minutes(270));
      pause('one');
      parts.nowMs = minutes(300);
      pause('one', false);
      expect(parts.the('one').nextTickAtMs).to.equal(minutes(360));
    });
  });

  describe('schedules after a crash of the owner', () => {
    /** Two schedules, one of them to a group. */
    const twoSchedules = () => {
      parts.group(upsert('all', ['https://a.example/'], ['https://b.example/']));
      parts.schedule(setSchedule('one', { body: body('x') }));
      parts.schedule(setSchedule('two', { destination: toGroup('all'), cron: '*/2 * * * *' }));
    };

    it('have each tick exactly once, with the same ids, at any end of the journal', () => {
      twoSchedules();
      const setUp = parts.journal.length;
      const undisturbed = parts.successor();
      undisturbed.workAt(minutes(6));
      const expected = [...ids(undisturbed)].sort();
      expect(new Set(expected).size).to.equal(6 + 2 * 3);
      for (let length = setUp; length <= undisturbed.journal.length; length += 1) {
        const successor = undisturbed.successor(length);
        const stored = undisturbed.journal
          .slice(setUp, length)
          .flatMap((event) => (event.type === 'ScheduleFired' ? event.messages : []));
        successor.workAt(minutes(6));
        expect([...stored, ...ids(successor)].sort(), `cut at ${length}`).to.deep.equal(expected);
      }
    });

    it('are equal from all events and from a snapshot', () => {
      twoSchedules();
      parts.workAt(minutes(3));
      parts.schedules.noteOutcome(id('one'), ids(parts).at(-1) as MessageId, 'SUCCESS');
      pause('two');
      parts.schedule(setSchedule('three', { cron: '@daily' }));
      const snapshot = [...parts.snapshot()];
      const rebuilt = parts.fromSnapshot();
      expect([...rebuilt.snapshot()]).to.deep.equal(snapshot);
      expect(rebuilt.schedules.nextTickAtMs()).to.equal(parts.schedules.nextTickAtMs());
      expect(rebuilt.workAt(minutes(9))).to.deep.equal(parts.workAt(minutes(9)));
      expect([...rebuilt.snapshot()]).to.deep.equal([...parts.snapshot()]);
    });

    it('with one name, one after the other, make different messages', () => {
      parts.schedule(setSchedule('one'));
      const before = parts.the('one');
      parts.schedule({ type: 'DeleteSchedule', id: id('one') });
      parts.nowMs += 1;
      parts.schedule(setSchedule('one'));
      expect(tickMessageId(parts.the('one'), minutes(1))).not.to.equal(tickMessageId(before, minutes(1)));
    });
  });
});
