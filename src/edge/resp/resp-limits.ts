/** The limits of the RESP endpoint, with their reasons. The limits of a database's plan are in its grant. */
const MIB = 1024 * 1024;

/**
 * The longest key over RESP. Redis allows 512 MB; here a key is part of every entry, answer and message about it.
 * REST allows 32 KiB, as documented, so longer keys are reachable only over RESP.
 */
export const MAX_RESP_KEY_BYTES = MIB;

/** Each default with its meaning and reason. */
export const DEFAULT_RESP_ENDPOINT_LIMITS = {
  /** Words of one command. Redis's earlier limit; a client needs seconds to build a list of a million words. */
  maxWords: 1024 * 1024,
  /**
   * One word. Redis's proto-max-bulk-len. A database's limit is lower, and answered with an error instead of a
   * disconnect.
   */
  maxWordBytes: 512 * MIB,
  /** Bytes that wait while a command runs; above it the connection stops reading. */
  maxPendingBytes: MIB,
  /** Commands in one request to a partition: about two milliseconds of parsing and encoding. */
  maxBatchCommands: 1_000,
  /** Bytes of the words of one request to a partition; a single command may be larger. */
  maxBatchBytes: 4 * MIB,
  /**
   * Unanswered requests of one connection; together they hold at most the bytes of one. A few reads from the socket
   * arrive while an entry is stored; more requests would only fill the mailbox.
   */
  maxRequestsUnderWay: 8,
  /** Commands of one transaction, and the bytes of their words. */
  maxQueuedCommands: 100_000,
  maxQueuedBytes: 64 * MIB,
  /** Watched keys of one connection. */
  maxWatchedKeys: 100_000,
  /** Channels and patterns of one connection. */
  maxSubscriptions: 100_000,
  /** Tracked keys of one database's clients; above it the oldest are invalidated. Redis's tracking-table-max-keys. */
  maxTrackedKeys: 1_000_000,
  /**
   * Unread output; above it the connection is cut. Redis's limits for subscribers. Answers stay far below: a command
   * waits until the answer before it was read.
   */
  maxOutputBytes: 32 * MIB,
  /** Unread output that is allowed only for a time. */
  softOutputBytes: 8 * MIB,
  softOutputMs: 60_000,
  /** Above this unread output no further command runs. */
  pauseOutputBytes: MIB,
  /**
   * Bytes of a partition's replies to several commands before they are written and the rest is requested: few round
   * trips for a large answer, few bytes for a slow reader.
   */
  answerPortionBytes: 4 * MIB,
  /** The same for a request that is sent early: all of them together take about two portions. */
  answerPortionBehindBytes: MIB / 2,
  /** Bytes in the answer of a transaction; later reads get an error. As much as a transaction may queue. */
  maxTransactionAnswerBytes: 64 * MIB,
  /** The longest wait for room in the budget. As long as any request may wait. */
  maxRoomWaitMs: 5_000,
  /** Time for a connection to sign in. */
  signInTimeoutMs: 60_000,
  /**
   * The longest wait while it is unknown whether a grant is current; then commands are refused. As long as any
   * request may wait.
   */
  maxDoubtMs: 5_000,
  /**
   * Silence after which a connection whose INFO was answered with LOADING closes. Clients that retry do so within a
   * second.
   */
  loadingSilenceMs: 1_000,
  /**
   * Interval at which connections are checked for permissions and unread output. A revoked password must take effect
   * within a second.
   */
  sweepEveryMs: 500,
  /** Silence before TCP probes the peer. */
  keepaliveMs: 300_000,
  listenBacklog: 4_096,
  /** Redis's maxclients. */
  maxConnections: 10_000,
  /** Subscribers of one service share an address. */
  maxConnectionsPerAddress: 10_000,
};

export type RespEndpointLimits = Readonly<typeof DEFAULT_RESP_ENDPOINT_LIMITS>;
