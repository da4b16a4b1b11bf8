/**
 * What the process counts about itself. Names and help texts stand here, once: they are API of
 * whoever watches. Nothing of a tenant (a database, a key, an address) is ever a label. Where there are
 * several labels, `label` has their names, and a handle's label their values, with spaces between.
 *
 * Promises
 *  ME1 `add` and `observe` are a few additions on plain numbers: they allocate nothing, never throw
 *      and are fit for the hot path; text is made when somebody asks for it
 *  ME2 the handle for a name and label is the same one each time, so it can be fetched once and kept
 *  ME3 labels of one name are bounded in number: what comes beyond `MAX_SERIES` counts as `other`
 */

export const COUNTERS = {
  millrace_entries_appended_total: { help: 'Entries that the journal acknowledged.' },
  millrace_entry_effects_total: { help: 'Effects of commands in acknowledged entries.' },
  millrace_entry_bytes_total: { help: 'Bytes of effects in acknowledged entries.' },
  millrace_append_unknown_total: { help: 'Appends whose outcome had to be found out by sending them again.' },
  millrace_append_refused_total: { help: 'Appends refused because another owner had written.' },
  millrace_commands_refused_total: { help: 'Commands refused before anything ran, by error code.', label: 'code' },
  millrace_takeovers_total: { help: 'Shards that this process has claimed.' },
  millrace_clock_jumps_total: { help: 'Jumps of the wall clock against the monotonic one, suspensions included.' },
  millrace_snapshots_total: { help: 'Snapshots that were made and verified.' },
  millrace_http_requests_total: {
    help: 'HTTP requests that were answered, by face, declared route and status. Those of no route have the route none.',
    label: 'face route status',
  },
  millrace_resp_commands_total: {
    help: 'Commands of the native protocol that a partition answered, that were refused before, or whose asking failed.',
    label: 'result',
  },
  millrace_queue_events_total: {
    help: 'Events of the queue, by type: what was accepted, attempted, delivered, given up, and of runs.',
    label: 'type',
  },
  millrace_deliveries_retried_total: { help: 'Calls to destinations that were no first try.' },
  millrace_nats_reconnects_total: {
    help: 'Connections to NATS that were made again, by what they are for.',
    label: 'link',
  },
  millrace_deliveries_total: { help: 'Calls to destinations that have ended, by outcome.', label: 'outcome' },
  millrace_stale_answers_total: {
    help: 'Answers of read models that were behind what was asked for, by model.',
    label: 'model',
  },
  millrace_name_lookups_total: {
    help: 'Lookups of names of destinations that have ended, by outcome.',
    label: 'outcome',
  },
  millrace_name_cache_hits_total: { help: 'Names of destinations whose addresses, or lack of them, were known.' },
  millrace_sign_ins_failed_total: {
    help: 'Sign-ins with credentials that open nothing, or that came too often, by face.',
    label: 'face',
  },
  millrace_queue_refused_total: { help: 'Calls refused because their account has as much waiting as it may.' },
  millrace_intake_told_total: { help: 'Messages that were kept for an owner that did not answer.' },
  millrace_trace_spans_exported_total: { help: 'Spans of traces that the collector took.' },
  millrace_trace_spans_dropped_total: {
    help: 'Spans of traces that were lost: the queue was full, or the collector did not take them.',
    label: 'reason',
  },
  millrace_intake_taken_total: { help: 'Messages that an owner took over from its intake.' },
} as const;

export const GAUGE_HELP = {
  millrace_build_info: { help: '1: the version that runs.', label: 'version' },
  millrace_ready: { help: '1: /readyz says that this process is ready.' },
  millrace_nats_connected: { help: '1: a connection to NATS stands, by what it is for.', label: 'link' },
  millrace_connections: { help: 'Connections of clients that are open, by face.', label: 'face' },
  millrace_snapshot_timestamp_seconds: {
    help: 'When the newest snapshot of a shard that this process owns was made, since the epoch.',
    label: 'shard',
  },
  millrace_verify_timestamp_seconds: {
    help: 'When this process verified the whole journal for an operator last, since the epoch.',
  },
  millrace_verify_fine: { help: '1: nothing was found then.' },
  millrace_mailbox_commands: { help: 'Commands waiting in the mailbox of a shard.', label: 'shard' },
  millrace_mailbox_bytes: { help: 'Bytes waiting in the mailbox of a shard.', label: 'shard' },
  millrace_shard_owned: { help: '1: this process owns the shard and serves it.', label: 'shard' },
  millrace_shard_epoch: { help: 'Epoch of a shard that this process owns.', label: 'shard' },
  millrace_shard_position: { help: 'Last journal position of a shard that this process owns.', label: 'shard' },
  millrace_clock_ahead_seconds: { help: "How far the machine's clock is ahead of the time that this process goes by." },
  millrace_clock_journal_ahead_seconds: { help: 'How far the clock of a claimed journal is ahead of that time.' },
  millrace_clock_in_doubt: { help: '1: one of the two is more than MILLRACE_CLOCK_SKEW_MS.' },
  millrace_clock_owns_nothing: { help: '1: this process owns nothing because of its clock.' },
  millrace_deliveries_in_flight: { help: 'Attempts that were started and have not ended.' },
  millrace_delivery_answer_bytes: { help: 'What long answers of destinations take while they are read.' },
  millrace_name_lookups_in_flight: { help: 'Names of destinations that are being looked up.' },
  millrace_queue_records: { help: 'Messages, DLQ entries and other records of a shard of the queue.', label: 'shard' },
  millrace_queue_lag_seconds: {
    help: 'For how long a shard has had more messages due than it could start.',
    label: 'shard',
  },
  millrace_queue_body_bytes: { help: 'Bodies of messages in memory.' },
  millrace_queue_messages: { help: 'Messages that wait, entries of DLQs included, of all accounts owned here.' },
  millrace_queue_dead_letters: { help: 'Entries of DLQs of all accounts owned here.' },
  millrace_queue_schedules: { help: 'Schedules of all accounts owned here.' },
  millrace_runs: { help: 'Runs of workflows of all accounts owned here, by state.', label: 'state' },
  millrace_run_waiters: { help: 'Steps of runs that wait for an event.' },
  millrace_queue_bytes: { help: 'Their bodies, headers and URLs, wherever they are stored.' },
  millrace_queue_memory_bytes: { help: 'What they take of the memory, without bodies.' },
  millrace_queue_memory_limit_bytes: { help: 'How much of that there may be.' },
  millrace_read_model_behind_positions: { help: 'Messages of the journals that the read models have not folded yet.' },
  millrace_read_model_behind_seconds: { help: 'How far behind the read model of the slowest shard is.' },
  millrace_statistics_behind_positions: {
    help: 'Messages of the journals and of the meter that the statistics have not counted yet.',
  },
  millrace_statistics_behind_seconds: { help: 'How far behind the statistics of the slowest of them are.' },
  millrace_search_behind_positions: { help: 'Messages of the journals that the search indexes do not have yet.' },
  millrace_search_behind_seconds: { help: 'How far behind the search indexes of the slowest shard are.' },
  millrace_search_documents: { help: 'Documents in the search indexes of this process.' },
  millrace_data_bytes: { help: 'Keys and values of databases that this process has in memory, as they count.' },
  millrace_data_limit_bytes: { help: 'How much of that there may be.' },
  millrace_request_bytes: {
    help: 'What requests on their way and their answers hold in this process, as it is counted.',
  },
  millrace_request_limit_bytes: { help: 'How much of that there may be.' },
  millrace_disk_bytes: {
    help: 'Bytes that a part of the installation, or of the data directory, holds.',
    label: 'part',
  },
  millrace_disk_free_bytes: { help: 'Free bytes of the file system that the data directory is on.' },
  millrace_disk_size_bytes: { help: 'Bytes of that file system.' },
  millrace_journal_total_bytes: { help: 'What all journals together may hold.' },
  millrace_journal_excess_bytes: { help: 'What all journals together hold beyond that.' },
} as const;

/** Bounds are in the unit that the name ends with, upper and inclusive. */
export const HISTOGRAMS = {
  millrace_http_request_seconds: {
    help: 'From the head of an HTTP request to the end of its answer, by face and declared route.',
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
    help: 'How far behind those answers of read models were.',
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

/** Series of one name; commands have some 250 kinds, shards are at most 256 a plane. */
export const MAX_SERIES = 1024;

export interface Counter {
  /** One more, or `count` more. */
  add(count?: number): void;
}

export interface Histogram {
  /** In the unit that the name ends with. */
  observe(value: number): void;
}

export interface Metrics {
  counter(name: CounterName, label?: string): Counter;
  histogram(name: HistogramName, label?: string): Histogram;
  /**
   * `read` is called when somebody asks; undefined: not known at that moment, and the sample is left out.
   * A second one for the same name and label replaces the first.
   */
  gauge(name: GaugeName, read: () => number | undefined, label?: string): { stop(): void };
}

/** Counters and gauges at this moment: a number, or one for each label. What is not known is left out. */
export type MetricReadings = Readonly<
  Partial<Record<CounterName | GaugeName, number | Readonly<Record<string, number>>>>
>;

export interface MeasuredProcess {
  readings(): MetricReadings;
}

/** They serve whoever is not watched, and count nothing. */
export const UNWATCHED: Metrics = {
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
  gauge: () => ({ stop: () => undefined }),
};

/** Gauges want it; undefined stays so. */
export function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
