/** Runs seeds of the queue simulation, and prints how to replay a failing one. */
import { SimulatedQueues, type SimulatedQueuesOptions } from './simulated-queues.js';
import { Violation } from './violation.js';

export interface QueueRunReport {
  readonly seed: number;
  readonly traceHash: string;
  readonly violation: Violation | undefined;
  readonly traceTail: readonly string[];
  readonly virtualMs: number;
  readonly events: number;
  readonly answered: number;
  readonly failed: number;
  readonly unknown: number;
  readonly duplicates: number;
  readonly told: number;
  readonly calls: number;
  readonly runs: number;
  readonly children: number;
  readonly entries: number;
  readonly notified: number;
  readonly timeouts: number;
  readonly takeovers: number;
  readonly snapshots: number;
}

const LINES_OF_TAIL = 80;

/** Never throws for a broken promise, which is in the report. */
export async function runQueueSeed(seed: number, options: SimulatedQueuesOptions = {}): Promise<QueueRunReport> {
  const world = new SimulatedQueues(seed, options);
  const { scheduler } = world.kit;
  const startMs = scheduler.nowMs;
  let violation: Violation | undefined;
  try {
    await world.run();
  } catch (error) {
    violation = error instanceof Violation ? error : new Violation('nothing throws', String((error as Error).stack));
    scheduler.trace.note('checker', violation.message.split('\n')[0] ?? '');
  }
  const { answered, failed, unknown, duplicates } = world.history.counts;
  return {
    seed,
    traceHash: scheduler.trace.hash,
    violation,
    traceTail: violation === undefined ? [] : scheduler.trace.tail(LINES_OF_TAIL),
    virtualMs: scheduler.nowMs - startMs,
    events: scheduler.eventsRun,
    answered,
    failed,
    unknown,
    duplicates,
    told: world.ledger.told.size,
    calls: world.destinations.calls.length,
    runs: world.workflows.counts.runs,
    children: world.workflows.counts.children,
    entries: world.workflows.counts.entries,
    notified: world.workflows.counts.notified,
    timeouts: world.workflows.counts.timeouts,
    takeovers: world.takeovers,
    snapshots: world.snapshots,
  };
}

/** The report of a failed seed: the last events, the broken promise, and the command that replays it. */
export function explainQueue(report: QueueRunReport): string {
  return [
    `queue seed ${report.seed} failed; replay it with: make test-sim SEED=${report.seed}`,
    report.violation?.message ?? 'no violation',
    ...report.traceTail,
  ].join('\n');
}
