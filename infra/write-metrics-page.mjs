#!/usr/bin/env node
/**
 * Writes docs/operations/metrics.md: every metric of a process, as `src/ports/metrics.ts` declares it. `--check` writes
 * nothing and fails when the page is not what it would write. Needs `make build`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COUNTERS, GAUGE_HELP, HISTOGRAMS } from '../dist/src/ports/metrics.js';

const page = join(dirname(fileURLToPath(import.meta.url)), '..', 'docs', 'operations', 'metrics.md');

const table = (metrics) => [
  '',
  '| metric | labels | what it is |',
  '| --- | --- | --- |',
  ...Object.keys(metrics)
    .sort()
    .map((name) => `| \`${name}\` | ${(metrics[name].label ?? '').replaceAll(' ', ', ')} | ${metrics[name].help} |`),
];

const written = `${[
  '# Metrics',
  '',
  'Written by `make docs` from `src/ports/metrics.ts`. Each process answers `/metrics` on the port of',
  '`MILLRACE_METRICS_PORT`, to whoever sends `Authorization: Bearer …` where `MILLRACE_METRICS_TOKEN` is set. Names and',
  'units are by the conventions of Prometheus; `promtool check metrics` finds nothing.',
  '',
  'Labels are names of ours: faces, declared routes, statuses, shards, outcomes. What a tenant chooses is never one; the',
  'numbers of one database, queue or search index are in the [statistics](statistics.md). Of a shard that another process',
  'owns there are zeros, or no sample.',
  '',
  '## Dashboards and alerts',
  '',
  '`infra/dashboards` has six Grafana dashboards (`overview`, `kv`, `queue`, `workflows`, `journal`, `cluster`): import',
  'the JSON files and choose the data source. `rules.yml` beside them has the alerts, each with the section of',
  '[alarms](alarms.md) that says what to do (`runbook_url`, a path in this repository). With Prometheus:',
  '',
  '```yaml',
  'rule_files: [infra/dashboards/rules.yml]',
  'scrape_configs:',
  '  - job_name: millrace',
  '    scrape_interval: 15s',
  "    static_configs: [{ targets: ['127.0.0.1:7400'] }]",
  '```',
  '',
  '## Counters',
  ...table(COUNTERS),
  '',
  '`millrace_http_requests_total` has the status 499 for clients that went before there was an answer.',
  '`millrace_resp_commands_total` has what reached a partition, and what was refused or failed on the way there; commands',
  'about the connection itself (`PING`, `SUBSCRIBE`, …) are not in it.',
  '',
  '## Gauges',
  ...table(GAUGE_HELP),
  '',
  '## Histograms',
  ...table(HISTOGRAMS),
  '',
  '## Of the process',
  '',
  '`millrace_event_loop_delay_seconds{stat}` is how late the event loop was since the last scrape (`p50`, `p99`, `max`),',
  '`millrace_gc_seconds_total` and `millrace_gc_longest_pause_seconds` are the time in garbage collection,',
  '`millrace_heap_limit_bytes` is how large the heap of the main thread may get. Names that begin with `process_` and',
  '`nodejs_` are those of every Node.js program.',
].join('\n')}\n`;
if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (readFileSync(page, 'utf8') !== written) {
  process.stderr.write('docs/operations/metrics.md is not what the sources say: run `make docs`\n');
  process.exitCode = 1;
}
