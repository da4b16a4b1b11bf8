#!/usr/bin/env node
/**
 * Writes the Grafana dashboards of this folder, from the tables below: a panel is a title, a unit, and expressions with
 * their legends. `--check` writes no file, and fails if a file would change.
 *
 * test/integration/serve/dashboards.test.ts evaluates every expression with the data of a real process.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const COLUMNS = 24;
const WIDTH = 12;
const HEIGHT = 8;

/** Selects the processes that are chosen on the page. */
const of = (name, ...labels) => `${name}{${['instance=~"$instance"', ...labels].join(',')}}`;
const rate = (name, ...labels) => `rate(${of(name, ...labels)}[$__rate_interval])`;
const sum = (by, expression) => `sum by (${by}) (${expression})`;
const quantile = (share, name, by, ...labels) =>
  `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (${rate(`${name}_bucket`, ...labels)}))`;
const latencies = (name, ...labels) =>
  [0.5, 0.99].map((share) => [quantile(share, name, [], ...labels), `p${share * 100}`]);
/** Streams of events end with their readers. */
const ANSWERS = 'route!~"monitor|subscribe|psubscribe"';

const DASHBOARDS = {
  overview: {
    title: 'Millrace: overview',
    panels: [
      ['Ready', 'none', [[of('millrace_ready'), '{{instance}}']]],
      ['Version', 'none', [[sum('version', of('millrace_build_info')), '{{version}}']]],
      ['HTTP requests a second', 'reqps', [[sum('face', rate('millrace_http_requests_total')), '{{face}}']]],
      ['Answers by status', 'reqps', [[sum('status', rate('millrace_http_requests_total')), '{{status}}']]],
      ['p99 of HTTP requests', 's', [[quantile(0.99, 'millrace_http_request_seconds', ['face'], ANSWERS), '{{face}}']]],
      ['Connections', 'short', [[sum('face', of('millrace_connections')), '{{face}}']]],
      ['Processor', 'percentunit', [[rate('process_cpu_seconds_total'), '{{instance}}']]],
      [
        'Memory',
        'bytes',
        [
          [of('process_resident_memory_bytes'), 'resident {{instance}}'],
          [of('nodejs_heap_size_used_bytes'), 'heap {{instance}}'],
          [of('millrace_heap_limit_bytes'), 'heap limit {{instance}}'],
        ],
      ],
      ['Event loop: longest delay', 's', [[of('millrace_event_loop_delay_seconds', 'stat="max"'), '{{instance}}']]],
      ['Garbage collection', 'percentunit', [[rate('millrace_gc_seconds_total'), '{{instance}}']]],
      [
        'What requests hold',
        'bytes',
        [
          [of('millrace_request_bytes'), '{{instance}}'],
          [of('millrace_request_limit_bytes'), 'limit {{instance}}'],
        ],
      ],
      ['Failed sign-ins a second', 'ops', [[sum('face', rate('millrace_sign_ins_failed_total')), '{{face}}']]],
    ],
  },
  kv: {
    title: 'Millrace: databases',
    panels: [
      [
        'REST requests by route',
        'reqps',
        [[sum('route', rate('millrace_http_requests_total', 'face="kv"')), '{{route}}']],
      ],
      [
        'REST answers by status',
        'reqps',
        [[sum('status', rate('millrace_http_requests_total', 'face="kv"')), '{{status}}']],
      ],
      ['REST latency', 's', latencies('millrace_http_request_seconds', 'face="kv"', ANSWERS)],
      ['Native protocol: commands', 'ops', [[sum('result', rate('millrace_resp_commands_total')), '{{result}}']]],
      ['Native protocol: latency', 's', latencies('millrace_resp_batch_seconds')],
      ['Connections', 'short', [[sum('face', of('millrace_connections', 'face=~"kv|resp"')), '{{face}}']]],
      [
        'Keys and values in memory',
        'bytes',
        [
          [of('millrace_data_bytes'), '{{instance}}'],
          [of('millrace_data_limit_bytes'), 'limit {{instance}}'],
        ],
      ],
      ['Refused before they ran', 'ops', [[sum('code', rate('millrace_commands_refused_total')), '{{code}}']]],
    ],
  },
  queue: {
    title: 'Millrace: queue',
    panels: [
      [
        'Messages',
        'short',
        [
          [`sum(${of('millrace_queue_messages')}) - sum(${of('millrace_queue_dead_letters')})`, 'waiting'],
          [`sum(${of('millrace_deliveries_in_flight')})`, 'in flight'],
          [`sum(${of('millrace_queue_dead_letters')})`, 'dead letters'],
          [`sum(${of('millrace_queue_schedules')})`, 'schedules'],
        ],
      ],
      ['Events a second', 'ops', [[sum('type', rate('millrace_queue_events_total')), '{{type}}']]],
      [
        'Deliveries by outcome',
        'ops',
        [
          [sum('outcome', rate('millrace_deliveries_total')), '{{outcome}}'],
          [`sum(${rate('millrace_deliveries_retried_total')})`, 'of them retries'],
        ],
      ],
      ['Delivery latency', 's', latencies('millrace_delivery_seconds')],
      ['Due and not started for', 's', [[`max by (shard) (${of('millrace_queue_lag_seconds')})`, '{{shard}}']]],
      [
        'Requests by route',
        'reqps',
        [[sum('route', rate('millrace_http_requests_total', 'face="queue"')), '{{route}}']],
      ],
      ['Request latency', 's', latencies('millrace_http_request_seconds', 'face="queue"')],
      ['Refused: an account is full', 'ops', [[`sum(${rate('millrace_queue_refused_total')})`, 'refused']]],
      [
        'Memory of messages',
        'bytes',
        [
          [of('millrace_queue_memory_bytes'), '{{instance}}'],
          [of('millrace_queue_memory_limit_bytes'), 'limit {{instance}}'],
          [of('millrace_queue_body_bytes'), 'bodies {{instance}}'],
        ],
      ],
      [
        'Name lookups',
        'ops',
        [
          [sum('outcome', rate('millrace_name_lookups_total')), '{{outcome}}'],
          [`sum(${rate('millrace_name_cache_hits_total')})`, 'known'],
        ],
      ],
      [
        'Intakes',
        'ops',
        [
          [`sum(${rate('millrace_intake_told_total')})`, 'told'],
          [`sum(${rate('millrace_intake_taken_total')})`, 'taken'],
        ],
      ],
      ['Records by shard', 'short', [[`max by (shard) (${of('millrace_queue_records')})`, '{{shard}}']]],
    ],
  },
  workflows: {
    title: 'Millrace: workflows',
    panels: [
      ['Runs', 'short', [[sum('state', of('millrace_runs')), '{{state}}']]],
      ['Steps that wait for an event', 'short', [[`sum(${of('millrace_run_waiters')})`, 'waiting']]],
      [
        'Events of runs a second',
        'ops',
        [[sum('type', rate('millrace_queue_events_total', 'type=~"Run.*"')), '{{type}}']],
      ],
      [
        'Requests by route',
        'reqps',
        [[sum('route', rate('millrace_http_requests_total', 'route=~"/v2/workflows/.*"')), '{{route}}']],
      ],
      ['Calls to endpoints', 'ops', [[sum('outcome', rate('millrace_deliveries_total')), '{{outcome}}']]],
    ],
  },
  journal: {
    title: 'Millrace: journal and read models',
    panels: [
      ['Entries a second', 'ops', [[`sum(${rate('millrace_entries_appended_total')})`, 'entries']]],
      ['Effects', 'ops', [[`sum(${rate('millrace_entry_effects_total')})`, 'effects']]],
      ['Time to store', 's', latencies('millrace_append_ack_seconds')],
      ['Size of entries', 'bytes', latencies('millrace_entry_size_bytes')],
      ['Bytes a second', 'Bps', [[`sum(${rate('millrace_entry_bytes_total')})`, 'effects']]],
      [
        'Appends in doubt',
        'ops',
        [
          [`sum(${rate('millrace_append_unknown_total')})`, 'sent again'],
          [`sum(${rate('millrace_append_refused_total')})`, 'refused'],
        ],
      ],
      ['Work of one turn', 's', latencies('millrace_turn_seconds')],
      ['Mailboxes', 'short', [[`max by (shard) (${of('millrace_mailbox_commands')})`, '{{shard}}']]],
      ['Mailboxes', 'bytes', [[`max by (shard) (${of('millrace_mailbox_bytes')})`, '{{shard}}']]],
      [
        'Age of the newest snapshot',
        's',
        [[`time() - max by (shard) (${of('millrace_snapshot_timestamp_seconds')})`, '{{shard}}']],
      ],
      ['Snapshots', 'ops', [[`sum(${rate('millrace_snapshots_total')})`, 'snapshots']]],
      ['Last verified', 's', [[`time() - max(${of('millrace_verify_timestamp_seconds')})`, 'ago']]],
      [
        'Behind',
        's',
        [
          [`max(${of('millrace_read_model_behind_seconds')})`, 'logs and lists'],
          [`max(${of('millrace_statistics_behind_seconds')})`, 'statistics'],
          [`max(${of('millrace_search_behind_seconds')})`, 'search'],
        ],
      ],
      ['Answers that were behind', 'ops', [[sum('model', rate('millrace_stale_answers_total')), '{{model}}']]],
      ['Disk by part', 'bytes', [[`max by (part) (${of('millrace_disk_bytes')})`, '{{part}}']]],
      ['Disk free', 'bytes', [[of('millrace_disk_free_bytes'), '{{instance}}']]],
    ],
  },
  cluster: {
    title: 'Millrace: cluster',
    panels: [
      ['Shards by process', 'short', [[sum('instance', of('millrace_shard_owned')), '{{instance}}']]],
      ['Takeovers', 'ops', [[sum('instance', rate('millrace_takeovers_total')), '{{instance}}']]],
      ['From a claim to serving', 's', latencies('millrace_replay_seconds')],
      ['NATS connections', 'short', [[of('millrace_nats_connected'), '{{instance}} {{link}}']]],
      ['NATS reconnects', 'ops', [[sum('instance', rate('millrace_nats_reconnects_total')), '{{instance}}']]],
      ['Clock ahead of the others', 's', [[of('millrace_clock_ahead_seconds'), '{{instance}}']]],
      [
        'Clocks',
        'short',
        [
          [of('millrace_clock_in_doubt'), 'in doubt {{instance}}'],
          [of('millrace_clock_owns_nothing'), 'owns nothing {{instance}}'],
          [rate('millrace_clock_jumps_total'), 'jumps {{instance}}'],
        ],
      ],
      ['Epochs', 'short', [[`max by (shard) (${of('millrace_shard_epoch')})`, '{{shard}}']]],
    ],
  },
};

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const VARIABLES = [
  { name: 'datasource', type: 'datasource', query: 'prometheus' },
  {
    name: 'instance',
    type: 'query',
    datasource: DATASOURCE,
    query: 'label_values(millrace_build_info, instance)',
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  },
];

function panelOf([title, unit, expressions], at) {
  return {
    id: at + 1,
    type: 'timeseries',
    title,
    datasource: DATASOURCE,
    gridPos: { x: (at * WIDTH) % COLUMNS, y: Math.floor((at * WIDTH) / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: expressions.map(([expr, legendFormat], nth) => ({
      refId: String.fromCharCode(65 + nth),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

/** One line for each panel, so that a change of one panel changes one line. */
function textOf(name, { title, panels }) {
  const page = {
    uid: `millrace-${name}`,
    title,
    tags: ['millrace'],
    schemaVersion: 39,
    time: { from: 'now-1h', to: 'now' },
    refresh: '30s',
    templating: { list: VARIABLES },
  };
  const lines = Object.entries(page).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`);
  const shown = panels.map((panel, at) => `    ${JSON.stringify(panelOf(panel, at))}`).join(',\n');
  return ['{', ...lines, '  "panels": [', shown, '  ]', '}', ''].join('\n');
}

for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  const file = join(here, `${name}.json`);
  const text = textOf(name, dashboard);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`infra/dashboards/${name}.json is not what its table says: run \`make docs\`\n`);
    process.exitCode = 1;
  }
}
