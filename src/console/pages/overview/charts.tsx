/** Charts of the account's usage over a period. */
import { useMemo } from 'preact/hooks';
import type { Schemas } from '#api';
import { queryText } from '../../api/call.js';
import { timesOf, valuesOf } from '../../api/points.js';
import { Chart, type ChartProps } from '../../parts/chart.js';
import { bytes, duration, perSecond } from '../../parts/format.js';
import type { Overview } from './overview-data.js';

type Points = readonly Schemas['Point'][];

type OneChart = Omit<ChartProps, 'height'>;

/** The series of a chart, and how they are drawn. */
interface Plan extends Pick<ChartProps, 'format' | 'isStacked' | 'hrefOf'> {
  /** The series of the period before; their sum is drawn. Undefined: none. */
  readonly before?: readonly Points[] | undefined;
}

export function Charts({ overview }: { readonly overview: Overview }) {
  const charts = useMemo(() => chartsOf(overview), [overview]);
  return (
    <div class="grid wide">
      {charts.map((chart) => (
        <div key={chart.title} class="card">
          <Chart {...chart} />
        </div>
      ))}
    </div>
  );
}

function chartsOf({ kv, queueStats, before }: Overview): OneChart[] {
  const was = before?.kv;
  const ofDatabases: OneChart[] = [
    chart(
      'Commands',
      { read: kv.read, write: kv.write },
      {
        format: perSecond,
        isStacked: true,
        before: was && [was.read, was.write],
      },
    ),
    chart(
      'Latency',
      { mean: kv.latencymean, p99: kv.latency_99 },
      {
        format: duration,
        before: was && [was.latency_99],
      },
    ),
    chart(
      'Hits and misses',
      { hits: kv.hits, misses: kv.misses },
      {
        format: perSecond,
        isStacked: true,
        before: was && [was.hits, was.misses],
      },
    ),
    chart('Bandwidth', { bytes: kv.bandwidth }, { format: bytes, before: was && [was.bandwidth] }),
  ];
  if (queueStats === undefined) return ofDatabases;
  const { daily_msgq_messages, daily_workflow_messages } = queueStats;
  const delivered = before?.queueStats?.daily_msgq_messages.filter(({ id }) => DELIVERED.test(id));
  return [
    ...ofDatabases,
    chart('Messages', named(daily_msgq_messages), {
      hrefOf: messagesBetween,
      before: delivered?.map(({ data_points }) => data_points),
    }),
    chart('Workflows', named(daily_workflow_messages)),
  ];
}

const DELIVERED = /deliver/i;

/** The list of messages with an event in a step of the chart. */
function messagesBetween(fromMs: number, toMs: number): string {
  const [fromDate, toDate] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
  return `/console/queue${queryText({ fromDate, toDate })}`;
}

/** Omits series of zeros, unless all are. */
function named(series: readonly Schemas['MetricSeries'][]): Record<string, Points> {
  const some = series.filter(({ data_points }) => data_points.some(({ y }) => y > 0));
  const shown = (some.length > 0 ? some : series).slice(0, 5);
  return Object.fromEntries(shown.map(({ id, data_points }) => [id.replaceAll('_', ' ').toLowerCase(), data_points]));
}

function chart(title: string, points: Readonly<Record<string, Points>>, { before, ...plan }: Plan = {}): OneChart {
  const series = Object.entries(points).map(([label, one]) => ({ label, values: valuesOf(one) }));
  const times = timesOf(Object.values(points)[0] ?? []);
  return { title, times, series, before: before && summed(before, times.length), ...plan };
}

function summed(series: readonly Points[], length: number): number[] | undefined {
  if (series.length === 0 || series.some((points) => points.length !== length)) return undefined;
  return Array.from({ length }, (_, at) => series.reduce((sum, points) => sum + (points[at]?.y ?? 0), 0));
}
