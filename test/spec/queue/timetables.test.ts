/** The ticks of a timetable: fields, descriptors, zones, and days of clock changes. Proves CRO1, CRO2, CRO3. */
import { expect } from 'chai';
import { nextTickAfter, parseCron, ticksBetween } from '../../../src/domain/queue/index.js';

/** The next ticks after an instant, as UTC texts without seconds. */
function ticks(cron: string, after: string, count = 4): string[] {
  const found: string[] = [];
  for (let at: number | undefined = Date.parse(after); found.length < count; ) {
    at = nextTickAfter(cron, at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe('a cron expression', () => {
  it('ticks at whole minutes, strictly after the given instant', () => {
    expect(ticks('*/30 * * * *', '2026-01-01T00:00:00Z', 2)).to.deep.equal(['2026-01-01T00:30', '2026-01-01T01:00']);
    expect(ticks('*/30 * * * *', '2025-12-31T23:59:59.999Z', 1)).to.deep.equal(['2026-01-01T00:00']);
  });

  it('accepts lists, ranges, steps and names', () => {
    expect(ticks('0,45 9-10 * JAN-MAR MON', '2026-01-01T00:00:00Z')).to.deep.equal([
      '2026-01-05T09:00',
      '2026-01-05T09:45',
      '2026-01-05T10:00',
      '2026-01-05T10:45',
    ]);
  });

  it('ticks on a day that matches either day field if both are restricted', () => {
    expect(ticks('0 0 13 * 5', '2026-01-08T00:00:00Z')).to.deep.equal([
      '2026-01-09T00:00',
      '2026-01-13T00:00',
      '2026-01-16T00:00',
      '2026-01-23T00:00',
    ]);
  });

  it('accepts descriptors such as @daily', () => {
    const at = '2026-02-10T10:10:00Z';
    const first = (cron: string) => ticks(cron, at, 1)[0];
    expect(first('@hourly')).to.equal('2026-02-10T11:00');
    expect(first('@daily')).to.equal('2026-02-11T00:00');
    expect(first('@midnight')).to.equal('2026-02-11T00:00');
    expect(first('@weekly')).to.equal('2026-02-15T00:00');
    expect(first('@monthly')).to.equal('2026-03-01T00:00');
    expect(first('@yearly')).to.equal('2027-01-01T00:00');
    expect(first('CRON_TZ=Asia/Tokyo @daily')).to.equal('2026-02-10T15:00');
  });

  it('reads M/N as from M to the end in steps of N', () => {
    const equal: [string, string][] = [
      ['0/20 * * * *', '0,20,40 * * * *'],
      ['5/15 * * * *', '5,20,35,50 * * * *'],
      ['7,40/10 2/7 * * *', '7,40,50 2,9,16,23 * * *'],
      ['0 0 3/10 FEB/5 *', '0 0 3,13,23 2,7,12 *'],
      ['0 0 * * 1/2', '0 0 * * MON,WED,FRI'],
      ['0 0 * * tue/3', '0 0 * * TUE,FRI'],
      ['@Hourly', '0 * * * *'],
    ];
    for (const [steps, list] of equal) {
      expect(ticks(steps, '2026-01-01T00:00:00Z', 20), steps).to.deep.equal(ticks(list, '2026-01-01T00:00:00Z', 20));
    }
  });

  it('ticks every 90 minutes for @every 1h30m, also over a change of the clock', () => {
    const expected = ['2026-03-29T00:10', '2026-03-29T01:40', '2026-03-29T03:10'];
    expect(ticks('@every 1h30m', '2026-03-28T22:40:00Z', 3)).to.deep.equal(expected);
    expect(ticks('CRON_TZ=Europe/Berlin @every 90m', '2026-03-28T22:40:00Z', 3)).to.deep.equal(expected);
    const anchor = Date.parse('2026-01-01T00:10:00Z');
    expect(nextTickAfter('@every 1h30m', Date.parse('2026-01-01T05:00:00Z'), anchor)).to.equal(anchor + 4 * 5_400_000);
  });

  it('waits for a leap year', () => {
    expect(ticks('0 0 29 2 *', '2026-01-01T00:00:00Z', 2)).to.deep.equal(['2028-02-29T00:00', '2032-02-29T00:00']);
  });

  it('is in UTC, or in the zone of its CRON_TZ prefix', () => {
    expect(ticks('0 8 * * *', '2026-01-01T00:00:00Z', 1)).to.deep.equal(['2026-01-01T08:00']);
    expect(ticks('CRON_TZ=America/New_York 0 8 * * *', '2026-01-01T00:00:00Z', 1)).to.deep.equal(['2026-01-01T13:00']);
  });

  it('keeps its time of day when clocks change', () => {
    expect(ticks('CRON_TZ=Europe/Berlin 0 8 * * *', '2026-03-28T00:00:00Z', 2)).to.deep.equal([
      '2026-03-28T07:00',
      '2026-03-29T06:00',
    ]);
  });

  describe('a cron expression with times in the gap when clocks go forward', () => {
    it('ticks once at the end of the gap for one fixed time', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 2 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-29T01:00',
        '2026-03-30T00:30',
      ]);
    });

    it('ticks once for all fixed times in the gap', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 0,30 2 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-29T01:00',
        '2026-03-30T00:00',
      ]);
      expect(ticks('CRON_TZ=America/New_York 0,30 2 14 3 *', '2027-01-01T00:00:00Z', 2)).to.deep.equal([
        '2027-03-14T07:00',
        '2028-03-14T06:00',
      ]);
      expect(ticks('CRON_TZ=America/New_York 30 2,14 14 3 *', '2027-01-01T00:00:00Z', 2)).to.deep.equal([
        '2027-03-14T07:00',
        '2027-03-14T18:30',
      ]);
    });

    it('ticks at the end of a gap that ends on the next day', () => {
      expect(ticks('CRON_TZ=America/Nuuk 30 23 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-29T01:00',
        '2026-03-30T00:30',
      ]);
    });

    it('leaves out times in the gap if it has a step', () => {
      expect(ticks('CRON_TZ=Europe/Berlin */30 2 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-30T00:00',
        '2026-03-30T00:30',
      ]);
    });

    it('continues every hour', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 * * * *', '2026-03-29T00:00:00Z', 3)).to.deep.equal([
        '2026-03-29T00:30',
        '2026-03-29T01:30',
        '2026-03-29T02:30',
      ]);
    });
  });

  describe('a cron expression with times that come twice when clocks go back', () => {
    it('ticks the first time only for one fixed time', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 2 * * *', '2026-10-24T12:00:00Z', 2)).to.deep.equal([
        '2026-10-25T00:30',
        '2026-10-26T01:30',
      ]);
    });

    it('ticks the first time only for each of several fixed times', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 0,30 2 * * *', '2026-10-24T12:00:00Z', 3)).to.deep.equal([
        '2026-10-25T00:00',
        '2026-10-25T00:30',
        '2026-10-26T01:00',
      ]);
    });

    it('ticks both times if it has a step', () => {
      expect(ticks('CRON_TZ=Europe/Berlin */30 2 * * *', '2026-10-24T12:00:00Z', 4)).to.deep.equal([
        '2026-10-25T00:00',
        '2026-10-25T00:30',
        '2026-10-25T01:00',
        '2026-10-25T01:30',
      ]);
    });
  });
});

/** The wall clock of a zone minute by minute, from `Intl` alone, independent of the library and the tested code. */
interface Wall {
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function wallClock(zone: string): (atMs: number) => Wall & { readonly wallMs: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (atMs) => {
    const found = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+)/.exec(format.format(atMs)) ?? [];
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = found.slice(1).map(Number);
    return { month, day, hour, minute, wallMs: Date.UTC(2000 + year, month - 1, day, hour, minute) };
  };
}

type Matches = (wall: Wall) => boolean;
const FIXED: readonly [cron: string, matches: Matches][] = [
  ['30 2,14 * * *', ({ hour, minute }) => minute === 30 && (hour === 2 || hour === 14)],
  ['0,30 2 * * *', ({ hour, minute }) => hour === 2 && minute % 30 === 0],
  ['15,45 0-3 * * *', ({ hour, minute }) => hour <= 3 && minute % 30 === 15],
  ['0,15,30,45 0 * * *', ({ hour, minute }) => hour === 0 && minute % 15 === 0],
  ['5,35 23 * * *', ({ hour, minute }) => hour === 23 && minute % 30 === 5],
  ['0-59 1,2,3 * * *', ({ hour }) => hour >= 1 && hour <= 3],
  ['10 0,1,2,3,23 1-15 3,4,10,11 *', (wall) => isFirstHalf(wall) && wall.minute === 10 && isNight(wall)],
  ['@daily', ({ hour, minute }) => hour === 0 && minute === 0],
];
const REAL_TIME: readonly [cron: string, matches: Matches][] = [
  ['*/20 2 * * *', ({ hour, minute }) => hour === 2 && minute % 20 === 0],
  ['7 * * * *', ({ minute }) => minute === 7],
  ['* 0-2 * * *', ({ hour }) => hour <= 2],
  ['0/25 */2 * * *', ({ hour, minute }) => minute % 25 === 0 && hour % 2 === 0],
  ['30 1/1 * * *', ({ hour, minute }) => minute === 30 && hour >= 1],
  ['0-40/20 0,1,2,3,23 * * *', (wall) => isNight(wall) && wall.minute <= 40 && wall.minute % 20 === 0],
  ['@hourly', ({ minute }) => minute === 0],
];

function isFirstHalf({ day, month }: Wall): boolean {
  return day <= 15 && [3, 4, 10, 11].includes(month);
}

function isNight({ hour }: Wall): boolean {
  return hour <= 3 || hour === 23;
}

/** The days (UTC) of clock changes in 2025: a past year, because releases of Node.js differ in future changes. */
function changesOf(zone: string): number[] {
  const wall = wallClock(zone);
  const offset = (atMs: number) => wall(atMs).wallMs - atMs;
  const days: number[] = [];
  for (let at = Date.UTC(2025, 0, 1); at < Date.UTC(2026, 0, 1); at += DAY_MS) {
    if (offset(at) !== offset(at + DAY_MS)) days.push(at);
  }
  return days;
}

describe('a cron expression around changes of the clock, against a calendar that counts minutes', () => {
  const zones = [
    'America/New_York',
    'Europe/London',
    'Australia/Lord_Howe',
    'America/Havana',
    'Africa/Cairo',
    'America/Nuuk',
    'America/Santiago',
    'Antarctica/Troll',
    'Africa/Casablanca',
  ];
  for (const zone of zones) {
    it(`ticks by fixed times or real time in ${zone}`, () => {
      const wall = wallClock(zone);
      const days = changesOf(zone);
      expect(days).to.have.length(2);
      for (const day of days) {
        const [from, to] = [day - 2 * HOUR_MS, day + 28 * HOUR_MS];
        const minutes = Array.from({ length: (to - from) / MINUTE_MS }, (_, at) => from + (at + 1) * MINUTE_MS);
        const shown = minutes.map((at) => ({ at, ...wall(at) }));
        let seenMs = wall(from).wallMs;
        const come = shown.map(({ at, wallMs }) => {
          const times = wallTimes(seenMs, wallMs);
          seenMs = Math.max(seenMs, wallMs);
          return { at, times };
        });
        for (const [cron, matches] of FIXED) {
          judge(
            cron,
            come.filter(({ times }) => times.some(matches)),
          );
        }
        for (const [cron, matches] of REAL_TIME) judge(cron, shown.filter(matches));

        function judge(cron: string, expected: readonly { readonly at: number }[]): void {
          const text = `CRON_TZ=${zone} ${cron}`;
          const found = ticksBetween(text, { fromMs: from, toMs: to, count: 10_000 });
          const texts = (list: readonly number[]) => list.map((at) => new Date(at).toISOString());
          expect(texts(found), text).to.deep.equal(texts(expected.map(({ at }) => at)));
          // From every half hour the next tick is the same one: also from within a gap and a repeated hour.
          for (let at = from; at < to; at += 30 * MINUTE_MS) {
            const next = nextTickAfter(text, at) ?? 0;
            const wanted = expected.find((tick) => tick.at > at)?.at;
            if (wanted !== undefined && next !== wanted)
              expect(texts([next]), `${text} after ${texts([at])}`).to.deep.equal(texts([wanted]));
          }
        }
      }
    }).timeout(60_000);
  }
});

/** The wall times between two, including the second: more than one after a gap, none in a repeated hour. */
function wallTimes(seenMs: number, wallMs: number): Wall[] {
  const times: Wall[] = [];
  for (let at = seenMs + MINUTE_MS; at <= wallMs; at += MINUTE_MS) {
    const date = new Date(at);
    times.push({
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
    });
  }
  return times;
}

describe('the text of a cron expression', () => {
  it('is stored trimmed, with its zone', () => {
    expect(parseCron(' CRON_TZ=Europe/Berlin 0 8 * * 1 ')).to.deep.equal({
      isOk: true,
      cron: 'CRON_TZ=Europe/Berlin 0 8 * * 1',
    });
  });

  const refused: [mistake: string, cron: string, reason: string][] = [
    ['nothing', '  ', 'empty spec string; write five fields such as */5 * * * *, or @daily'],
    ['a word', 'often', 'five fields are expected (minute, hour, day of month, month, day of week), and "often" has 1'],
    ['six fields', '0 * * * * *', 'has 6; there is no field for seconds'],
    ['four fields', '* * * *', 'five fields are expected'],
    ['a minute above 59', '60 * * * *', 'minute "60": 60 is not from 0 to 59'],
    ['an hour above 23', '0 9,24 * * *', 'hour "9,24": 24 is not from 0 to 23'],
    ['a day 0', '0 0 0 * *', 'day of month "0": 0 is not from 1 to 31'],
    ['a day 32', '0 0 32 * *', 'day of month "32": 32 is not from 1 to 31'],
    ['a month 13', '0 0 1 13 *', 'month "13": 13 is not from 1 to 12'],
    ['an unknown month', '0 0 1 MAI *', 'month "MAI": "MAI" is no number from 1 to 12 or JAN to DEC'],
    ['a weekday 8', '0 0 * * 8', 'day of week "8": 8 is not from 0 to 7'],
    ['a step of 0', '*/0 * * * *', 'minute "*/0": the step "0" is no number from 1 to 60; write for example */5'],
    ['a step from 60', '60/5 * * * *', 'minute "60/5": 60 is not from 0 to 59'],
    ['a reversed range', '0 22-2 * * *', 'hour "22-2": the range 22-2 ends before it begins; write 22-23,0-2'],
    ['an unknown zone', 'CRON_TZ=Nowhere/Else 0 8 * * *', 'unknown time zone Nowhere/Else; write an IANA name'],
    ['a zone alone', 'CRON_TZ=UTC', 'five fields are expected'],
    ['an unknown descriptor', '@reboot', 'unrecognized descriptor: @reboot; write @yearly, @annually, @monthly'],
    ['@every without a duration', '@every', '@every "": write a duration from 1m to 366d, such as @every 1h30m'],
    ['@every without a unit', '@every 90', '@every "90": write a duration from 1m to 366d'],
    ['@every with seconds', '@every 59s', '@every "59s": write a duration from 1m to 366d'],
    ['@every with two years', '@every 730d', '@every "730d": write a duration from 1m to 366d'],
    ['a day that never comes', '0 0 30 2 *', 'names a day that never comes'],
    ['257 characters', `0 0 * * ${'1,'.repeat(124)}1`, 'longer than 256 characters'],
  ];
  for (const [mistake, cron, reason] of refused) {
    it(`is refused: ${mistake}`, () => {
      const outcome = parseCron(cron);
      expect(outcome.isOk ? '' : outcome.message)
        .to.match(/^Invalid cron expression: /)
        .and.to.contain(reason);
    });
  }

  it('may have 256 characters', () => {
    expect(parseCron(`00 0 * * ${'1,'.repeat(123)}1`).isOk).to.equal(true);
  });
});
