/** Usage of an index: figures of today and of the month, charts over a period, and its labels. */
import { useMemo } from 'preact/hooks';
import { useAsk } from '../../api/ask.js';
import { timesOf, valuesOf } from '../../api/points.js';
import { Chart } from '../../parts/chart.js';
import { bytes, duration, perSecond, short } from '../../parts/format.js';
import { LabelsCard } from '../../parts/labels.js';
import { PeriodChoice, usePeriod } from '../../parts/period-choice.js';
import { Shown } from '../../parts/states.js';
import type { IndexPlane, IndexUsage } from './plane.js';

const EVERY_MS = 15_000;

export interface IndexStatisticsProps {
  readonly plane: IndexPlane;
  readonly id: string;
}

export function IndexStatistics({ plane, id }: IndexStatisticsProps) {
  const period = usePeriod();
  const asked = useAsk(`usage ${plane.href} ${id} ${period}`, (signal) => plane.usage(id, period, signal), EVERY_MS);
  return (
    <div class="stack">
      <PeriodChoice />
      <Shown asked={asked} rows={6}>
        {(statistics) => (
          <>
            <Figures plane={plane} statistics={statistics} />
            <Charts plane={plane} statistics={statistics} />
          </>
        )}
      </Shown>
      <LabelsCard kind="index" id={id} />
    </div>
  );
}

interface UsageProps {
  readonly plane: IndexPlane;
  readonly statistics: IndexUsage;
}

function Figures({ plane, statistics: one }: UsageProps) {
  const figures: readonly (readonly [label: string, value: string, note: string])[] = [
    [
      `${capital(plane.item)}s`,
      short(one.current_vector_count),
      `${short(one.pending_index_count)} not found by queries yet`,
    ],
    ['Stored', bytes(one.storage_usage), `ids and ${plane.item}s`],
    ['Queries today', short(one.daily_query_count), `${short(one.monthly_query_count)} this month`],
    ['Updates today', short(one.daily_update_count), `${short(one.monthly_update_count)} this month`],
    ...(plane.item === 'document'
      ? [['Reranks today', short(one.daily_rerank_count), `${short(one.monthly_rerank_count)} this month`] as const]
      : []),
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

function Charts({ plane, statistics }: UsageProps) {
  const charts = useMemo(() => chartsOf(plane, statistics), [plane, statistics]);
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

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function chartsOf({ item }: IndexPlane, one: IndexUsage) {
  const times = timesOf(one.query_throughput);
  const values = (name: keyof IndexUsage) => valuesOf(one[name] as IndexUsage['vector_count']);
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
    {
      title: `${capital(item)}s`,
      times,
      format: short,
      series: [{ label: `${item}s`, values: values('vector_count') }],
    },
    { title: 'Stored', times, format: bytes, series: [{ label: 'bytes', values: values('data_size') }] },
  ];
}
