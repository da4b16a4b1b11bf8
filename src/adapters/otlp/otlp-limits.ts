/** Bounds of what is told to a collector. */

/** Spans that wait to be taken: about four megabytes, a second of a busy process that traces everything. */
export const MAX_WAITING_SPANS = 8192;
/** Spans of one request to the collector; as OpenTelemetry has it. */
export const MAX_BATCH_SPANS = 512;
/** Between two requests that are not full. */
export const EXPORT_EVERY_MS = 1000;
/** A collector is near, or down: who waits longer for an answer loses more. */
export const EXPORT_TIMEOUT_MS = 5000;
/** What waits at the end of the process has so long, of the ten seconds that supervisors commonly give. */
export const LAST_FLUSH_MS = 1500;
/** So much of a trace's state has to be handed on by the standard; what is longer is left out. */
export const MAX_TRACESTATE_CHARACTERS = 512;
