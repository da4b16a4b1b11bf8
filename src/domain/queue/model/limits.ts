/** Fixed bounds of the queue, with reasons. Configurable bounds of an account are `AccountLimits`. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Clients read a message back right after they published it, even if it was delivered in that time. */
export const DELIVERED_GRACE_MS = 10 * SECOND_MS;
/** The body of a message that waits longer leaves memory and is read back when the message is due. */
export const BODY_RESTS_FOR_MS = 10 * MINUTE_MS;
/** A deduplication id blocks further messages for this long. */
export const DEDUPLICATION_WINDOW_MS = 10 * MINUTE_MS;
/** An edge repeats a publish for at most one minute, directly or through the intake. */
export const ACCEPTED_IDS_MS = 10 * MINUTE_MS;
/** The longest delay between two attempts: one day. */
export const MAX_RETRY_DELAY_MS = DAY_MS;
/** One week. */
export const MAX_FLOW_PERIOD_SECONDS = 7 * 24 * 3600;
/** A later tick is recorded as skipped. */
export const MAX_TICK_LATENESS_MS = 10 * MINUTE_MS;
/** Names of queues, groups and schedules: they are path segments and fit in one column of a list. */
export const MAX_QUEUE_NAME_CHARACTERS = 128;
export const MAX_FLOW_KEY_BYTES = 256;
export const MAX_LABELS = 32;
export const MAX_LABEL_BYTES = 128;
export const MAX_DEDUPLICATION_ID_BYTES = 256;
export const MAX_EXPRESSION_CHARACTERS = 256;
export const MAX_URL_BYTES = 8192;
/** One header value, and all headers of a message: common servers accept this much. */
export const MAX_HEADER_VALUE_BYTES = 8192;
export const MAX_HEADER_BYTES = 32 * 1024;
export const MAX_HEADERS = 128;
/** Depth of nested callbacks (callbacks of callbacks). */
export const MAX_CALLBACK_DEPTH = 3;
/** Messages of one batch call; each may address a group. */
export const MAX_BATCH_ITEMS = 1000;
/** Messages of one command with groups resolved: one entry, and about 30 ms of the owner's time, in steps. */
export const MAX_COMMAND_MESSAGES = 2000;
/** Messages per page of a list: their headers may take 4 MB. */
export const MAX_MESSAGE_COUNT = 100;
/** DLQ entries per page of a list, deletion or retry. */
export const MAX_DLQ_COUNT = 100;
/** Repetitions of an attempt that crashes interrupted; after these it counts as failed. */
export const MAX_ATTEMPT_RESTARTS = 3;
/** Bytes of a response that are kept with an event or a DLQ entry. */
export const KEPT_RESPONSE_BYTES = 64 * 1024;
/** Applications of one account: each takes about a kilobyte of the owner's memory. */
export const MAX_APPLICATIONS = 10_000;
/** Endpoints of one application: an event is one command with a message for each, and each has a copy of the payload. */
export const MAX_APPLICATION_ENDPOINTS = 20;
/** Event types of one account: an endpoint's list names some of them. */
export const MAX_EVENT_TYPES = 1_000;
/** Event types that an endpoint names. An endpoint without a list gets all. */
export const MAX_ENDPOINT_EVENT_TYPES = 100;
/** Secrets that sign at the same time; each adds a signature of about 50 bytes to every call. */
export const MAX_ENDPOINT_SECRETS = 5;
/** The longest time that a replaced secret still signs: a week, for receivers that are changed by hand. */
export const MAX_SECRET_KEEP_MS = 7 * DAY_MS;
/** Letters, digits, `.`, `_` and `-`: `invoice.paid`. */
export const MAX_EVENT_TYPE_CHARACTERS = 100;
/** The `webhook-id`; it is also in a label. */
export const MAX_EVENT_ID_CHARACTERS = 100;
/** Names, uids and descriptions: one line of a list. */
export const MAX_APPLICATION_TEXT = 256;
export const MAX_APPLICATION_METADATA = 50;
/** A schema and its examples: read whole by each process that validates an event. */
export const MAX_EVENT_SCHEMA_BYTES = 32 * 1024;
/** An expression of an endpoint, evaluated for each of its events. */
export const MAX_ENDPOINT_FILTER_CHARACTERS = 2_048;
/** Applications or event types per page of a list. */
export const MAX_APPLICATION_COUNT = 250;

/** Failing destinations of an account that have a breaker: about 5 MB. */
export const MAX_BREAKERS = 10_000;
/** The label of messages that tell about stopped destinations; they are not replayed. */
export const STATE_NOTICE_LABEL = 'notice';
/** Mails to an application in ten minutes: an endpoint that fails and recovers all the time would fill the mailbox. */
export const MAX_APPLICATION_MAILS = 6;
/** Single links to one application's portal that are revoked before their end; a week at most, each of about 50 bytes. */
export const MAX_REVOKED_LINKS = 100;
/** The longest wait between two probes of a destination. */
export const LONGEST_PROBE_WAIT_MS = 60 * 60 * 1000;
