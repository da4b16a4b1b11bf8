/**
 * What is counted, by kind of subject: each number has its place in a bucket. Places, kinds and gauges are part of the
 * file's format, and of snapshots', which are read for ever: new ones come last, and none ever moves.
 */
import { LATENCY_BOUNDS_MS } from '../../messages/index.js';

/** The kinds of subjects, by their numbers in the file. */
export const KINDS = { kv: 1, queue: 2, search: 3 } as const;
export type SubjectKind = keyof typeof KINDS;

/** Classes of a histogram. */
export const LATENCY_CLASSES = LATENCY_BOUNDS_MS.length + 1;

const KV_NAMES = [
  'commands',
  'writes',
  'scripts',
  'hits',
  'misses',
  'bytesIn',
  'bytesOut',
  'readMicros',
  'writeMicros',
] as const;
const QUEUE_NAMES = [
  'requests',
  'workflowRequests',
  'acceptedBytes',
  'sentBytes',
  'answeredBytes',
  'apiBytes',
  'created',
  'active',
  'retry',
  'error',
  'delivered',
  'failed',
  'cancelled',
  'runsStarted',
  'runsSucceeded',
  'runsFailed',
  'runsCanceled',
] as const;
const SEARCH_NAMES = [
  'queries',
  'updates',
  'reranks',
  'bytesIn',
  'bytesOut',
  'queryMicros',
  'updateMicros',
  'embeddingMicros',
  'rerankMicros',
] as const;

export const KV_PLACES = places(KV_NAMES);
export const QUEUE_PLACES = places(QUEUE_NAMES);
export const SEARCH_PLACES = places(SEARCH_NAMES);

/** Where histograms begin, each of `LATENCY_CLASSES` numbers. */
export const KV_READS = KV_NAMES.length;
export const KV_WRITES = KV_READS + LATENCY_CLASSES;
export const SEARCH_WORK = {
  query: SEARCH_NAMES.length,
  update: SEARCH_NAMES.length + LATENCY_CLASSES,
  embedding: SEARCH_NAMES.length + 2 * LATENCY_CLASSES,
  rerank: SEARCH_NAMES.length + 3 * LATENCY_CLASSES,
} as const;

/** What stands until another is told: connections; keys or documents; bytes of them. */
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

function places<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, at) => [name, at])) as Record<Name, number>;
}
