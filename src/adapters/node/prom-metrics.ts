/**
 * The metrics port on prom-client. Handles are plain numbers; prom-client reads them at a scrape, and provides the
 * format, the registry and the process metrics (CPU, memory, descriptors, garbage collection).
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
import { VERSION } from './version.js';

class CounterCell implements Counter {
  total = 0;

  add(count = 1): void {
    this.total += count;
  }
}

class HistogramCell implements Histogram {
  readonly #bounds: readonly number[];
  /** Observations above the bound before and up to each bound; the last are above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at += 1;
    (this.#counts[at] as number)++;
    this.#sum += value;
  }

  /** In the form of the format: each bucket counts everything up to its bound. */
  series(name: string, labels: Series['labels']): Series[] {
    let count = 0;
    const buckets = this.#counts.map((inBucket, at) => {
      count += inBucket;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: this.#bounds[at] ?? '+Inf' }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

interface Series {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Disables sampling: the longest timer interval. */
const NEVER_MS = 2 ** 31 - 1;

export interface PromMetricsOptions {
  /**
   * Adds prom-client's process metrics. Only for one instance in a process, because its observers cannot be stopped.
   */
  readonly withProcess: boolean;
  /** Of every sample. */
  readonly labels?: Readonly<Record<string, string>>;
}

export class PromMetrics implements Metrics, MeasuredProcess {
  readonly registry = new prom.Registry();
  readonly #counters = new Map<CounterName, Map<string, CounterCell>>();
  readonly #gauges = new Map<GaugeName, Map<string, () => number | undefined>>();
  readonly #histograms = new Map<HistogramName, Map<string, HistogramCell>>();

  constructor({ withProcess, labels = {} }: PromMetricsOptions) {
    this.registry.setDefaultLabels(labels);
    for (const name of namesOf(COUNTERS)) this.#declareCounter(name);
    for (const name of namesOf(GAUGE_HELP)) this.#declareGauge(name);
    for (const name of namesOf(HISTOGRAMS)) this.#declareHistogram(name);
    if (withProcess) this.#watchProcess();
  }

  /**
   * All except the loop's delay, which ProcessWatch measures because this sampling never pauses, and gauges with names
   * in `_total`.
   */
  #watchProcess(): void {
    this.gauge('millrace_build_info', () => 1, VERSION);
    prom.collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const stat of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
      this.registry.removeSingleMetric(`nodejs_eventloop_lag_${stat}_seconds`);
    }
    for (const kind of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    }
  }

  counter(name: CounterName, label = ''): Counter {
    return cellOf(this.#counters.get(name) as Map<string, CounterCell>, label, COUNTERS[name], () => new CounterCell());
  }

  histogram(name: HistogramName, label = ''): Histogram {
    const cells = this.#histograms.get(name) as Map<string, HistogramCell>;
    const described = HISTOGRAMS[name];
    return cellOf(cells, label, described, () => new HistogramCell(described.bounds));
  }

  gauge(name: GaugeName, read: () => number | undefined, label = ''): { stop(): void } {
    const readers = this.#gauges.get(name) as Map<string, () => number | undefined>;
    const key = boundedLabel(readers, label, GAUGE_HELP[name]);
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
    // A counter that exists from the start, at 0, can be used in an alarm.
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
    const cells = new Map<string, HistogramCell>();
    this.#histograms.set(name, cells);
    const { help, bounds, label } = HISTOGRAMS[name] as Described & { readonly bounds: readonly number[] };
    if (!label) cells.set('', new HistogramCell(bounds));
    this.#register('histogram', name, help, () =>
      [...cells].flatMap(([key, cell]) => cell.series(name, labelled(label, key))),
    );
  }

  /** The registry only calls `get` of a metric; its type requires one of prom-client's classes. */
  #register(type: string, name: string, help: string, values: () => Series[]): void {
    const metric = { name, help, type, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }) };
    this.registry.registerMetric(metric as unknown as prom.Metric);
  }
}

interface Described {
  readonly help: string;
  readonly label?: string;
}

/** A gauge that cannot be read must not fail the whole page. */
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

function labelled(names: string | undefined, label: string): Record<string, string> {
  if (!names) return {};
  const values = label.split(' ');
  return Object.fromEntries(names.split(' ').map((name, at) => [name, values[at] ?? 'other']));
}

/** Returns the same handle each time (ME2). */
function cellOf<Cell>(cells: Map<string, Cell>, label: string, described: Described, make: () => Cell): Cell {
  const known = cells.get(label);
  if (known !== undefined) return known;
  const key = boundedLabel(cells, label, described);
  const cell = cells.get(key) ?? make();
  cells.set(key, cell);
  return cell;
}

/** A label above the bound counts as `other` (ME3); with several labels, each does. */
function boundedLabel(known: ReadonlyMap<string, unknown>, label: string, { label: names }: Described): string {
  if (known.has(label) || known.size < MAX_SERIES) return label;
  return (names ?? '').split(' ').fill('other').join(' ');
}
