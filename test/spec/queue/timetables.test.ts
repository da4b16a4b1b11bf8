/** When a timetable ticks: fields, descriptors, zones, and days on which clocks change. Proves CRO1, CRO2. */
import { expect } from 'chai';
import { nextTickAfter, parseCron } from '../../../src/domain/queue/index.js';

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

describe('a timetable', () => {
  it('ticks at whole minutes, strictly later than the instant asked', () => {
    expect(ticks('*/30 * * * *', '2026-01-01T00:00:00Z', 2)).to.deep.equal(['2026-01-01T00:30', '2026-01-01T01:00']);
    expect(ticks('*/30 * * * *', '2025-12-31T23:59:59.999Z', 1)).to.deep.equal(['2026-01-01T00:00']);
  });

  it('reads lists, ranges, steps and names', () => {
    expect(ticks('0,45 9-10 * JAN-MAR MON', '2026-01-01T00:00:00Z')).to.deep.equal([
      '2026-01-05T09:00',
      '2026-01-05T09:45',
      '2026-01-05T10:00',
      '2026-01-05T10:45',
    ]);
  });

  it('ticks on a day of the month or of the week when both are named', () => {
    expect(ticks('0 0 13 * 5', '2026-01-08T00:00:00Z')).to.deep.equal([
      '2026-01-09T00:00',
      '2026-01-13T00:00',
      '2026-01-16T00:00',
      '2026-01-23T00:00',
    ]);
  });

  it('knows descriptors', () => {
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

  it('waits for a leap year', () => {
    expect(ticks('0 0 29 2 *', '2026-01-01T00:00:00Z', 2)).to.deep.equal(['2028-02-29T00:00', '2032-02-29T00:00']);
  });

  it('is in UTC, or in the zone that stands in front of it', () => {
    expect(ticks('0 8 * * *', '2026-01-01T00:00:00Z', 1)).to.deep.equal(['2026-01-01T08:00']);
    expect(ticks('CRON_TZ=America/New_York 0 8 * * *', '2026-01-01T00:00:00Z', 1)).to.deep.equal(['2026-01-01T13:00']);
  });

  it('keeps its time of day when clocks change', () => {
    expect(ticks('CRON_TZ=Europe/Berlin 0 8 * * *', '2026-03-28T00:00:00Z', 2)).to.deep.equal([
      '2026-03-28T07:00',
      '2026-03-29T06:00',
    ]);
  });

  describe('where clocks go forward over its time', () => {
    it('ticks once at the end of the gap when it names one time of day', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 2 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-29T01:00',
        '2026-03-30T00:30',
      ]);
    });

    it('leaves out what falls into the gap when it names several', () => {
      expect(ticks('CRON_TZ=Europe/Berlin */30 2 * * *', '2026-03-28T12:00:00Z', 2)).to.deep.equal([
        '2026-03-30T00:00',
        '2026-03-30T00:30',
      ]);
    });

    it('goes on every hour', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 * * * *', '2026-03-29T00:00:00Z', 3)).to.deep.equal([
        '2026-03-29T00:30',
        '2026-03-29T01:30',
        '2026-03-29T02:30',
      ]);
    });
  });

  describe('where clocks go back over its time', () => {
    it('ticks once, the first time round, when it names one time of day', () => {
      expect(ticks('CRON_TZ=Europe/Berlin 30 2 * * *', '2026-10-24T12:00:00Z', 2)).to.deep.equal([
        '2026-10-25T00:30',
        '2026-10-26T01:30',
      ]);
    });

    it('ticks through both when it names several', () => {
      expect(ticks('CRON_TZ=Europe/Berlin */30 2 * * *', '2026-10-24T12:00:00Z', 4)).to.deep.equal([
        '2026-10-25T00:00',
        '2026-10-25T00:30',
        '2026-10-25T01:00',
        '2026-10-25T01:30',
      ]);
    });
  });
});

describe('the text of a timetable', () => {
  it('is kept trimmed, with its zone', () => {
    expect(parseCron(' CRON_TZ=Europe/Berlin 0 8 * * 1 ')).to.deep.equal({
      isOk: true,
      cron: 'CRON_TZ=Europe/Berlin 0 8 * * 1',
    });
  });

  const refused: [what: string, cron: string, reason: string][] = [
    ['nothing', '  ', 'empty spec string'],
    ['a word', 'often', 'five fields are expected'],
    ['six fields', '0 * * * * *', 'five fields are expected'],
    ['four fields', '* * * *', 'five fields are expected'],
    ['a minute that is none', '60 * * * *', 'Invalid value for minute: 60'],
    ['a step of nothing', '*/0 * * * *', 'illegal stepping'],
    ['a zone that is none', 'CRON_TZ=Nowhere/Else 0 8 * * *', 'unknown time zone'],
    ['a zone alone', 'CRON_TZ=UTC', 'five fields are expected'],
    ['a descriptor that is none', '@reboot', 'unrecognized descriptor'],
    ['a day that never comes', '0 0 30 2 *', 'it never comes'],
    ['257 characters', `0 0 * * ${'1,'.repeat(124)}1`, 'longer than 256 characters'],
  ];
  for (const [what, cron, reason] of refused) {
    it(`is refused for ${what}`, () => {
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
