/**
 * The metrics port on prom-client. Handles are plain numbers of our own; prom-client sees them when
 * somebody scrapes, and brings the format, the registry and what every process has (CPU, memory,
 * descriptors, garbage collection).
 */
import prom from 'prom-client';
import {
  COUNTERS,
  type Counter,
  type CounterName,
  GAUGE_HELP,
  type GaugeName,
  HISTOGRAMS,
  type Histogram,
  type HistogramName,
  MAX_SERIES,
  type MeasuredProcess,
  type MetricReadings,
  type Metrics,
} from '../../ports/index.js';

class CounterCell implements Counter {
  total = 0;

  add(count = 1): void {
    this.total += count;
  }
}

class HistogramCell implements Histogram {
  readonly #bounds: readonly number[];
  /** Observations up to each bound and above the one before; the last are above them all. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < this.#bounds.length && seconds > (this.#bounds[at] as number)) at += 1;
    (this.#counts[at] as number)++;
    this.#sum += seconds;
  }

  /** They are as the format wants them: each bucket counts everything up to its bound. */
  series(name: string): Series[] {
    let count = 0;
    const buckets = this.#counts.map((inBucket, at) => {
      count += inBucket;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? '+Inf' }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
  }
}

interface Series {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Between two samples. */
const NEVER_MS = 2 ** 31 - 1;

export interface PromMetricsOptions {
  /** What prom-client reports of any process. For one instance a process: its watchers cannot be stopped. */
  readonly withProcess: boolean;
}

export class PromMetrics implements Metrics, MeasuredProcess {
  readonly registry = new prom.Registry();
  readonly #counters = new Map<CounterName, Map<string, CounterCell>>();
  readonly #gauges = new Map<GaugeName, Map<string, () => number | undefined>>();
  readonly #histograms = new Map<HistogramName, HistogramCell>();

  constructor({ withProcess }: PromMetricsOptions) {
    if (withProcess) this.#watchProcess();
    for (const name of namesOf(COUNTERS)) this.#declareCounter(name);
    for (const name of namesOf(GAUGE_HELP)) this.#declareGauge(name);
    for (const name of namesOf(HISTOGRAMS)) this.#declareHistogram(name);
  }

  /** All but the loop's delay, which ProcessWatch tells: its sampling never rests. */
  #watchProcess(): void {
    prom.collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const stat of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
      this.registry.removeSingleMetric(`nodejs_eventloop_lag_${stat}_seconds`);
    }
  }

  counter(name: CounterName, label = ''): Counter {
    const cells = this.#counters.get(name) as Map<string, CounterCell>;
    const key = boundedLabel(cells, label);
    const known = cells.get(key);
    if (known) return known;
    const cell = new CounterCell();
    cells.set(key, cell);
    return cell;
  }

  histogram(name: HistogramName): Histogram {
    return this.#histograms.get(name) as HistogramCell;
  }

  gauge(name: GaugeName, read: () => number | undefined, label = ''): { stop(): void } {
    const readers = this.#gauges.get(name) as Map<string, () => number | undefined>;
    const key = boundedLabel(readers, label);
    readers.set(key, read);
    return {
      stop: () => {
        if (readers.get(key) === read) readers.delete(key);
      },
    };
  }

  readings(): MetricReadings {
    const readings: Record<string, number | Record<string, number>> = {};
    const add = (name: string, hasLabel: boolean, values: readonly (readonly [label: string, value: number])[]) => {
      if (hasLabel) readings[name] = Object.fromEntries(values);
      else if (values[0] !== undefined) readings[name] = values[0][1];
    };
    for (const [name, cells] of this.#counters) {
      add(
        name,
        'label' in COUNTERS[name],
        [...cells].map(([label, { total }]) => [label, total] as const),
      );
    }
    for (const [name, readers] of this.#gauges) {
      const known = [...readers].flatMap(([label, read]) => {
        const value = valueNow(read);
        return value === undefined || Number.isNaN(value) ? [] : [[label, value] as const];
      });
      add(name, 'label' in GAUGE_HELP[name], known);
    }
    return readings;
  }

  /** The page for a scraper. */
  async page(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  #declareCounter(name: CounterName): void {
    const cells = new Map<string, CounterCell>();
    this.#counters.set(name, cells);
    const { help, label } = COUNTERS[name] as Described;
    // A counter that is there from the start, at 0, is one that an alarm can be written for.
    if (!label) cells.set('', new CounterCell());
    this.#register('counter', name, help, () =>
      [...cells].map(([key, cell]) => ({ labels: labelled(label, key), value: cell.total })),
    );
  }

  #declareGauge(name: GaugeName): void {
    const readers = new Map<string, () => number | undefined>();
    this.#gauges.set(name, readers);
    const { help, label } = GAUGE_HELP[name] as Described;
    this.#register('gauge', name, help, () =>
      [...readers].flatMap(([key, read]) => {
        const value = valueNow(read);
        return value === undefined ? [] : [{ labels: labelled(label, key), value }];
      }),
    );
  }

  #declareHistogram(name: HistogramName): void {
    const { help, bounds } = HISTOGRAMS[name];
    const cell = new HistogramCell(bounds);
    this.#histograms.set(name, cell);
    this.#register('histogram', name, help, () => cell.series(name));
  }

  /** The registry only ever calls `get` of a metric; its type wants one of prom-client's own classes. */
  #register(type: string, name: string, help: string, values: () => Series[]): void {
    const metric = { name, help, type, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }) };
    this.registry.registerMetric(metric as unknown as prom.Metric);
  }
}

interface Described {
  readonly help: string;
  readonly label?: string;
}

/** One gauge that cannot be read must not take the page with it. */
function valueNow(read: () => number | undefined): number | undefined {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

function namesOf<Table extends object>(table: Table): (keyof Table)[] {
  return Object.keys(table) as (keyof Table)[];
}

function labelled(label: string | undefined, value: string): Record<string, string> {
  return label ? { [label]: value } : {};
}

/** ME3: a label beyond the bound counts as `other`. */
function boundedLabel(known: ReadonlyMap<string, unknown>, label: string): string {
  return known.has(label) || known.size < MAX_SERIES ? label : 'other';
}
