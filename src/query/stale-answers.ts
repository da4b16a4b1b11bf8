/** Counts answers of read models that lag. */
import type { Behind, Metrics } from '../ports/index.js';

/** Counts each answer from a read model that does not contain all requested data yet. */
export function countStale(metrics: Metrics, model: 'messages' | 'statistics'): (behind: Behind) => void {
  const answers = metrics.counter('millrace_stale_answers_total', model);
  const seconds = metrics.histogram('millrace_stale_answer_seconds');
  return ({ ms }) => {
    answers.add();
    if (ms !== undefined) seconds.observe(ms / 1000);
  };
}
