/**
 * The counts of each kind of subject, with their places in a bucket. Places, kinds and gauges are part of the stored
 * format, which is read for ever: new ones come last, and none ever moves.
 */
import { LATENCY_BOUNDS_MS } from '../../protocol/index.js';

/** Kinds of subjects by their stored numbers. */
export const KINDS = { kv: 1, queue: 2, search: 3 } as const;
export type SubjectKind = keyof typeof KINDS;

/** Classes of a histogram. */
export const LATENCY_CLASSES = LATENCY_BOUNDS_MS.length + 1;

/** A number takes one place, a histogram one for each class. */
const NUMBER = 1;

export const KV_PLACES = places({
  commands: NUMBER,
  writes: NUMBER,
  scripts: NUMBER,
  hits: NUMBER,
  misses: NUMBER,
  bytesIn: NUMBER,
  bytesOut: NUMBER,
  readMicros: NUMBER,
  writeMicros: NUMBER,
  readClasses: LATENCY_CLASSES,
  writeClasses: LATENCY_CLASSES,
});

export const QUEUE_PLACES = places({
  requests: NUMBER,
  workflowRequests: NUMBER,
  acceptedBytes: NUMBER,
  sentBytes: NUMBER,
  answeredBytes: NUMBER,
  apiBytes: NUMBER,
  created: NUMBER,
  active: NUMBER,
  retry: NUMBER,
  error: NUMBER,
  delivered: NUMBER,
  failed: NUMBER,
  cancelled: NUMBER,
  runsStarted: NUMBER,
  runsSucceeded: NUMBER,
  runsFailed: NUMBER,
  runsCanceled: NUMBER,
});

export const SEARCH_PLACES = places({
  queries: NUMBER,
  updates: NUMBER,
  reranks: NUMBER,
  bytesIn: NUMBER,
  bytesOut: NUMBER,
  queryMicros: NUMBER,
  updateMicros: NUMBER,
  embeddingMicros: NUMBER,
  rerankMicros: NUMBER,
  queryClasses: LATENCY_CLASSES,
  updateClasses: LATENCY_CLASSES,
  embeddingClasses: LATENCY_CLASSES,
  rerankClasses: LATENCY_CLASSES,
});

/** Values that hold until the next report: connections, number of keys or documents, their bytes. */
export const GAUGE_PLACES = { connections: 0, items: 1, bytes: 2 } as const;

/** Commands that call a script or a function. */
export const SCRIPT_COMMANDS: ReadonlySet<string> = new Set([
  'EVAL',
  'EVAL_RO',
  'EVALSHA',
  'EVALSHA_RO',
  'FCALL',
  'FCALL_RO',
]);

/** The first place of each metric, in order of their widths. */
function places<Name extends string>(widths: Readonly<Record<Name, number>>): Readonly<Record<Name, number>> {
  let next = 0;
  const begins = Object.entries<number>(widths).map(([name, width]) => {
    next += width;
    return [name, next - width];
  });
  return Object.fromEntries(begins) as Record<Name, number>;
}
