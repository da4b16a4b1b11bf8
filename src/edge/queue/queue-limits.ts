/** The limits of the queue endpoint, with their reasons. The limits of an account's plan are in its grant. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface QueueEndpointLimits extends HttpLimits {
  /** The JSON of a call without a message: endpoints of a group, lists of ids. */
  readonly maxJsonBytes: number;
  /** One call that publishes many messages. */
  readonly maxBatchBytes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_QUEUE_ENDPOINT_LIMITS: QueueEndpointLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // A destination of 8 KiB in the path, and a message's headers of 32 KiB.
  maxHeaderBytes: 64 * 1024,
  // A message may have 128 headers; a workflow trigger repeats them for its failure function.
  maxHeadersCount: 320,
  // The largest message that an operator may allow.
  maxBodyBytes: 64 * MIB,
  // A hundred endpoints of 8 KiB each.
  maxJsonBytes: MIB,
  // A batch is one entry: its owner copies it in one go, at about a millisecond per megabyte.
  maxBatchBytes: 16 * MIB,
};

/** Ids of messages or DLQ entries in one call. */
export const MAX_CALL_IDS = 1_000;
/** Values of one filter. */
export const MAX_CALL_FILTER_VALUES = 100;
/** Bytes of a run's entries fetched in one request: the owner reads them between other work, and they are held here. */
export const RUN_PAGE_BYTES = 4 * MIB;
/** Bytes of a body encoded in one slice; a multiple of base64's groups. */
export const BASE64_SLICE_BYTES = 192 * 1024;
/** JSON writes a byte as six characters at most: `\u0000`. */
export const CHARACTERS_A_BYTE = 6;
/** The JSON around a body: headers and other members of its message. */
export const AROUND_BODY_BYTES = 512 * 1024;
/** Records of one page of events. */
export const MAX_EVENT_COUNT = 1_000;
export const DEFAULT_EVENT_COUNT = 100;
/** Messages of one page when each is shown with all its events. */
export const DEFAULT_GROUP_COUNT = 10;
/** Schedule times in one answer; each costs about ten microseconds. */
export const MAX_TICKS = 100;
export const DEFAULT_TICKS = 10;
/** Events in one message's story, enough for a hundred attempts; the log has the others. */
export const MAX_STORY_EVENTS = 400;
/** The newest attempts of a story with shown callbacks; each needs one or two lookups. */
export const MAX_STORY_CALLBACKS = 50;
/** Open feeds of triggers of one process: each reads journals, and one with a filter or values holds a copy of a database. */
export const TRIGGER_FEEDS = { ofAll: 100, ofAccount: 10 } as const;
/** Records of one page of a feed; each has up to about 100 KB. */
export const MAX_FEED_RECORDS = 500;
export const DEFAULT_FEED_RECORDS = 100;
/** How often a feed looks for new entries. */
export const FEED_LOOK_MS = 250;
/** An event's payload; an event to all endpoints of an application is one entry with a copy for each. */
export const MAX_EVENT_PAYLOAD_BYTES = 256 * 1024;
/** Messages of one replay, which are read with their bodies. */
export const MAX_REPLAYS = 100;
/** Bodies of a replay that are accepted together. */
export const REPLAYED_TOGETHER_BYTES = 4 * MIB;
/** A replaced secret signs for a day: the time to deploy the new one. */
export const DEFAULT_SECRET_KEEP_MS = 24 * 3_600_000;
/** A link to the portal is made for each visit, so an hour is enough. A revoked one is kept until its end: a week at most. */
export const DEFAULT_PORTAL_SECONDS = 3_600;
export const MAX_PORTAL_SECONDS = 7 * 24 * 3_600;
