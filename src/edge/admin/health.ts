/**
 * A summary of problems for operators: alarms of the cluster, metrics of this process, and the caller's dead letters.
 * One process with its own nats-server is a cluster of one.
 */
import { isMillraceError } from '../../kernel/index.js';
import { LAGGING_MODELS, largestReading, MEMORY_PARTS, type MetricReadings, OLD_COPY_MS } from '../../ports/index.js';
import type { AdminCall } from './admin-call.js';
import type { AdminEndpoint } from './admin-endpoint.js';
import { LATE_SECONDS, NEARLY_FULL_SHARE, NEW_DEAD_LETTERS_MS, VERIFY_DUE_MS } from './admin-limits.js';

/** `notice`: no problem, but a task for some time. */
export const ATTENTION_LEVELS = ['error', 'warning', 'notice'] as const;

interface Attention {
  readonly about: 'cluster' | 'disk' | 'memory' | 'queue' | 'read models' | 'proof' | 'backups';
  readonly level: (typeof ATTENTION_LEVELS)[number];
  readonly text: string;
  /** The beginning of the period that the text is about. */
  readonly since?: number;
}

export async function healthFor(call: AdminCall) {
  const { endpoint } = call;
  const { cluster, metrics } = endpoint.parts;
  const [{ alarms, processes }, ofQueue] = await Promise.all([cluster.look(), deadLetters(call)]);
  const readings = metrics.readings();
  const attention: readonly Attention[] = [
    ...alarms.map((text) => ({ about: 'cluster', level: 'error', text }) as const),
    ...diskAttention(endpoint, readings),
    ...memoryAttention(readings),
    ...lagAttention(readings),
    ...copyAttention(endpoint),
    ...ofQueue,
    ...proofAttention(endpoint),
  ];
  const { verified } = endpoint;
  return {
    isWell: attention.every(({ level }) => level === 'notice'),
    attention,
    processes,
    metrics: readings,
    verified: verified === undefined ? null : { time: new Date(verified.atMs).toISOString(), isFine: verified.isFine },
  };
}

function* diskAttention({ parts }: AdminEndpoint, readings: MetricReadings): Iterable<Attention> {
  if (parts.storage.isFull()) {
    yield {
      about: 'disk',
      level: 'error',
      text: 'the disk is full: requests that grow data are refused until there is room',
    };
  }
  if (largestReading(readings, 'millrace_journal_excess_bytes') > 0) {
    yield { about: 'disk', level: 'warning', text: 'all journals together exceed their size limit' };
  }
}

function* memoryAttention(readings: MetricReadings): Iterable<Attention> {
  for (const [part, used, limit] of MEMORY_PARTS) {
    const most = largestReading(readings, limit);
    if (most === 0 || largestReading(readings, used) < most * NEARLY_FULL_SHARE) continue;
    yield { about: 'memory', level: 'warning', text: `${part} use nearly all of their memory limit` };
  }
}

function* lagAttention(readings: MetricReadings): Iterable<Attention> {
  if (largestReading(readings, 'millrace_queue_lag_seconds') >= LATE_SECONDS) {
    yield { about: 'queue', level: 'warning', text: 'more messages are due than can be started' };
  }
  for (const [models, behind] of LAGGING_MODELS) {
    if (largestReading(readings, behind) < LATE_SECONDS) continue;
    yield { about: 'read models', level: 'warning', text: `${models} are more than ${LATE_SECONDS} seconds behind` };
  }
}

/** Only the process that owns the control state has the copy made. */
function* copyAttention({ parts }: AdminEndpoint): Iterable<Attention> {
  const reading = parts.copy?.reading();
  if (reading === undefined) return;
  const { place, ageMs, failure } = reading;
  const about = 'backups';
  if (ageMs >= OLD_COPY_MS) {
    yield { about, level: 'error', text: `the copy at ${place} is ${Math.floor(ageMs / 60_000)} minutes old` };
  }
  if (failure !== undefined) yield { about, level: 'warning', text: `copying to ${place} failed: ${failure}` };
}

/** Recent dead letters of the caller's account, in the plain DLQ. */
async function deadLetters({ endpoint: { parts }, grant }: AdminCall): Promise<readonly Attention[]> {
  const about = 'queue';
  try {
    const since = parts.clock.nowMs() - NEW_DEAD_LETTERS_MS;
    const filter = { fromMs: since };
    const { counts, isWhole } = await parts.messageLog.dlqCounts(grant.account, filter, 0);
    const count = Object.values(counts).reduce((sum, each) => sum + each, 0);
    if (count === 0) return [];
    const text = `${isWhole ? '' : 'at least '}${count} messages have failed within the last hour`;
    return [{ about, level: 'warning', text, since }];
  } catch (failure) {
    if (!isMillraceError(failure)) throw failure;
    return [{ about, level: 'warning', text: 'dead letters cannot be counted: no read model answers' }];
  }
}

function* proofAttention({ verified, parts }: AdminEndpoint): Iterable<Attention> {
  const about = 'proof';
  if (verified?.isFine === false) yield { about, level: 'error', text: 'the journals are damaged: see the report' };
  else if (verified === undefined || parts.clock.nowMs() - verified.atMs >= VERIFY_DUE_MS) {
    yield { about, level: 'notice', text: 'this process has not verified the journals recently' };
  }
}
