/** The current figures in a row, each with a link to its source. */
import { lastOf, sumOf, valuesOf } from '../../api/points.js';
import { bytes, counted, duration, short } from '../../parts/format.js';
import { Sparkline, type SparklineProps } from '../../parts/sparkline.js';
import { DEAD_LETTERS, FAILED_RUNS } from './attention.js';
import type { Overview } from './overview-data.js';

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly href: string;
  /** The figure over the period. */
  readonly line?: SparklineProps;
}

function Figure({ label, value, note, href, line }: FigureProps) {
  return (
    <a class="card figure-card" href={href}>
      <span class="muted small">{label}</span>
      <span class="figure">{value}</span>
      <span class="muted small">{note}</span>
      {line !== undefined && <Sparkline {...line} />}
    </a>
  );
}

export function Figures({ overview, period }: { readonly overview: Overview; readonly period: string }) {
  return (
    <div class="figures">
      <OfDatabases overview={overview} />
      <OfTheRest overview={overview} period={period} />
    </div>
  );
}

function OfDatabases({ overview: { kv, uses, databases } }: { readonly overview: Overview }) {
  const all = [...uses.values()];
  const total = (field: 'current_keys' | 'current_storage' | 'current_connections') =>
    all.reduce((sum, use) => sum + use[field], 0);
  const hits = sumOf(kv.hits);
  const found = hits + sumOf(kv.misses);
  const href = '/console/databases';
  return (
    <>
      <Figure
        label="Commands"
        value={`${short(lastOf(kv.throughput) ?? 0)}/s`}
        note={`${short(lastOf(kv.read) ?? 0)} read, ${short(lastOf(kv.write) ?? 0)} write`}
        href={href}
        line={{ values: valuesOf(kv.throughput) }}
      />
      <Figure
        label="Latency, p99"
        value={duration(lastOf(kv.latency_99) ?? 0)}
        note={`mean ${duration(lastOf(kv.latencymean) ?? 0)}${found === 0 ? '' : ` · ${Math.round((100 * hits) / found)} % hits`}`}
        href={href}
        line={{ values: valuesOf(kv.latency_99) }}
      />
      <Figure
        label="Keys"
        value={short(total('current_keys'))}
        note={`${bytes(total('current_storage'))} in ${counted(databases.length, 'database')}`}
        href={href}
      />
      <Figure
        label="Connections"
        value={short(total('current_connections'))}
        note="of the native protocol"
        href={href}
      />
    </>
  );
}

/** Omits data that could not be loaded. */
function OfTheRest({
  overview: { queueStats, dead, searches },
  period,
}: {
  readonly overview: Overview;
  readonly period: string;
}) {
  const delivered = queueStats?.daily_msgq_messages.find(({ id }) => /deliver/i.test(id));
  const failedOnes = queueStats?.daily_msgq_messages.find(({ id }) => /^failed/i.test(id));
  return (
    <>
      {queueStats !== undefined && (
        <Figure
          label="Delivered"
          value={short(sumOf(delivered?.data_points ?? []))}
          note={`messages in ${period}`}
          href="/console/queue?state=delivered"
          line={{ values: valuesOf(delivered?.data_points ?? []), tone: 'good' }}
        />
      )}
      {dead !== undefined && (
        <Figure
          label="Dead letters"
          value={short(dead.letters.total)}
          note="messages that wait for a decision"
          href={DEAD_LETTERS}
          line={{ values: valuesOf(failedOnes?.data_points ?? []), tone: 'bad' }}
        />
      )}
      {dead !== undefined && (
        <Figure
          label="Failed runs"
          value={short(dead.runs.total)}
          note="workflows that wait for a decision"
          href={FAILED_RUNS}
        />
      )}
      {searches !== undefined && (
        <Figure
          label="Documents"
          value={short(searches.record_count)}
          note={`${short(searches.request)} search requests this month`}
          href="/console/search"
        />
      )}
    </>
  );
}
