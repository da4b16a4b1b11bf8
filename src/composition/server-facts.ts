/** What INFO and TIME tell about this process. Names are Redis's own where the thing is the same. */
import { human, type ServerFacts } from '../domain/kv/index.js';
import type { Clock } from '../ports/index.js';
import { VERSION } from './version.js';

/** The protocol level clients decide features by. */
export const REDIS_VERSION = '8.2.0';

/** What is known only once the faces listen. */
export interface FaceFacts {
  readonly host: string;
  readonly port: number;
  readonly maxClients: number;
  /** Open connections of the native protocol. */
  connections(): number;
  /** Accepted since the start. */
  accepted(): number;
}

type Fields = ReadonlyMap<string, string>;

export class ProcessFacts implements ServerFacts {
  readonly #startedAtMs: number;
  #peakBytes = 0;
  /** Undefined in a process without the native protocol. */
  face: FaceFacts | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly runId: string,
  ) {
    this.#startedAtMs = clock.nowMs();
  }

  nowMicros(): number {
    return Math.round(this.clock.nowMs() * 1000);
  }

  info(): ReadonlyMap<string, Fields> {
    return new Map<string, Fields>([
      ['server', this.#server()],
      ['clients', this.#clients()],
      ['memory', this.#memory()],
      ['persistence', PERSISTENCE],
      ['stats', new Map([['total_connections_received', String(this.face?.accepted() ?? 0)]])],
      ['replication', this.#replication()],
      ['cpu', processorTimes()],
      ['modules', new Map()],
      ['cluster', new Map([['cluster_enabled', '0']])],
    ]);
  }

  #server(): Fields {
    const nowMs = this.clock.nowMs();
    const uptimeSeconds = Math.floor((nowMs - this.#startedAtMs) / 1000);
    const fields: [string, string][] = [
      ['redis_version', REDIS_VERSION],
      ['redis_git_sha1', '00000000'],
      ['redis_git_dirty', '0'],
      ['redis_mode', 'standalone'],
      ['os', `${process.platform} ${process.arch}`],
      ['arch_bits', '64'],
      ['monotonic_clock', 'POSIX clock_gettime'],
      ['multiplexing_api', 'epoll'],
      ['process_id', String(process.pid)],
      ['run_id', this.runId],
      ['server_time_usec', String(this.nowMicros())],
      ['uptime_in_seconds', String(uptimeSeconds)],
      ['uptime_in_days', String(Math.floor(uptimeSeconds / 86_400))],
      ['hz', '10'],
      ['configured_hz', '10'],
      ['lru_clock', String(Math.floor(nowMs / 1000) & 0xffffff)],
      ['executable', process.execPath],
      ['config_file', ''],
      ['millrace_version', VERSION],
    ];
    if (this.face !== undefined) {
      fields.push(['tcp_port', String(this.face.port)], ['tcp_host', this.face.host]);
    }
    return new Map(fields);
  }

  #clients(): Fields {
    return new Map([
      ['connected_clients', String(this.face?.connections() ?? 0)],
      ['maxclients', String(this.face?.maxClients ?? 0)],
    ]);
  }

  #memory(): Fields {
    const { heapUsed, rss } = process.memoryUsage();
    this.#peakBytes = Math.max(this.#peakBytes, heapUsed);
    return new Map([
      ['used_memory', String(heapUsed)],
      ['used_memory_human', human(heapUsed)],
      ['used_memory_rss', String(rss)],
      ['used_memory_rss_human', human(rss)],
      ['used_memory_peak', String(this.#peakBytes)],
      ['used_memory_peak_human', human(this.#peakBytes)],
      ['mem_fragmentation_ratio', (rss / heapUsed).toFixed(2)],
      ['mem_allocator', 'v8'],
    ]);
  }

  #replication(): Fields {
    return new Map([
      ['role', 'master'],
      ['connected_slaves', '0'],
      ['master_failover_state', 'no-failover'],
      ['master_replid', this.runId],
      ['master_repl_offset', '0'],
    ]);
  }
}

/** Every write is journaled before it is answered: nothing waits to be saved. */
const PERSISTENCE: Fields = new Map([
  ['loading', '0'],
  ['async_loading', '0'],
  ['rdb_changes_since_last_save', '0'],
  ['rdb_bgsave_in_progress', '0'],
  ['rdb_last_bgsave_status', 'ok'],
  ['aof_enabled', '1'],
  ['aof_rewrite_in_progress', '0'],
  ['aof_rewrite_scheduled', '0'],
  ['aof_last_write_status', 'ok'],
]);

function processorTimes(): Fields {
  const { user, system } = process.cpuUsage();
  return new Map([
    ['used_cpu_sys', (system / 1e6).toFixed(6)],
    ['used_cpu_user', (user / 1e6).toFixed(6)],
  ]);
}
