/** Resumes, restarts or deletes failed runs: the selected ones, or all that match the filters. */
import { ofQueue, type Query } from '../../api/call.js';
import { beginBulk } from '../../parts/bulk.js';
import { asked } from '../../parts/dialog.js';
import { whole } from '../../parts/format.js';

export interface FailedBulkProps {
  readonly account: string;
  /** Ids of DLQ entries. */
  readonly chosen: readonly string[];
  readonly filter: Query;
  onDone(): void;
}

interface Met {
  readonly count: number;
  readonly isMore: boolean;
}

type Action = 'resume' | 'restart' | 'delete';

/** Runs per call. */
const A_CALL = 50;

const WORDS: Readonly<Record<Action, readonly [verb: string, done: string]>> = {
  resume: ['Resume', 'resumed'],
  restart: ['Restart', 'restarted'],
  delete: ['Delete', 'deleted'],
};

export function FailedBulk({ account, chosen, filter, onDone }: FailedBulkProps) {
  const some = chosen.length > 0;
  const begin = async (action: Action) => {
    const met = some ? { count: chosen.length, isMore: false } : await countOf(account, filter);
    const count = `${whole(met.count)}${met.isMore ? ' or more' : ''}`;
    const [verb, done] = WORDS[action];
    const text = `${count} failed ${met.count === 1 ? 'run is' : 'runs are'} ${done}. ${after(action)}`;
    if (
      !(await asked({ title: `${verb} ${count} failed runs?`, text, action: verb, isDangerous: action === 'delete' }))
    )
      return;
    // The end date excludes runs that fail again during the work.
    const words: Query = some ? { dlqIds: chosen } : { ...filter, toDate: filter.toDate ?? Date.now(), count: A_CALL };
    let cursor: string | undefined;
    beginBulk({
      title: `${verb} failed runs`,
      total: met.count,
      done,
      onEnd: onDone,
      step: async (signal) => {
        const page = await step(account, action, { ...words, cursor }, signal);
        cursor = page.cursor;
        return { count: page.count, isLast: some || cursor === undefined || cursor === '' };
      },
    });
  };
  return (
    <div class="row" style={{ marginBottom: 'var(--s3)' }}>
      <span class="muted">{some ? `${chosen.length} chosen:` : 'All that the filters meet:'}</span>
      {(Object.keys(WORDS) as Action[]).map((action) => (
        <button
          key={action}
          type="button"
          class={`button small ${action === 'delete' ? 'danger' : ''}`}
          onClick={() => begin(action)}
        >
          {WORDS[action][0]} {some ? 'chosen' : 'all'}
        </button>
      ))}
    </div>
  );
}

function after(action: Action): string {
  if (action === 'delete') return 'They cannot be resumed or restarted then.';
  return action === 'resume'
    ? 'A new run for each resumes at the failed step.'
    : 'A new run begins for each with its payload.';
}

async function step(account: string, action: Action, query: Query, signal: AbortSignal) {
  if (action === 'delete') {
    const { deleted, cursor } = await ofQueue(account, 'DELETE /v2/workflows/dlq', { query, signal });
    return { count: deleted, cursor };
  }
  const { workflowRuns, cursor } = await ofQueue(account, `POST /v2/workflows/dlq/${action}`, { query, signal });
  return { count: workflowRuns.length, cursor };
}

async function countOf(account: string, query: Query): Promise<Met> {
  const { total, isWhole } = await ofQueue(account, 'GET /v2/workflows/dlq/counts', { query });
  return { count: total, isMore: !isWhole };
}
