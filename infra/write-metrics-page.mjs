#!/usr/bin/env node
/**
 * Writes docs/operations/metrics.md: every metric of a process, as `src/ports/metrics.ts` declares it. `--check` writes no
 * file, and fails if the page would change. Needs `make build`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COUNTERS, GAUGE_HELP, HISTOGRAMS } from '../dist/src/ports/metrics.js';

const page = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs', 'operations', 'metrics.md');

const table = (metrics) => [
  '',
  '| metric | labels | meaning |',
  '| --- | --- | --- |',
  ...Object.keys(metrics)
    .sort()
    .map((name) => `| \`${name}\` | ${(metrics[name].label ?? '').replaceAll(' ', ', ')} | ${metrics[name].help} |`),
];

const written = `${[
  '# Metrics',
  '',
  'Written by `make docs` from `src/ports/metrics.ts`. Each process answers `/metrics` on the port of',
  '`MILLRACE_METRICS_PORT`; if `MILLRACE_METRICS_TOKEN` is set, the request needs `Authorization: Bearer …`. Names and units',
  'follow the conventions of Prometheus, and `promtool check metrics` reports no error.',
  '',
  'Values of labels are endpoints (`face`), declared routes, statuses, shards and outcomes, and never data of a tenant. The',
  'numbers of one database, queue or search index are in the [statistics](statistics.md). For a shard of another process',
  'a metric is zero or has no sample.',
  '',
  '## Dashboards and alerts',
  '',
  '`infra/dashboards` has six Grafana dashboards (`overview`, `kv`, `queue`, `workflows`, `journal`, `cluster`): import',
  'the JSON files and choose the data source. `rules.yml` has the alerts; the `runbook_url` of each is a path in this',
  'repository to its section of [alarms](alarms.md). With Prometheus:',
  '',
  '```yaml',
  'rule_files: [infra/dashboards/rules.yml]',
  'scrape_configs:',
  '  - job_name: millrace',
  '    scrape_interval: 15s',
  "    static_configs: [{ targets: ['127.0.0.1:7400'] }] # the host and port of $MILLRACE_METRICS_URL",
  '```',
  '',
  '## Counters',
  ...table(COUNTERS),
  '',
  '`millrace_http_requests_total` has the status 499 for requests that were ended by the client before the answer.',
  '`millrace_resp_commands_total` counts commands that reached a partition, and those refused or failed before. Commands',
  'about the connection itself (`PING`, `SUBSCRIBE`, …) are not counted.',
  '',
  '## Gauges',
  ...table(GAUGE_HELP),
  '',
  '## Histograms',
  ...table(HISTOGRAMS),
  '',
  '## Of the process',
  '',
  '`millrace_event_loop_delay_seconds{stat}` is the delay of the event loop since the last scrape (`p50`, `p99`, `max`).',
  '`millrace_gc_seconds_total` and `millrace_gc_longest_pause_seconds` are the time in garbage collection.',
  '`millrace_heap_limit_bytes` is the limit of the heap of the main thread. Names that begin with `process_` and',
  '`nodejs_` are the usual ones of Node.js programs.',
].join('\n')}\n`;
if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (readFileSync(page, 'utf8') !== written) {
  process.stderr.write('docs/operations/metrics.md is not what the sources say: run `make docs`\n');
  process.exitCode = 1;
}
