/** Every bound of the queue's own, with its reason. Bounds of an account are `AccountLimits`. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Clients read a message back right after it was published, also when it has been delivered meanwhile. */
export const DELIVERED_GRACE_MS = 10 * SECOND_MS;
/** Bodies of what waits as long are read back when it is due: until then they would only take memory. */
export const BODY_RESTS_FOR_MS = 10 * MINUTE_MS;
/** What was accepted under a deduplication id is not accepted again for so long. */
export const DEDUPLICATION_WINDOW_MS = 10 * MINUTE_MS;
/** An edge repeats a publish for at most a minute, by either road. */
export const ACCEPTED_IDS_MS = 10 * MINUTE_MS;
/** The longest delay between two attempts: a message is not forgotten by its destination for longer than a day. */
export const MAX_RETRY_DELAY_MS = DAY_MS;
/** A week; counters of longer windows would outlive what anybody remembers of them. */
export const MAX_FLOW_PERIOD_SECONDS = 7 * 24 * 3600;
/** A tick that is later than this is recorded as skipped. */
export const MAX_TICK_LATENESS_MS = 10 * MINUTE_MS;
/** Names of queues, groups and schedules: shown in one column, part of paths. */
export const MAX_QUEUE_NAME_CHARACTERS = 128;
export const MAX_FLOW_KEY_BYTES = 256;
export const MAX_LABELS = 32;
export const MAX_LABEL_BYTES = 128;
export const MAX_DEDUPLICATION_ID_BYTES = 256;
export const MAX_EXPRESSION_CHARACTERS = 256;
export const MAX_URL_BYTES = 8192;
/** One header's value, and all of a message's headers: what common servers take. */
export const MAX_HEADER_VALUE_BYTES = 8192;
export const MAX_HEADER_BYTES = 32 * 1024;
export const MAX_HEADERS = 128;
/** Callbacks of callbacks are configured by nested names; nobody needs more. */
export const MAX_CALLBACK_DEPTH = 3;
/** Messages of one batch call; each may be a group. */
export const MAX_BATCH_ITEMS = 1000;
/** Messages one command may make, groups unfolded: one entry, and some thirty milliseconds of its owner, in steps. */
export const MAX_COMMAND_MESSAGES = 2000;
/** A bulk cancel may count so many. */
export const MAX_CANCEL_COUNT = 500;
/** A list of messages has so many: their headers may be 4 MB. */
export const MAX_MESSAGE_COUNT = 100;
/** A list, deletion or retry of DLQ entries has so many. */
export const MAX_DLQ_COUNT = 100;
/** An attempt that a crash interrupted is made again so often; then it counts as failed. */
export const MAX_ATTEMPT_RESTARTS = 3;
/** So many are kept of a response that stands with an event or a DLQ entry. */
export const KEPT_RESPONSE_BYTES = 64 * 1024;
