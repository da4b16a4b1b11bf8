/** The record of a database, and its current limits. */
import type { ComponentChildren } from 'preact';
import { bytes, duration, limit } from '../../../parts/format.js';
import { Time } from '../../../parts/time.js';
import type { DatabaseView } from '../records.js';

const NS_PER_MS = 1e6;
const NO_LIMIT = 1e12;

export function DatabaseRecord({ database }: { readonly database: DatabaseView }) {
  return (
    <div class="grid wide">
      <section class="card">
        <h2>About</h2>
        <FactList rows={factsOf(database)} />
      </section>
      <section class="card">
        <h2>Limits</h2>
        <FactList rows={limitsOf(database)} />
      </section>
    </div>
  );
}

type Rows = readonly (readonly [name: string, value: ComponentChildren])[];

function FactList({ rows }: { readonly rows: Rows }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

function factsOf(database: DatabaseView): Rows {
  const { read_regions: readRegions, allowed_ip_ranges: allowed } = database;
  return [
    ['Id', <code key="id">{database.database_id}</code>],
    ['Made', <Time key="made" at={database.creation_time * 1_000} />],
    ['Plan', database.database_type],
    ['Budget a month', database.budget === 0 ? 'no limit' : `$${database.budget}`],
    ['Region', database.primary_region || database.region],
    ['Read regions', readRegions.length === 0 ? 'none' : readRegions.join(', ')],
    ['Partitions', database.cluster ? `${database.partitions}, in cluster mode` : String(database.partitions)],
    [
      'Eviction',
      database.eviction ? 'on: keys are removed when it is full' : 'off: writes are refused when it is full',
    ],
    ['Automatic upgrade', database.auto_upgrade ? 'on: at a limit of its plan it gets the next one' : 'off'],
    [
      'Daily backup',
      database.daily_backup_enabled ? <Time key="next" at={database.next_daily_backup_time * 1_000} /> : 'off',
    ],
    ['Allowed addresses', allowed.length === 0 ? 'all' : allowed.join(', ')],
    [
      'TLS',
      location.protocol === 'https:' ? 'on, at all endpoints' : 'off on this server: this page came without it, too',
    ],
  ];
}

function limitsOf(database: DatabaseView): Rows {
  return [
    ['Data', sizeLimit(database.db_disk_threshold)],
    ['Held in memory', sizeLimit(database.db_memory_threshold)],
    ['A key with its value', sizeLimit(database.db_max_entry_size)],
    ['A request', sizeLimit(database.db_max_request_size)],
    ['Commands a second', limit(database.db_max_commands_per_second)],
    ['Commands a day', limit(database.db_request_limit)],
    ['Traffic a day', sizeLimit(database.db_daily_bandwidth_limit)],
    ['Connections', limit(database.db_max_clients)],
    ['An idle connection', duration(database.db_conn_idle_timeout / NS_PER_MS)],
    ['A script', duration(database.db_lua_timeout / NS_PER_MS)],
  ];
}

/** Terabytes may be a limit; only a far larger number means no limit. */
function sizeLimit(value: number): string {
  return value >= NO_LIMIT * 100 ? 'no limit' : bytes(value);
}
