/** Bounds of the export of spans. */

/** Waiting spans: about four megabytes, a second of a busy process that traces everything. */
export const MAX_WAITING_SPANS = 8192;
/** Spans of one request to the collector; OpenTelemetry's default. */
export const MAX_BATCH_SPANS = 512;
/** Time between two requests that are not full. */
export const EXPORT_EVERY_MS = 1000;
/** A collector is near or down; a longer timeout would lose more spans. */
export const EXPORT_TIMEOUT_MS = 5000;
/** The time to send waiting spans at the end of the process, of the ten seconds that supervisors commonly give. */
export const LAST_FLUSH_MS = 1500;
/** The length of a trace's state that the standard requires to be passed on; a longer state is omitted. */
export const MAX_TRACESTATE_CHARACTERS = 512;
