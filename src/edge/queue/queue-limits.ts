/** Every bound of the queue's face, with its reason. What an account's plan bounds is in its grant. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface QueueFaceLimits extends HttpLimits {
  /** The JSON of a call that is not a message: endpoints of a group, lists of ids. */
  readonly maxJsonBytes: number;
  /** One call that publishes many messages. */
  readonly maxBatchBytes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_QUEUE_FACE_LIMITS: QueueFaceLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // A destination of 8 KiB in the path, and a message's headers of 32 KiB.
  maxHeaderBytes: 64 * 1024,
  // A message may have 128 of its own; what starts a workflow has them for its failure function once more.
  maxHeadersCount: 320,
  // The largest message an operator may allow.
  maxBodyBytes: 64 * MIB,
  // A hundred endpoints of 8 KiB each fit.
  maxJsonBytes: MIB,
  // It is one entry: its owner copies it at a stretch, at about a millisecond a megabyte.
  maxBatchBytes: 16 * MIB,
};

/** Ids of messages or DLQ entries that one call may name. */
export const MAX_CALL_IDS = 1_000;
/** Values of one filter. */
export const MAX_CALL_FILTER_VALUES = 100;
/** Entries of a run that are fetched at once: its owner reads them between other work, and they are held here. */
export const RUN_PAGE_BYTES = 4 * MIB;
/** So much of a body is encoded in one step: whole groups of base64. */
export const BASE64_SLICE_BYTES = 192 * 1024;
/** JSON writes a byte of a text with six characters at most: `\u0000`. */
export const CHARACTERS_A_BYTE = 6;
/** What surrounds a body within JSON: headers, and whatever else its message has. */
export const AROUND_BODY_BYTES = 512 * 1024;
/** Records of one page of events. */
export const MAX_EVENT_COUNT = 1_000;
export const DEFAULT_EVENT_COUNT = 100;
/** Messages of one page when each is shown with all of its events. */
export const DEFAULT_GROUP_COUNT = 10;
/** Ticks of a timetable that are told at once: each takes its reader some ten microseconds. */
export const MAX_TICKS = 100;
export const DEFAULT_TICKS = 10;
/** Events of one message's story; whoever wants more finds them in the log. A hundred attempts fit. */
export const MAX_STORY_EVENTS = 400;
/** Attempts of a story, its newest, whose callbacks are looked for: each is a name or two to look up. */
export const MAX_STORY_CALLBACKS = 50;
