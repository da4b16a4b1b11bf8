/** What a database was used for: now, this month, and over a period that is chosen. */
import type { Operations } from '#api';
import { useAsk } from '../../../api/ask.js';
import { manage } from '../../../api/call.js';
import { usePageQuery } from '../../../api/query.js';
import { Chart, type ChartProps } from '../../../parts/chart.js';
import { bytes, duration, short, whole } from '../../../parts/format.js';
import { Shown } from '../../../parts/states.js';

const PERIODS = ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const;
const REFRESH_MS = 30_000;

type Stats = Operations['GET /v2/kv/stats/{id}'];
type Points = Stats['throughput'];

export function Statistics({ id }: { readonly id: string }) {
  const [query, set] = usePageQuery();
  const period = PERIODS.find((one) => one === query.period) ?? '1h';
  const asked = useAsk(
    `${id} ${period}`,
    (signal) => manage('GET /v2/kv/stats/{id}', { path: { id }, query: { period }, signal }),
    REFRESH_MS,
  );
  return (
    <section class="stack db-statistics" aria-label="Statistics">
      <div class="row">
        <label class="row">
          <span class="muted">Period</span>
          <select
            class="db-period"
            value={period}
            onChange={({ currentTarget }) => set({ period: currentTarget.value })}
          >
            {PERIODS.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
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
    <div class="db-figures">
      {figures.map(([name, figure, note]) => (
        <div key={name} class="card">
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
    { title: 'Commands a second', series: seriesOf(['reads', stats.read], ['writes', stats.write]) },
    { title: 'Latency', series: seriesOf(['mean', stats.latencymean], ['99 %', stats.latency_99]), format: ms },
    { title: 'Hits and misses a second', series: seriesOf(['hits', stats.hits], ['misses', stats.misses]) },
    { title: 'Data', series: seriesOf(['bytes', stats.diskusage]), format: bytes },
    { title: 'Keys', series: seriesOf(['keys', stats.keyspace]) },
    { title: 'Connections', series: seriesOf(['connections', stats.connection_count]) },
  ];
  const times = stats.read.map(({ x }) => momentOf(x));
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
  return series.map(([label, points]) => ({ label, values: points.map(({ y }) => y) }));
}

/** Moments come as `2026-11-24 13:04:00.000 +0000 UTC`. */
function momentOf(text: string): number {
  return Date.parse(text.replace(' ', 'T').replace(/ .*$/, 'Z'));
}
