/** The count of answers that came too early. */
import type { Behind, Metrics } from '../ports/index.js';

/** Counts what a read model answers without having everything that was asked for. */
export function countStale(metrics: Metrics, model: 'messages' | 'statistics'): (behind: Behind) => void {
  const answers = metrics.counter('millrace_stale_answers_total', model);
  const seconds = metrics.histogram('millrace_stale_answer_seconds');
  return ({ ms }) => {
    answers.add();
    if (ms !== undefined) seconds.observe(ms / 1000);
  };
}
