/**
 * `make bench`: runs the named benches, or all of them, prints their figures and targets, and keeps them in bench/results/
 * with the load of the machine.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { inspect } from 'node:util';
import { runAgainst } from './against.js';
import { branches } from './branches.js';
import { bullmqResp } from './bullmq-resp.js';
import { takeLastLines } from './child.js';
import { clusterDatabases } from './cluster-databases.js';
import { clusterFaults } from './cluster-faults.js';
import { clusterForwarded } from './cluster-forwarded.js';
import { clusterReplay } from './cluster-replay.js';
import { clusterReplicas } from './cluster-replicas.js';
import { collections } from './collections.js';
import { cores } from './cores.js';
import { coresIsolation } from './cores-isolation.js';
import { entries } from './entries.js';
import { entriesStreams } from './entries-streams.js';
import { type Bench, type BenchResult, lineOf } from './figures.js';
import { idle } from './idle.js';
import { memory } from './memory.js';
import { outbox } from './outbox.js';
import { queueDelayed } from './queue-delayed.js';
import { queueDrain } from './queue-drain.js';
import { queueFair } from './queue-fair.js';
import { queueLatency } from './queue-latency.js';
import { queuePublish } from './queue-publish.js';
import { resp } from './resp.js';
import { respSyncs } from './resp-syncs.js';
import { restart } from './restart.js';
import { search } from './search.js';
import { searchLive } from './search-live.js';
import { sized } from './sizes.js';
import { stalls } from './stalls.js';
import { statistics } from './statistics.js';
import { subscribers } from './subscribers.js';
import { throughput } from './throughput.js';
import { traces } from './traces.js';
import { vectors } from './vectors.js';
import { workflowSleeping } from './workflow-sleeping.js';
import { workflowSteps } from './workflow-steps.js';

const QUEUE_BENCHES = [queueDrain, queuePublish, queueLatency, queueDelayed, queueFair];
const BENCHES: readonly Bench[] = [
  ...[
    throughput,
    resp,
    respSyncs,
    bullmqResp,
    entries,
    entriesStreams,
    outbox,
    idle,
    memory,
    collections,
    restart,
    branches,
    stalls,
    subscribers,
  ],
  ...QUEUE_BENCHES,
  ...[workflowSteps, workflowSleeping],
  statistics,
  search,
  searchLive,
  vectors,
  traces,
  ...[clusterFaults, clusterReplay, clusterForwarded, clusterDatabases, clusterReplicas, cores, coresIsolation],
];
/** A checkout of another commit, built; `make bench AGAINST=<commit>` makes it. */
const AGAINST = process.env.BENCH_AGAINST;
/** `make bench-quick` shows that benches work: a failed one runs once more, and its first failure stays in the output. */
const MAX_TRIES = sized(1, 2);
const RESULTS_DIRECTORY = 'bench/results';
/** `1/2` runs the first, third … of the chosen benches: `make bench-quick` runs both halves at the same time. */
const [PART, PARTS] = (process.env.BENCH_PART ?? '1/1').split('/').map(Number) as [number, number];

const named = process.argv.slice(2);
const unknown = named.filter((name) => !BENCHES.some((bench) => isMeant(bench, name)));
if (unknown.length > 0) {
  print(`no such bench: ${unknown.join(', ')}. There are:`);
  for (const { name, summary } of BENCHES) print(`  ${name.padEnd(12)} ${summary}`);
  process.exit(1);
}

const startedAt = new Date();
const loadBefore = loadavg();
print(
  `node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, load ${loadBefore.map((load) => load.toFixed(1)).join(' ')}`,
);
const results: BenchResult[] = [];
const chosen = BENCHES.filter((bench) => named.length === 0 || named.some((name) => isMeant(bench, name)));
for (const bench of chosen.filter((_, at) => at % PARTS === PART - 1)) {
  print(`\n${bench.name}: ${bench.summary}`);
  let isMeasured = false;
  for (let tries = 0; tries < MAX_TRIES && !isMeasured; tries += 1) isMeasured = await measured(bench);
  if (!isMeasured) process.exitCode = 1;
}
await mkdir(RESULTS_DIRECTORY, { recursive: true });
const path = `${RESULTS_DIRECTORY}/${startedAt.toISOString().replaceAll(':', '-').slice(0, 19)}-${PART}.json`;
const record = {
  startedAt,
  node: process.version,
  processors: cpus().length,
  loadBefore,
  loadAfter: loadavg(),
  results,
};
await writeFile(path, `${JSON.stringify(record, undefined, 2)}\n`);
print(`\nwritten to ${path}`);
// A failed bench may have left timers and connections open.
process.exit();

/** Runs a bench and prints its figures, or why it failed. @returns false if it failed */
async function measured(bench: Bench): Promise<boolean> {
  const progress = (line: string) => print(`  ${line}`);
  try {
    const { figures, skipped } = await (AGAINST === undefined
      ? bench.run(progress)
      : runAgainst(bench, AGAINST, progress));
    results.push({ bench: bench.name, figures, skipped });
    print('');
    for (const figure of figures) print(lineOf(figure));
    for (const line of skipped) print(`  skipped ${line}`);
    return true;
  } catch (error) {
    for (const line of takeLastLines()) print(`    ${line}`);
    print(inspect(error));
    // One line, for the summary of .ci/run.
    const { message, cause } = error as Error;
    const reason = cause === undefined ? message : `${message} (${(cause as Error).message})`;
    print(`bench failed: ${bench.name}: ${reason.split('\n', 1)}`);
    return false;
  } finally {
    takeLastLines();
  }
}

/** A name selects the bench of that name and all benches that it is a prefix of: `queue`. */
function isMeant(bench: Bench, name: string): boolean {
  return bench.name === name || bench.name.startsWith(`${name}-`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
