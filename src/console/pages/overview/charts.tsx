/** Charts of the account's usage over a period. */
import { useMemo } from 'preact/hooks';
import type { Schemas } from '#api';
import { timesOf, valuesOf } from '../../api/points.js';
import { Chart, type Series } from '../../parts/chart.js';
import { bytes, duration, perSecond } from '../../parts/format.js';
import type { Overview } from './overview-data.js';

type Points = readonly Schemas['Point'][];

interface OneChart {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
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

function chartsOf({ kv, queueStats }: Overview): OneChart[] {
  const ofDatabases: OneChart[] = [
    chart(
      'Commands',
      [
        ['read', kv.read],
        ['write', kv.write],
      ],
      perSecond,
    ),
    chart(
      'Latency',
      [
        ['mean', kv.latencymean],
        ['p99', kv.latency_99],
      ],
      duration,
    ),
    chart(
      'Hits and misses',
      [
        ['hits', kv.hits],
        ['misses', kv.misses],
      ],
      perSecond,
    ),
    chart('Bandwidth', [['bytes', kv.bandwidth]], bytes),
  ];
  if (queueStats === undefined) return ofDatabases;
  const { daily_msgq_messages, daily_workflow_messages } = queueStats;
  return [
    ...ofDatabases,
    chart('Messages', named(daily_msgq_messages)),
    chart('Workflows', named(daily_workflow_messages)),
  ];
}

/** Omits series of zeros, unless all are. */
function named(series: readonly Schemas['MetricSeries'][]): [string, Points][] {
  const all = series.map(({ id, data_points }): [string, Points] => [
    id.replaceAll('_', ' ').toLowerCase(),
    data_points,
  ]);
  const some = all.filter(([, points]) => points.some(({ y }) => y > 0));
  return (some.length > 0 ? some : all).slice(0, 5);
}

function chart(
  title: string,
  series: readonly (readonly [string, Points])[],
  format?: (value: number) => string,
): OneChart {
  return {
    title,
    times: timesOf(series[0]?.[1] ?? []),
    series: series.map(([label, points]) => ({ label, values: valuesOf(points) })),
    ...(format !== undefined && { format }),
  };
}
