/** The facts about this process in INFO and TIME. Fields that exist in Redis keep their names. */
import { human, Rate, type ScriptLimits, type ServerInfo } from '../../domain/kv/index.js';
import type { Clock, NativeEndpoint, ProcessReadings, RespCounts } from '../../ports/index.js';

/** The Redis version by which clients choose features. */
export const REDIS_VERSION = '8.2.0';

export interface ProcessInfoPorts {
  readonly clock: Clock;
  readonly readings: ProcessReadings;
  /** Undefined before RESP listens, and in a process without RESP. */
  endpoint(): NativeEndpoint | undefined;
  /** The format level in force. */
  formatLevel(): number;
}

export interface ProcessInfoOptions {
  readonly runId: string;
  /** The version of this program. */
  readonly version: string;
  readonly scripts: ScriptLimits;
  /** The time limit of one command. */
  readonly commandMs: number;
}

type Fields = ReadonlyMap<string, string>;

export class ProcessInfo implements ServerInfo {
  readonly #startedAtMs: number;
  readonly #inputPace = new Rate();
  readonly #outputPace = new Rate();
  #peakBytes = 0;
  #peakAtMs = 0;
  readonly scriptLimits: ScriptLimits;
  readonly commandMs: number;

  constructor(
    private readonly ports: ProcessInfoPorts,
    private readonly options: ProcessInfoOptions,
  ) {
    this.#startedAtMs = ports.clock.nowMs();
    this.scriptLimits = options.scripts;
    this.commandMs = options.commandMs;
  }

  nowMicros(): number {
    return Math.round(this.ports.clock.nowMs() * 1000);
  }

  workedMicros(): number {
    const { user, system } = this.ports.readings.processorTime();
    return user + system;
  }

  formatLevel(): number {
    return this.ports.formatLevel();
  }

  info(): ReadonlyMap<string, Fields> {
    const counts = this.ports.endpoint()?.counts();
    return new Map<string, Fields>([
      ['server', this.#server()],
      ['clients', this.#clients(counts)],
      ['memory', this.#memory(counts)],
      ['persistence', this.#persistence()],
      ['stats', this.#stats(counts)],
      ['replication', this.#replication()],
      ['cpu', this.#processor()],
      ['modules', new Map()],
      ['cluster', new Map([['cluster_enabled', '0']])],
    ]);
  }

  #server(): Fields {
    const { readings } = this.ports;
    const nowMs = this.ports.clock.nowMs();
    const uptimeSeconds = Math.floor((nowMs - this.#startedAtMs) / 1000);
    const fields: [string, string][] = [
      ['redis_version', REDIS_VERSION],
      ['redis_git_sha1', '00000000'],
      ['redis_git_dirty', '0'],
      ['redis_build_id', '0000000000000000'],
      ['redis_mode', 'standalone'],
      ['os', readings.platform],
      ['arch_bits', '64'],
      ['monotonic_clock', 'POSIX clock_gettime'],
      ['multiplexing_api', 'epoll'],
      ['process_id', String(readings.pid)],
      ['process_supervised', 'no'],
      ['run_id', this.options.runId],
      ['server_time_usec', String(this.nowMicros())],
      ['uptime_in_seconds', String(uptimeSeconds)],
      ['uptime_in_days', String(Math.floor(uptimeSeconds / 86_400))],
      ['hz', '10'],
      ['configured_hz', '10'],
      ['lru_clock', String(Math.floor(nowMs / 1000) & 0xffffff)],
      ['executable', readings.executable],
      ['config_file', ''],
      ['io_threads_active', '0'],
      ['millrace_version', this.options.version],
    ];
    const endpoint = this.ports.endpoint();
    if (endpoint !== undefined) {
      fields.push(['tcp_port', String(endpoint.port)], ['tcp_host', endpoint.host]);
      fields.push(['listener0', `name=tcp,bind=${endpoint.host},port=${endpoint.port}`]);
    }
    return new Map(fields);
  }

  #clients(counts: RespCounts | undefined): Fields {
    return new Map([
      ['connected_clients', String(counts?.connections ?? 0)],
      ['maxclients', String(this.ports.endpoint()?.maxClients ?? 0)],
      ['client_recent_max_input_buffer', String(counts?.largestInputBytes ?? 0)],
      ['client_recent_max_output_buffer', String(counts?.largestOutputBytes ?? 0)],
      ['tracking_clients', String(counts?.trackingClients ?? 0)],
      ['pubsub_clients', String(counts?.subscribers ?? 0)],
      ['watching_clients', String(counts?.watchingClients ?? 0)],
      ['total_watched_keys', String(counts?.watchedKeys ?? 0)],
      ['cluster_connections', '0'],
    ]);
  }

  #stats(counts: RespCounts | undefined): Fields {
    const nowMs = this.ports.clock.monotonicMs();
    const [input, output] = [counts?.inputBytes ?? 0, counts?.outputBytes ?? 0];
    this.#inputPace.note(nowMs, input);
    this.#outputPace.note(nowMs, output);
    const kilobytes = (pace: Rate, total: number) => (pace.perSecond(nowMs, total) / 1024).toFixed(2);
    return new Map([
      ['total_connections_received', String(counts?.accepted ?? 0)],
      ['rejected_connections', String(counts?.rejected ?? 0)],
      ['total_net_input_bytes', String(input)],
      ['total_net_output_bytes', String(output)],
      ['total_net_repl_input_bytes', '0'],
      ['total_net_repl_output_bytes', '0'],
      ['instantaneous_input_kbps', kilobytes(this.#inputPace, input)],
      ['instantaneous_output_kbps', kilobytes(this.#outputPace, output)],
      ['tracking_total_keys', String(counts?.trackedKeys ?? 0)],
      ['tracking_total_items', String(counts?.trackedItems ?? 0)],
      ['tracking_total_prefixes', String(counts?.trackedPrefixes ?? 0)],
      ['client_query_buffer_limit_disconnections', String(counts?.cutForInput ?? 0)],
      ['client_output_buffer_limit_disconnections', String(counts?.cutForOutput ?? 0)],
      ['acl_access_denied_auth', String(counts?.denied.auth ?? 0)],
      ['acl_access_denied_cmd', String(counts?.denied.command ?? 0)],
      ['acl_access_denied_key', String(counts?.denied.key ?? 0)],
      ['acl_access_denied_channel', String(counts?.denied.channel ?? 0)],
      ...NO_REPLICAS,
      ...NEVER,
    ]);
  }

  #memory(counts: RespCounts | undefined): Fields {
    const { machineBytes } = this.ports.readings;
    const { heapUsed, rss } = this.ports.readings.memory();
    if (heapUsed > this.#peakBytes) {
      this.#peakBytes = heapUsed;
      this.#peakAtMs = this.ports.clock.nowMs();
    }
    const rssOverHeap = (rss / heapUsed).toFixed(2);
    const rssBeyondHeap = String(rss - heapUsed);
    return new Map([
      ['used_memory', String(heapUsed)],
      ['used_memory_human', human(heapUsed)],
      ['used_memory_rss', String(rss)],
      ['used_memory_rss_human', human(rss)],
      ['used_memory_peak', String(this.#peakBytes)],
      ['used_memory_peak_human', human(this.#peakBytes)],
      ['used_memory_peak_time', String(Math.floor(this.#peakAtMs / 1000))],
      ['used_memory_peak_perc', `${((heapUsed / this.#peakBytes) * 100).toFixed(2)}%`],
      ['allocator_allocated', String(heapUsed)],
      ['allocator_active', String(heapUsed)],
      ['allocator_resident', String(rss)],
      ['allocator_muzzy', '0'],
      ['allocator_frag_ratio', '1.00'],
      ['allocator_frag_bytes', '0'],
      ['allocator_rss_ratio', rssOverHeap],
      ['allocator_rss_bytes', rssBeyondHeap],
      ['rss_overhead_ratio', '1.00'],
      ['rss_overhead_bytes', '0'],
      ['total_system_memory', String(machineBytes)],
      ['total_system_memory_human', human(machineBytes)],
      ['mem_fragmentation_ratio', rssOverHeap],
      ['mem_fragmentation_bytes', rssBeyondHeap],
      ['mem_replication_backlog', '0'],
      ['mem_total_replication_buffers', '0'],
      ['mem_replica_full_sync_buffer', '0'],
      ['mem_clients_slaves', '0'],
      ['mem_clients_normal', String(counts?.heldBytes ?? 0)],
      ['mem_aof_buffer', '0'],
      ['mem_cluster_links', '0'],
      ['active_defrag_running', '0'],
      ['mem_allocator', 'v8'],
    ]);
  }

  #processor(): Fields {
    const { user, system } = this.ports.readings.processorTime();
    return new Map([
      ['used_cpu_sys', (system / 1e6).toFixed(6)],
      ['used_cpu_user', (user / 1e6).toFixed(6)],
      ['used_cpu_sys_children', '0.000000'],
      ['used_cpu_user_children', '0.000000'],
    ]);
  }

  /** Every answered write is stored, so the last save is now, as in LASTSAVE. */
  #persistence(): Fields {
    return new Map([...PERSISTENCE, ['rdb_last_save_time', String(Math.floor(this.ports.clock.nowMs() / 1000))]]);
  }

  #replication(): Fields {
    return new Map([
      ['role', 'master'],
      ['connected_slaves', '0'],
      ['master_failover_state', 'no-failover'],
      ['master_replid', this.options.runId],
      ['master_replid2', '0'.repeat(40)],
      ['master_repl_offset', '0'],
      ['second_repl_offset', '-1'],
      ['repl_backlog_active', '0'],
      ['repl_backlog_size', '0'],
      ['repl_backlog_first_byte_offset', '0'],
      ['repl_backlog_histlen', '0'],
    ]);
  }
}

/** The journal replicates the data; databases have no replicas. */
const NO_REPLICAS: readonly [string, string][] = [
  ['sync_full', '0'],
  ['sync_partial_ok', '0'],
  ['sync_partial_err', '0'],
  ['instantaneous_input_repl_kbps', '0.00'],
  ['instantaneous_output_repl_kbps', '0.00'],
  ['slave_expires_tracked_keys', '0'],
];

/** Always zero: this process does not fork, migrate keys, defragment, use threads for sockets or evict clients. */
const NEVER: readonly [string, string][] = [
  ['latest_fork_usec', '0'],
  ['total_forks', '0'],
  ['migrate_cached_sockets', '0'],
  ['active_defrag_hits', '0'],
  ['active_defrag_misses', '0'],
  ['active_defrag_key_hits', '0'],
  ['active_defrag_key_misses', '0'],
  ['total_active_defrag_time', '0'],
  ['current_active_defrag_time', '0'],
  ['expired_stale_perc', '0.00'],
  ['expired_time_cap_reached_count', '0'],
  ['evicted_clients', '0'],
  ['total_eviction_exceeded_time', '0'],
  ['current_eviction_exceeded_time', '0'],
  ['unexpected_error_replies', '0'],
  ['io_threaded_reads_processed', '0'],
  ['io_threaded_writes_processed', '0'],
  ['io_threaded_total_prefetch_batches', '0'],
  ['io_threaded_total_prefetch_entries', '0'],
];

/** Every write is stored before it is answered, so no save is pending. */
const PERSISTENCE: Fields = new Map([
  ['loading', '0'],
  ['async_loading', '0'],
  ['rdb_changes_since_last_save', '0'],
  ['rdb_bgsave_in_progress', '0'],
  ['rdb_last_bgsave_status', 'ok'],
  ['aof_enabled', '1'],
  ['aof_rewrite_in_progress', '0'],
  ['aof_rewrite_scheduled', '0'],
  ['aof_last_bgrewrite_status', 'ok'],
  ['module_fork_in_progress', '0'],
  ['module_fork_last_cow_size', '0'],
  ['aof_last_write_status', 'ok'],
  ['current_cow_peak', '0'],
  ['current_cow_size', '0'],
  ['current_cow_size_age', '0'],
  ['current_fork_perc', '0.00'],
  ['current_save_keys_processed', '0'],
  ['current_save_keys_total', '0'],
  ['rdb_last_bgsave_time_sec', '-1'],
  ['rdb_current_bgsave_time_sec', '-1'],
  ['rdb_saves', '0'],
  ['rdb_saves_consecutive_failures', '0'],
  ['rdb_last_cow_size', '0'],
  ['rdb_last_load_keys_expired', '0'],
  ['rdb_last_load_keys_loaded', '0'],
  ['aof_last_rewrite_time_sec', '-1'],
  ['aof_current_rewrite_time_sec', '-1'],
  ['aof_rewrites', '0'],
  ['aof_rewrites_consecutive_failures', '0'],
  ['aof_last_cow_size', '0'],
  ['aof_pending_rewrite', '0'],
  ['aof_buffer_length', '0'],
  ['aof_pending_bio_fsync', '0'],
  ['aof_delayed_fsync', '0'],
]);
