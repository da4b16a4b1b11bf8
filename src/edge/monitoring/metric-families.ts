/** How metrics are made from series: names, totals of the month, and values of one step. */
import { DAY_MS, firstDayOfMonth } from '../../domain/statistics/index.js';
import type { Family, Sample } from './exposition.js';

export class Families<Day extends { readonly day: number }> {
  readonly #month: readonly Day[];

  /** @param minute the step that `minutely` shows. @param nowMs in the month that `total` counts */
  constructor(
    private readonly prefix: string,
    days: readonly Day[],
    private readonly minute: number,
    nowMs: number,
  ) {
    const first = firstDayOfMonth(Math.floor(nowMs / DAY_MS));
    this.#month = days.filter(({ day }) => day >= first);
  }

  total(name: string, help: string, of: (day: Day) => number): Family {
    return this.of('counter', `${name}_total`, `${help} since the beginning of the month.`, {
      value: this.#month.reduce((sum, day) => sum + of(day), 0),
    });
  }

  minutely(name: string, help: string, counts: readonly number[]): Family {
    return this.of('gauge', `minute_${name}`, `${help} in the last whole minute.`, { value: this.at(counts) });
  }

  of(type: Family['type'], name: string, help: string, ...samples: readonly Sample[]): Family {
    return { name: this.prefix + name, help, type, samples };
  }

  /** The value of the minute that is shown. */
  at(values: readonly number[]): number {
    return values[this.minute] ?? 0;
  }
}
