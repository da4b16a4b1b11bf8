/** Usage of a database: current, this month, and over a selected period. */
import type { Operations } from '#api';
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { timesOf, valuesOf } from '../../../api/points.js';
import { Chart, type ChartProps } from '../../../parts/chart.js';
import { bytes, duration, short, whole } from '../../../parts/format.js';
import { PeriodChoice, usePeriod } from '../../../parts/period-choice.js';
import { Shown } from '../../../parts/states.js';

const REFRESH_MS = 30_000;

type Stats = Operations['GET /v2/kv/stats/{id}'];
type Points = Stats['throughput'];

export function StatisticsCard({ id }: { readonly id: string }) {
  const period = usePeriod();
  const asked = useAsk(
    `${id} ${period}`,
    (signal) => manage('GET /v2/kv/stats/{id}', { path: { id }, query: { period }, signal }),
    REFRESH_MS,
  );
  return (
    <section class="stack" aria-label="Statistics">
      <PeriodChoice />
      <Shown asked={asked} rows={6}>
        {(stats) => (
          <>
            <Figures stats={stats} />
            <Charts stats={stats} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Figures({ stats }: { readonly stats: Stats }) {
  const figures = [
    ['Keys', whole(stats.keyspace.at(-1)?.y ?? 0), 'now'],
    ['Data', bytes(stats.current_storage), 'now'],
    ['Connections', whole(stats.connection_count.at(-1)?.y ?? 0), 'now'],
    ['Commands today', short(stats.daily_net_commands), `${short(stats.daily_write_requests)} of them writes`],
    ['Commands this month', short(stats.total_monthly_requests), `${short(stats.total_monthly_write_requests)} writes`],
    ['Traffic this month', bytes(stats.total_monthly_bandwidth), `would cost $${stats.total_monthly_billing}`],
  ] as const;
  return (
    <div class="figures">
      {figures.map(([name, figure, note]) => (
        <div key={name} class="card figure-card">
          <div class="small muted">{name}</div>
          <div class="figure">{figure}</div>
          <div class="small muted">{note}</div>
        </div>
      ))}
    </div>
  );
}

function Charts({ stats }: { readonly stats: Stats }) {
  const ms = (value: number) => duration(value);
  const charts: readonly Omit<ChartProps, 'times'>[] = [
    { title: 'Commands a second', series: seriesOf(['reads', stats.read], ['writes', stats.write]), isStacked: true },
    { title: 'Latency', series: seriesOf(['mean', stats.latencymean], ['99 %', stats.latency_99]), format: ms },
    {
      title: 'Hits and misses a second',
      series: seriesOf(['hits', stats.hits], ['misses', stats.misses]),
      isStacked: true,
    },
    { title: 'Data', series: seriesOf(['bytes', stats.diskusage]), format: bytes },
    { title: 'Keys', series: seriesOf(['keys', stats.keyspace]) },
    { title: 'Connections', series: seriesOf(['connections', stats.connection_count]) },
  ];
  const times = timesOf(stats.read);
  return (
    <div class="grid wide">
      {charts.map((chart) => (
        <section key={chart.title} class="card">
          <Chart {...chart} times={times} height={140} />
        </section>
      ))}
    </div>
  );
}

function seriesOf(...series: readonly (readonly [label: string, points: Points])[]): ChartProps['series'] {
  return series.map(([label, points]) => ({ label, values: valuesOf(points) }));
}
