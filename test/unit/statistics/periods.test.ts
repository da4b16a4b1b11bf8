/** Proves PE1, PE2. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  boundaryText,
  dayName,
  daysInMonthOf,
  daysOfMonth,
  firstDayOfMonth,
  lastFiveDays,
  momentText,
  PERIODS,
  pointTimes,
  sameTimeOn,
  seriesTimes,
} from '../../../src/domain/statistics/index.js';

const DAY = 86_400_000;
const dayOf = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date) / DAY;

describe('statistics: periods', () => {
  it('have the documented number and distance of points', () => {
    const shapes = PERIODS.map((period) => {
      const { count, stepMs } = seriesTimes(period, Date.UTC(2026, 1, 3, 4, 5, 6));
      return [period, count, stepMs / 60_000];
    });
    expect(shapes).to.deep.equal([
      ['1h', 60, 1],
      ['3h', 60, 3],
      ['12h', 60, 12],
      ['1d', 60, 24],
      ['3d', 60, 72],
      ['7d', 60, 168],
      ['30d', 240, 180],
    ]);
  });

  it('end with the current step, at a boundary that is the same for every caller', () => {
    const nowMs = Date.UTC(2026, 1, 3, 4, 5, 6, 7);
    const times = pointTimes(seriesTimes('1h', nowMs)).map(boundaryText);
    expect([times[0], times[1], times.at(-1)]).to.deep.equal([
      '2026-02-03 03:06:00.000 +0000 UTC',
      '2026-02-03 03:07:00.000 +0000 UTC',
      '2026-02-03 04:05:00.000 +0000 UTC',
    ]);
    fc.assert(
      fc.property(fc.constantFrom(...PERIODS), fc.integer({ min: 0, max: 4e12 }), (period, atMs) => {
        const { firstAtMs, stepMs, count } = seriesTimes(period, atMs);
        expect(firstAtMs % stepMs).to.equal(0);
        const lastMs = firstAtMs + (count - 1) * stepMs;
        expect(lastMs).to.be.at.most(atMs);
        expect(lastMs + stepMs).to.be.greaterThan(atMs);
      }),
    );
  });

  it('of a day cover exactly that day in their last step', () => {
    const nowMs = Date.UTC(2026, 1, 3, 23, 59);
    expect(seriesTimes('1d', nowMs).firstAtMs).to.equal(Date.UTC(2026, 1, 3));
  });
});

describe('statistics: instants', () => {
  it('of steps have three digits of a second', () => {
    expect(boundaryText(Date.UTC(2025, 9, 23, 17, 34))).to.equal('2025-10-23 17:34:00.000 +0000 UTC');
  });

  it('of a moment have no trailing zeros, and no fraction of zeros', () => {
    const at = (ms: number) => momentText(Date.UTC(2025, 8, 4, 15, 12, 50, ms));
    expect([at(766), at(760), at(700), at(7), at(0)]).to.deep.equal([
      '2025-09-04 15:12:50.766 +0000 UTC',
      '2025-09-04 15:12:50.76 +0000 UTC',
      '2025-09-04 15:12:50.7 +0000 UTC',
      '2025-09-04 15:12:50.007 +0000 UTC',
      '2025-09-04 15:12:50 +0000 UTC',
    ]);
  });

  it('are read by JavaScript as the same instants', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (atMs) => {
        expect(new Date(boundaryText(atMs)).getTime()).to.equal(atMs);
        expect(new Date(momentText(atMs)).getTime()).to.equal(atMs);
      }),
    );
  });

  it('keep their time of day on other days', () => {
    const nowMs = Date.UTC(2026, 1, 3, 4, 5, 6, 7);
    expect(sameTimeOn(dayOf(2026, 2, 1), nowMs)).to.equal(Date.UTC(2026, 1, 1, 4, 5, 6, 7));
  });
});

describe('statistics: days', () => {
  it('have names', () => {
    expect([0, 1, 2, 3, 4, 5, 6].map((on) => dayName(dayOf(2026, 9, 21) + on))).to.deep.equal([
      'Monday',
      'Tuesday',
      'Wednesday',
      'Thursday',
      'Friday',
      'Saturday',
      'Sunday',
    ]);
  });

  it('of a month are all of its days, including future ones', () => {
    const february = daysOfMonth(Date.UTC(2028, 1, 10, 5));
    expect([february.length, february[0], february.at(-1)]).to.deep.equal([29, dayOf(2028, 2, 1), dayOf(2028, 2, 29)]);
    expect(daysOfMonth(Date.UTC(2026, 11, 31, 23, 59, 59, 999))).to.have.length(31);
    expect(daysInMonthOf(dayOf(2026, 9, 30))).to.equal(30);
    expect(firstDayOfMonth(dayOf(2026, 9, 30))).to.equal(dayOf(2026, 9, 1));
    expect(firstDayOfMonth(dayOf(2026, 9, 1))).to.equal(dayOf(2026, 9, 1));
  });

  it('of a week are the last five, today the last', () => {
    const today = dayOf(2026, 9, 2);
    expect(lastFiveDays(today * DAY + 1)).to.deep.equal([today - 4, today - 3, today - 2, today - 1, today]);
  });
});
