/** What an account's queue was used for, as metrics; totals and minutes as of databases. */
import { type AccountSeries, MESSAGE_METRICS, WORKFLOW_METRICS } from '../../ports/index.js';
import type { Family } from './exposition.js';
import { Families } from './metric-families.js';

/** @param nowMs the series' last step is the minute that it lies in */
export function queueMetrics(series: AccountSeries, nowMs: number): Family[] {
  const families = new Families('millrace_queue_', series.days, series.times.count - 2, nowMs);
  return [
    families.total('requests', 'Messages that are charged', ({ requests }) => requests),
    families.total('workflow_requests', 'Messages of workflows', ({ workflowRequests }) => workflowRequests),
    families.total('workflow_runs', 'Runs of workflows that began', ({ workflowRuns }) => workflowRuns),
    families.total('bandwidth_bytes', 'Bytes of bodies', ({ bandwidthBytes }) => bandwidthBytes),
    families.of(
      'gauge',
      'minute_messages',
      'Messages by what became of them in the last whole minute.',
      ...MESSAGE_METRICS.map((state) => ({ labels: { state }, value: families.at(series.messages[state]) })),
    ),
    families.of(
      'gauge',
      'minute_workflows',
      'Runs of workflows by what became of them in the last whole minute.',
      ...WORKFLOW_METRICS.map((state) => ({ labels: { state }, value: families.at(series.workflows[state]) })),
    ),
    families.minutely('bandwidth_bytes', 'Bytes of bodies', series.bandwidthBytes),
    families.of('gauge', 'dlq_messages', 'Messages in the DLQ.', { value: series.dlqMessages }),
  ];
}
