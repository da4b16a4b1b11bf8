/** Every bound of the native protocol's face, with its reason. What a database's plan bounds is in its grant. */
const MIB = 1024 * 1024;

/**
 * The longest key over the native protocol. Redis takes 512 MB; a key is part of every entry, answer and notice about
 * it. REST takes 32 KiB, as documented for it, so what is longer is to be had over this face alone.
 */
export const MAX_RESP_KEY_BYTES = MIB;

/** Each with what it bounds, and why it is so much. */
export const DEFAULT_RESP_FACE_LIMITS = {
  /**
   * Words of one command. Redis's bound before it had none to speak of; a list of a million words takes a client
   * seconds to make.
   */
  maxWords: 1024 * 1024,
  /**
   * One word. Redis's proto-max-bulk-len. What a database takes is less, and answered with an error instead of a
   * hang-up.
   */
  maxWordBytes: 512 * MIB,
  /** Bytes that wait behind a command that is being run; beyond it nothing more is read. */
  maxPendingBytes: MIB,
  /** Commands that are asked for in one request of a partition. About two milliseconds of parsing and encoding. */
  maxBatchCommands: 1_000,
  /** Bytes of the words of one request of a partition; a single command may be larger. */
  maxBatchBytes: 4 * MIB,
  /**
   * Requests of one connection that are asked for and not answered; nothing more is asked for once they hold as much as
   * one may. While an entry is being stored a few reads from the socket arrive, and more would only fill the mailbox.
   */
  maxRequestsUnderWay: 8,
  /** Commands of one transaction, and the bytes of their words. */
  maxQueuedCommands: 100_000,
  maxQueuedBytes: 64 * MIB,
  /** Keys that one connection watches. */
  maxWatchedKeys: 100_000,
  /** Channels and patterns that one connection listens to. */
  maxSubscriptions: 100_000,
  /**
   * Keys that clients of one database may have cached; beyond it the oldest are invalidated. Redis's
   * tracking-table-max-keys.
   */
  maxTrackedKeys: 1_000_000,
  /**
   * Output that a client has not read; beyond it the connection is cut. Redis's bounds for subscribers. Answers never
   * come near: a command waits until the one before has been read.
   */
  maxOutputBytes: 32 * MIB,
  /** Output that a client may leave unread only for a time. */
  softOutputBytes: 8 * MIB,
  softOutputMs: 60_000,
  /** While more output waits, no further command is run. */
  pauseOutputBytes: MIB,
  /**
   * What a partition answers to several commands before what is there is written, and the rest is asked for. Few
   * round trips for what is large, and little that waits for one who reads slowly.
   */
  answerPortionBytes: 4 * MIB,
  /** The same of what is asked for behind others that are not answered: all of them together about double the portion. */
  answerPortionBehindBytes: MIB / 2,
  /** What the answer of a transaction holds; reads behind it answer with an error. As much as one may be queued with. */
  maxTransactionAnswerBytes: 64 * MIB,
  /** Who has no room for what it is about to hold waits so long for some. As long as any request is held. */
  maxRoomWaitMs: 5_000,
  /** A connection nobody has signed in on is kept this long. */
  signInTimeoutMs: 60_000,
  /**
   * Commands wait so long for news of what their client may do; then they are refused. As long as any request is
   * held.
   */
  maxDoubtMs: 5_000,
  /**
   * How often connections are looked at: for what they may still do, and for readers that do not read. Revoked
   * passwords have to act within a second.
   */
  sweepEveryMs: 500,
  /** TCP asks after a silent peer. */
  keepaliveMs: 300_000,
  listenBacklog: 4_096,
  /** Redis's maxclients. */
  maxConnections: 10_000,
  /** Subscribers of one service arrive from one address. */
  maxConnectionsPerAddress: 10_000,
};

export type RespFaceLimits = Readonly<typeof DEFAULT_RESP_FACE_LIMITS>;
