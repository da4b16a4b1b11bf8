/**
 * The metrics of the process. Names and help texts are declared here; they are API for monitoring. Labels never contain
 * data of a tenant (a database, a key, an address). With several labels, `label` has their names, and a handle's label
 * their values, separated by spaces. Promises:
 *
 *  ME1 `add` and `observe` are a few additions on plain numbers: they do not allocate or throw, and are fit for the
 *      hot path; text is made on request
 *  ME2 the handle for a name and label is always the same, so it can be fetched once and kept
 *  ME3 the labels of one name are bounded in number: those above `MAX_SERIES` count as `other`
 */

export const COUNTERS = {
  millrace_entries_appended_total: { help: 'Entries that the journal acknowledged.' },
  millrace_entry_effects_total: { help: 'Effects of commands in acknowledged entries.' },
  millrace_entry_bytes_total: { help: 'Bytes of effects in acknowledged entries.' },
  millrace_append_unknown_total: { help: 'Appends with an unknown outcome that were sent again.' },
  millrace_append_refused_total: { help: 'Appends refused because another owner had written.' },
  millrace_commands_refused_total: { help: 'Commands that were refused and not run, by error code.', label: 'code' },
  millrace_forwarded_requests_total: {
    help: 'Requests that this process has sent to the owner of a shard in another process, by plane.',
    label: 'plane',
  },
  millrace_placement_moves_total: { help: 'Shards that this process has moved to even out the work of processes.' },
  millrace_takeovers_total: { help: 'Shards that this process has claimed.' },
  millrace_clock_jumps_total: { help: 'Jumps of the wall clock against the monotonic one, suspensions included.' },
  millrace_snapshots_total: { help: 'Snapshots that were made and verified.' },
  millrace_http_requests_total: {
    help: 'Answered HTTP requests, by endpoint, declared route and status. A request without a declared route has the route none.',
    label: 'face route status',
  },
  millrace_resp_commands_total: {
    help: 'Commands of the native protocol, by outcome: answered by a partition, refused earlier, or failed.',
    label: 'result',
  },
  millrace_queue_events_total: {
    help: 'Events of the queue, by type: messages accepted, attempted, delivered or given up, and events of runs.',
    label: 'type',
  },
  millrace_deliveries_retried_total: { help: 'Calls to destinations that were retries.' },
  millrace_nats_reconnects_total: {
    help: 'Reconnections to NATS, by purpose.',
    label: 'link',
  },
  millrace_deliveries_total: { help: 'Calls to destinations that have ended, by outcome.', label: 'outcome' },
  millrace_stale_answers_total: {
    help: 'Responses of read models that were older than requested, by model.',
    label: 'model',
  },
  millrace_name_lookups_total: {
    help: 'Lookups of names of destinations that have ended, by outcome.',
    label: 'outcome',
  },
  millrace_name_cache_hits_total: { help: 'Name lookups of destinations that were answered from the cache.' },
  millrace_sign_ins_failed_total: {
    help: 'Sign-ins with invalid credentials or above the limit, by endpoint.',
    label: 'face',
  },
  millrace_queue_refused_total: { help: 'Calls refused because the account is at its limit of waiting messages.' },
  millrace_intake_told_total: { help: 'Messages that were stored in the intake because the owner did not answer.' },
  millrace_trace_spans_exported_total: { help: 'Spans of traces that the collector accepted.' },
  millrace_trace_spans_dropped_total: {
    help: 'Spans of traces that were lost: the queue was full, or the collector did not accept them.',
    label: 'reason',
  },
  millrace_intake_taken_total: { help: 'Messages that an owner took over from its intake.' },
  millrace_backup_bytes_total: { help: 'Bytes of rounds that were copied to the place of backups.' },
  millrace_backup_failures_total: { help: 'Failed attempts to copy to the place of backups.' },
} as const;

export const GAUGE_HELP = {
  millrace_build_info: { help: '1: the running version.', label: 'version' },
  millrace_ready: { help: '1: /readyz says that this process is ready.' },
  millrace_nats_connected: { help: '1: a connection to NATS is open, by purpose.', label: 'link' },
  millrace_connections: { help: 'Open client connections, by endpoint.', label: 'face' },
  millrace_snapshot_timestamp_seconds: {
    help: 'Unix time of the newest snapshot of a shard that this process owns.',
    label: 'shard',
  },
  millrace_verify_timestamp_seconds: {
    help: 'Unix time of the last verification of the whole journal by this process.',
  },
  millrace_verify_fine: { help: '1: the last verification of the journals found no damage.' },
  millrace_mailbox_commands: { help: 'Commands waiting in the mailbox of a shard.', label: 'shard' },
  millrace_mailbox_bytes: { help: 'Bytes waiting in the mailbox of a shard.', label: 'shard' },
  millrace_shard_load: { help: 'The part of a core that the turns of the shard take at this process.', label: 'shard' },
  millrace_shard_owned: { help: '1: this process owns the shard and serves it.', label: 'shard' },
  millrace_shard_stopped: {
    help: '1: this process has stopped the shard, because its journal is in doubt.',
    label: 'shard',
  },
  millrace_shard_epoch: { help: 'Epoch of a shard that this process owns.', label: 'shard' },
  millrace_shard_position: { help: 'Last journal position of a shard that this process owns.', label: 'shard' },
  millrace_clock_ahead_seconds: {
    help: 'How far the clock of the machine is ahead of the time that this process uses.',
  },
  millrace_clock_journal_ahead_seconds: {
    help: 'How far the clock of a claimed journal is ahead of the time that this process uses.',
  },
  millrace_clock_in_doubt: {
    help: '1: millrace_clock_ahead_seconds or millrace_clock_journal_ahead_seconds exceeds MILLRACE_CLOCK_SKEW_MS.',
  },
  millrace_clock_owns_nothing: { help: '1: this process owns no shards because of its clock.' },
  millrace_deliveries_in_flight: { help: 'Attempts that were started and have not ended.' },
  millrace_delivery_answer_bytes: { help: 'Bytes of long responses of destinations that are being read.' },
  millrace_name_lookups_in_flight: { help: 'Names of destinations that are being looked up.' },
  millrace_queue_records: { help: 'Messages, DLQ entries and other records of a shard of the queue.', label: 'shard' },
  millrace_queue_lag_seconds: {
    help: 'For how long a shard has had more messages due than it could start.',
    label: 'shard',
  },
  millrace_outbox_messages: { help: 'Messages of databases of this process that the queue has not accepted yet.' },
  millrace_outbox_lag_seconds: { help: 'Age of the oldest of these messages.' },
  millrace_triggers: { help: 'Journals that this process reads for triggers.' },
  millrace_trigger_lag_seconds: {
    help: 'Age of the oldest change that a trigger has read and the queue has not accepted.',
  },
  millrace_index_documents: { help: 'Documents in full-text indexes of databases of this process.' },
  millrace_index_pending_changes: {
    help: 'Changed keys that the full-text indexes of this process have not read yet, and keys of an index being built.',
  },
  millrace_index_bytes: { help: 'Memory of the full-text indexes of this process.' },
  millrace_queue_body_bytes: { help: 'Bodies of messages in memory.' },
  millrace_queue_messages: { help: 'Waiting messages and DLQ entries of all accounts owned by this process.' },
  millrace_queue_dead_letters: { help: 'DLQ entries of all accounts owned by this process.' },
  millrace_queue_schedules: { help: 'Schedules of all accounts owned by this process.' },
  millrace_runs: { help: 'Workflow runs of all accounts owned by this process, by state.', label: 'state' },
  millrace_queue_stopped_destinations: { help: 'Destinations with an open or disabled circuit breaker.' },
  millrace_run_waiters: { help: 'Steps of runs that wait for an event.' },
  millrace_queue_bytes: { help: 'Bytes of bodies, headers and URLs of waiting messages, in memory and on disk.' },
  millrace_queue_memory_bytes: { help: 'Memory used by waiting messages, without bodies.' },
  millrace_queue_memory_limit_bytes: { help: 'The limit of millrace_queue_memory_bytes.' },
  millrace_read_model_behind_positions: { help: 'Messages of the journals that the read models have not folded yet.' },
  millrace_read_model_behind_seconds: { help: 'The lag of the read model of the slowest shard.' },
  millrace_statistics_behind_positions: {
    help: 'Messages of the journals and of the meter that the statistics have not counted yet.',
  },
  millrace_statistics_behind_seconds: { help: 'The lag of the statistics of the slowest journal.' },
  millrace_search_behind_positions: { help: 'Messages of the journals that the search indexes do not have yet.' },
  millrace_search_behind_seconds: { help: 'The lag of the search indexes of the slowest shard.' },
  millrace_search_documents: { help: 'Documents in the search indexes of this process.' },
  millrace_data_bytes: {
    help: 'Bytes of keys and values of databases in the memory of this process, as counted for limits.',
  },
  millrace_data_limit_bytes: { help: 'The limit of millrace_data_bytes.' },
  millrace_request_bytes: {
    help: 'Bytes of requests and responses in flight in this process, as counted for limits.',
  },
  millrace_request_limit_bytes: { help: 'The limit of millrace_request_bytes.' },
  millrace_disk_bytes: {
    help: 'Bytes that a part of the installation, or of the data directory, holds.',
    label: 'part',
  },
  millrace_disk_free_bytes: { help: 'Free bytes of the file system that the data directory is on.' },
  millrace_disk_size_bytes: { help: 'The size of the file system that the data directory is on.' },
  millrace_backup_age_seconds: {
    help: 'Age of the newest write that may be missing at the place of backups, in the process that owns the control state.',
  },
  millrace_backup_full_age_seconds: { help: 'Age of the newest full backup at the place of backups.' },
  millrace_audit_export_lag_seconds: {
    help: 'Age of the oldest note of the audit log that is not exported, in the process that owns the control state.',
    label: 'place',
  },
  millrace_journal_total_bytes: { help: 'The limit of the bytes of all journals together.' },
  millrace_journal_excess_bytes: { help: 'Bytes of all journals together above millrace_journal_total_bytes.' },
} as const;

/** Bounds are upper and inclusive, in the unit at the end of the name. */
export const HISTOGRAMS = {
  millrace_http_request_seconds: {
    help: 'From the head of an HTTP request to the end of its response, by endpoint and declared route.',
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    label: 'face route',
  },
  millrace_resp_batch_seconds: {
    help: 'From asking partitions for the commands of a client that arrived together to their answers.',
    bounds: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },
  millrace_entry_size_bytes: {
    help: 'Effects of one entry that the journal acknowledged.',
    bounds: [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304],
  },
  millrace_append_ack_seconds: {
    help: 'From sending an entry to its acknowledgement.',
    bounds: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  },
  millrace_turn_seconds: {
    help: 'Synchronous work of one turn.',
    bounds: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1],
  },
  millrace_delivery_seconds: {
    help: 'From sending a call to a destination to its outcome.',
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
  },
  millrace_stale_answer_seconds: {
    help: 'The lag of read-model responses that were older than requested.',
    bounds: [1, 2, 5, 10, 30, 60, 300, 900, 3600, 86_400],
  },
  millrace_replay_seconds: {
    help: 'From claiming a shard to serving it.',
    bounds: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16],
  },
} as const;

export type CounterName = keyof typeof COUNTERS;
export type GaugeName = keyof typeof GAUGE_HELP;
export type HistogramName = keyof typeof HISTOGRAMS;

/** Series of one name; commands have about 250 kinds, and a plane has at most 256 shards. */
export const MAX_SERIES = 1024;

export interface Counter {
  /** Adds 1, or `count`. */
  add(count?: number): void;
}

export interface Histogram {
  /** In the unit at the end of the name. */
  observe(value: number): void;
}

export interface Metrics {
  counter(name: CounterName, label?: string): Counter;
  histogram(name: HistogramName, label?: string): Histogram;
  /**
   * `read` is called on request; undefined: unknown at that moment, and the sample is omitted. A second gauge with the
   * same name and label replaces the first.
   */
  gauge(name: GaugeName, read: () => number | undefined, label?: string): { stop(): void };
}

/** The present counters and gauges: a number, or one for each label. Unknown values are omitted. */
export type MetricReadings = Readonly<
  Partial<Record<CounterName | GaugeName, number | Readonly<Record<string, number>>>>
>;

export interface MeasuredProcess {
  readings(): MetricReadings;
}

/** The limited kinds of memory, with the gauges of their use and limit. */
export const MEMORY_PARTS = [
  ['keys and values', 'millrace_data_bytes', 'millrace_data_limit_bytes'],
  ['waiting messages', 'millrace_queue_memory_bytes', 'millrace_queue_memory_limit_bytes'],
  ['requests', 'millrace_request_bytes', 'millrace_request_limit_bytes'],
] as const;

/** Read models, with the gauges of their lag in seconds. */
export const LAGGING_MODELS = [
  ['lists and logs', 'millrace_read_model_behind_seconds'],
  ['statistics', 'millrace_statistics_behind_seconds'],
  ['search indexes', 'millrace_search_behind_seconds'],
] as const;

/** The largest value of all labels; 0 without data. */
export function largestReading(readings: MetricReadings, name: CounterName | GaugeName): number {
  const found = readings[name] ?? 0;
  return typeof found === 'number' ? found : Math.max(0, ...Object.values(found));
}

/** Metrics without effect, for unmonitored processes. */
export const UNWATCHED: Metrics = {
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  gauge: () => ({ stop: () => undefined }),
};

/** For gauges; undefined stays undefined. */
export function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
