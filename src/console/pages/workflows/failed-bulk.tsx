/** Resumes, restarts or deletes many failed runs: those that were chosen, or all that the filters meet. */
import { ofQueue, type Query } from '../../api/call.js';
import { beginBulk } from '../../parts/bulk.js';
import { asked } from '../../parts/dialog.js';
import { whole } from '../../parts/format.js';

export interface FailedBulkProps {
  readonly account: string;
  /** Ids of entries of the DLQ. */
  readonly chosen: readonly string[];
  readonly filter: Query;
  onDone(): void;
}

interface Met {
  readonly count: number;
  readonly isMore: boolean;
}

type What = 'resume' | 'restart' | 'delete';

/** One call does so many. */
const A_CALL = 50;

const WORDS: Readonly<Record<What, readonly [verb: string, done: string]>> = {
  resume: ['Resume', 'resumed'],
  restart: ['Restart', 'restarted'],
  delete: ['Delete', 'deleted'],
};

export function FailedBulk({ account, chosen, filter, onDone }: FailedBulkProps) {
  const some = chosen.length > 0;
  const begin = async (what: What) => {
    const met = some ? { count: chosen.length, isMore: false } : await countOf(account, filter);
    const count = `${whole(met.count)}${met.isMore ? ' or more' : ''}`;
    const [verb, done] = WORDS[what];
    const text = `${count} failed ${met.count === 1 ? 'run is' : 'runs are'} ${done}. ${after(what)}`;
    if (!(await asked({ title: `${verb} ${count} failed runs?`, text, action: verb, isDangerous: what === 'delete' })))
      return;
    // What fails again meanwhile is not met once more.
    const words: Query = some ? { dlqIds: chosen } : { ...filter, toDate: filter.toDate ?? Date.now(), count: A_CALL };
    let cursor: string | undefined;
    beginBulk({
      title: `${verb} failed runs`,
      total: met.count,
      done,
      onEnd: onDone,
      step: async (signal) => {
        const page = await step(account, what, { ...words, cursor }, signal);
        cursor = page.cursor;
        return { count: page.count, isLast: some || cursor === undefined || cursor === '' };
      },
    });
  };
  return (
    <div class="row" style={{ marginBottom: 'var(--s3)' }}>
      <span class="muted">{some ? `${chosen.length} chosen:` : 'All that the filters meet:'}</span>
      {(Object.keys(WORDS) as What[]).map((what) => (
        <button
          key={what}
          type="button"
          class={`button small ${what === 'delete' ? 'danger' : ''}`}
          onClick={() => begin(what)}
        >
          {WORDS[what][0]} {some ? 'chosen' : 'all'}
        </button>
      ))}
    </div>
  );
}

function after(what: What): string {
  if (what === 'delete') return 'They cannot be resumed or restarted then.';
  return what === 'resume'
    ? 'A new run goes on for each where it failed.'
    : 'A new run begins for each with its payload.';
}

async function step(account: string, what: What, query: Query, signal: AbortSignal) {
  if (what === 'delete') {
    const { deleted, cursor } = await ofQueue(account, 'DELETE /v2/workflows/dlq', { query, signal });
    return { count: deleted, cursor };
  }
  const { workflowRuns, cursor } = await ofQueue(account, `POST /v2/workflows/dlq/${what}`, { query, signal });
  return { count: workflowRuns.length, cursor };
}

async function countOf(account: string, query: Query): Promise<Met> {
  const { total, isWhole } = await ofQueue(account, 'GET /v2/workflows/dlq/counts', { query });
  return { count: total, isMore: !isWhole };
}
