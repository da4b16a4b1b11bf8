/** Usage of a search database: figures of today and of the month, and charts over a period. */
import { useMemo } from 'preact/hooks';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { timesOf, valuesOf } from '../../api/points.js';
import { Chart } from '../../parts/chart.js';
import { bytes, duration, perSecond, short } from '../../parts/format.js';
import { PeriodChoice, usePeriod } from '../../parts/period-choice.js';
import { Shown } from '../../parts/states.js';
import type { SearchStatistics } from './search-databases.js';

const EVERY_MS = 15_000;

export function IndexStatistics({ id }: { readonly id: string }) {
  const period = usePeriod();
  const asked = useAsk(
    `search statistics ${id} ${period}`,
    (signal) => manage('GET /v2/search/{id}/stats', { path: { id }, query: { period }, signal }),
    EVERY_MS,
  );
  return (
    <div class="stack">
      <PeriodChoice />
      <Shown asked={asked} rows={6}>
        {(statistics) => (
          <>
            <Figures statistics={statistics} />
            <Charts statistics={statistics} />
          </>
        )}
      </Shown>
    </div>
  );
}

interface Props {
  readonly statistics: SearchStatistics;
}

function Figures({ statistics: one }: Props) {
  const figures: readonly (readonly [label: string, value: string, note: string])[] = [
    ['Documents', short(one.current_vector_count), `${short(one.pending_index_count)} not found by queries yet`],
    ['Stored', bytes(one.storage_usage), 'ids and documents'],
    ['Queries today', short(one.daily_query_count), `${short(one.monthly_query_count)} this month`],
    ['Updates today', short(one.daily_update_count), `${short(one.monthly_update_count)} this month`],
    ['Reranks today', short(one.daily_rerank_count), `${short(one.monthly_rerank_count)} this month`],
    ['Traffic this month', bytes(one.monthly_bandwidth_usage), `$${one.monthly_cost.toFixed(2)}`],
  ];
  return (
    <div class="grid search-figures">
      {figures.map(([label, value, note]) => (
        <div key={label} class="card">
          <div class="small muted">{label}</div>
          <div class="figure">{value}</div>
          <div class="small muted">{note}</div>
        </div>
      ))}
    </div>
  );
}

function Charts({ statistics }: Props) {
  const charts = useMemo(() => chartsOf(statistics), [statistics]);
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

function chartsOf(one: SearchStatistics) {
  const times = timesOf(one.query_throughput);
  const values = (name: keyof SearchStatistics) => valuesOf(one[name] as SearchStatistics['vector_count']);
  return [
    {
      title: 'Requests',
      times,
      format: perSecond,
      series: [
        { label: 'queries', values: values('query_throughput') },
        { label: 'updates', values: values('update_throughput') },
      ],
    },
    {
      title: 'Latency of queries',
      times,
      format: duration,
      series: [
        { label: 'mean', values: values('query_latency_mean') },
        { label: 'p99', values: values('query_latency_99') },
      ],
    },
    {
      title: 'Latency of updates',
      times,
      format: duration,
      series: [
        { label: 'mean', values: values('update_latency_mean') },
        { label: 'p99', values: values('update_latency_99') },
      ],
    },
    { title: 'Documents', times, format: short, series: [{ label: 'documents', values: values('vector_count') }] },
    { title: 'Stored', times, format: bytes, series: [{ label: 'bytes', values: values('data_size') }] },
  ];
}
