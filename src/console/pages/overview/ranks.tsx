/** The failing destinations, the slowest workflows and the largest databases, the worst first. */
import type { ComponentChildren } from 'preact';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { ofQueue, queryText } from '../../api/call.js';
import { mayUseData } from '../../api/session.js';
import { bytes, counted, duration } from '../../parts/format.js';
import { Shown } from '../../parts/states.js';
import type { Overview } from './overview-data.js';

const REFRESH_MS = 30_000;
const SHOWN = 5;
/** The newest failed attempts and runs that are grouped. */
const MAX_ATTEMPTS = 200;
const MAX_RUNS = 100;

interface Rank {
  readonly name: string;
  readonly href: string;
  readonly value: number;
  readonly text: string;
}

export function Ranks({ overview }: { readonly overview: Overview }) {
  const { account } = overview;
  const databases = largestDatabases(overview);
  return (
    <div class="grid">
      {account !== undefined && mayUseData.value && (
        <>
          <FailingDestinations account={account} />
          <StoppedDestinations account={account} />
          <SlowestWorkflows account={account} />
        </>
      )}
      <RankCard title="Largest databases" ranks={databases} none="No database has data yet." />
    </div>
  );
}

function FailingDestinations({ account }: { readonly account: string }) {
  const asked = useAsk(`failing ${account}`, (signal) => failingDestinations(account, signal), REFRESH_MS);
  return (
    <Shown asked={asked}>
      {(ranks) => (
        <RankCard title="Failing destinations" ranks={ranks} tone="bad" none="No attempt has failed recently.">
          {`Of the newest ${MAX_ATTEMPTS} failed attempts`}
        </RankCard>
      )}
    </Shown>
  );
}

/** Shown only while there are some. */
function StoppedDestinations({ account }: { readonly account: string }) {
  const query = { state: 'open,disabled' };
  const asked = useAsk(
    `stopped ${account}`,
    (signal) => ofQueue(account, 'GET /v2/destinations', { query, signal }),
    REFRESH_MS,
  );
  const stopped = asked.data?.destinations ?? [];
  if (stopped.length === 0) return null;
  const ranks = ranked(
    stopped.map(({ url, waiting }) => [url, waiting] as const),
    (url, waiting) => ({
      href: `/console/queue${queryText({ tab: 'destinations' })}`,
      text: `${counted(waiting, 'message')} waiting`,
      name: url,
    }),
  );
  return <RankCard title="Stopped destinations" ranks={ranks} tone="bad" none="No destination is stopped." />;
}

function SlowestWorkflows({ account }: { readonly account: string }) {
  const asked = useAsk(`slowest ${account}`, (signal) => slowestWorkflows(account, signal), REFRESH_MS);
  return (
    <Shown asked={asked}>
      {(ranks) => (
        <RankCard title="Slowest workflows" ranks={ranks} tone="info" none="No run has succeeded yet.">
          {`Mean of the newest ${MAX_RUNS} successful runs`}
        </RankCard>
      )}
    </Shown>
  );
}

interface RankCardProps {
  readonly title: string;
  readonly ranks: readonly Rank[];
  /** Shown for an empty list. */
  readonly none: string;
  readonly tone?: 'bad' | 'info';
  /** The source of the numbers. */
  readonly children?: ComponentChildren;
}

function RankCard({ title, ranks, none, tone, children }: RankCardProps) {
  const most = ranks[0]?.value ?? 0;
  return (
    <section class="card stack tight" aria-label={title}>
      <h2>{title}</h2>
      {ranks.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <>
          <ul class="plain-list rank-list">
            {ranks.map(({ name, href, value, text }) => (
              <li key={name}>
                <a class="cut" dir="auto" href={href} title={name}>
                  {name}
                </a>
                <span>{text}</span>
                <span class={`track ${tone ?? ''}`} aria-hidden="true">
                  <i style={{ width: `${(100 * value) / Math.max(most, 1)}%` }} />
                </span>
              </li>
            ))}
          </ul>
          {children !== undefined && <p class="small muted">{children}</p>}
        </>
      )}
    </section>
  );
}

async function failingDestinations(account: string, signal: AbortSignal): Promise<Rank[]> {
  const query = { state: 'ERROR', count: MAX_ATTEMPTS, trimBody: -1 };
  const { events } = (await ofQueue(account, 'GET /v2/logs', { query, signal })) as Schemas['EventPage'];
  const counts = new Map<string, number>();
  for (const { url } of events) {
    const { host } = new URL(url);
    // A mail has no host.
    if (host === '') continue;
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return ranked([...counts], (host, count) => ({
    href: `/console/queue${queryText({ url: host, state: 'retrying' })}`,
    text: counted(count, 'failed attempt'),
    name: host,
  }));
}

async function slowestWorkflows(account: string, signal: AbortSignal): Promise<Rank[]> {
  const query = { state: 'RUN_SUCCESS', count: MAX_RUNS, trimBody: 0 };
  const { runs } = await ofQueue(account, 'GET /v2/workflows/logs', { query, signal });
  const times = new Map<string, number[]>();
  for (const { workflowUrl, workflowRunCreatedAt, workflowRunCompletedAt } of runs) {
    if (workflowRunCompletedAt === undefined) continue;
    times.set(workflowUrl, [...(times.get(workflowUrl) ?? []), workflowRunCompletedAt - workflowRunCreatedAt]);
  }
  const means = [...times].map(([url, all]): [string, number] => [url, all.reduce((a, b) => a + b, 0) / all.length]);
  return ranked(means, (url, mean) => ({
    href: `/console/workflows${queryText({ url })}`,
    text: duration(Math.round(mean)),
    name: url.replace(/^https?:\/\//, ''),
  }));
}

function largestDatabases({ databases, uses }: Overview): Rank[] {
  const sizes = databases.map((database): [Overview['databases'][number], number] => [
    database,
    uses.get(database.database_id)?.current_storage ?? 0,
  ]);
  return ranked(
    sizes.filter(([, size]) => size > 0),
    ({ database_id, database_name }, size) => ({
      href: `/console/databases/${database_id}`,
      text: bytes(size),
      name: database_name,
    }),
  );
}

function ranked<T>(
  all: readonly (readonly [T, number])[],
  shown: (one: T, value: number) => Omit<Rank, 'value'>,
): Rank[] {
  return all
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([one, value]) => ({ ...shown(one, value), value }));
}
