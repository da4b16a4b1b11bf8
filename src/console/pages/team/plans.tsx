/** Plans: the queue's with limits, budget and labels, and the numbers of databases and search databases by plan. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { type QueueAccount, useQueue } from '../../api/queues.js';
import { mayPay, maySeeAccount } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Choice, SubmitRow, TextField } from '../../parts/field.js';
import { bytes, duration, limit, whole } from '../../parts/format.js';
import { Labels } from '../../parts/labels.js';
import { Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { doing } from '../../parts/toast.js';

const QUEUE_PLANS = [
  ['paid', 'Pay as you go'],
  ['msgq_fixed_1m', 'Fixed, 1 million messages a day'],
  ['msgq_fixed_10m', 'Fixed, 10 million messages a day'],
  ['msgq_fixed_100m', 'Fixed, 100 million messages a day'],
] as const;

export function Plans() {
  const queue = useQueue();
  return (
    <div class="stack">
      <Shown asked={queue}>
        {({ all }) => (
          <>
            {all.map((account) => (
              <QueuePlan key={account.id} account={account} onChanged={queue.reload} />
            ))}
          </>
        )}
      </Shown>
      <Databases />
    </div>
  );
}

interface QueuePlanProps {
  readonly account: QueueAccount;
  onChanged(): void;
}

function planOf({ reserved_type, type }: QueueAccount): string {
  return reserved_type === '' ? type : reserved_type;
}

function QueuePlan({ account, onChanged }: QueuePlanProps) {
  const limits: readonly (readonly [string, string])[] = [
    ['Messages a day', limit(account.max_requests_per_day)],
    ['A message', bytes(account.max_message_size)],
    ['Delay', duration(account.max_delay * 1_000)],
    ['Retries', whole(account.max_retries)],
    ['Parallel calls', limit(account.max_global_parallelism)],
    ['Of one flow-control key', limit(account.max_parallelism)],
    ['Schedules', limit(account.max_schedules)],
    ['Queues', limit(account.max_queues)],
    ['URL groups', limit(account.max_topics)],
    ['Dead letters', limit(account.max_dlq_size)],
    ['They are kept', duration(account.max_dlq_retention_time_milis)],
    ['Budget', account.budget === 0 ? 'no limit' : `$${whole(account.budget)} a month`],
  ];
  return (
    <section class="card stack" aria-label="Plan of the queue">
      <div class="row team-head">
        <h2>Queue and workflows</h2>
        <Badge tone="accent">{planOf(account)}</Badge>
        <code class="small muted wrap-anywhere">{account.id}</code>
      </div>
      <dl class="facts team-facts">
        {limits.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
      {mayPay.value && <ChangePlan account={account} onChanged={onChanged} />}
      {maySeeAccount.value && (
        <section class="stack tight" aria-label="Labels of the queue">
          <h3>Labels</h3>
          <Labels kind="queue" id={account.id} />
        </section>
      )}
    </section>
  );
}

function ChangePlan({ account, onChanged }: QueuePlanProps) {
  const { id } = account;
  const plan = useSignal(planOf(account));
  const budget = useSignal(String(account.budget));
  const save = async (event: Event) => {
    event.preventDefault();
    const isPlan = plan.value !== planOf(account);
    const isBudget = Number(budget.value) !== account.budget;
    const work = async () => {
      if (isPlan) await manage('POST /v2/msgq/set-plan/{id}', { path: { id }, body: { plan_name: plan.value } });
      if (isBudget) {
        await manage('PATCH /v2/msgq/update-budget/{id}', { path: { id }, body: { budget: Number(budget.value) } });
      }
    };
    if ((isPlan || isBudget) && (await doing(work, 'Saved: it is in force'))) onChanged();
  };
  return (
    <form class="stack" onSubmit={save}>
      <div class="form-grid">
        <Choice label="Plan" value={plan} options={QUEUE_PLANS} />
        <TextField
          label="Budget a month, dollars"
          type="number"
          value={budget}
          hint="0: no limit; else 20 to 10,000."
        />
      </div>
      <SubmitRow>Save</SubmitRow>
    </form>
  );
}

interface OfPlan {
  readonly plan: string;
  readonly kind: string;
  readonly count: number;
  readonly budget: number;
}

const COLUMNS: readonly Column<OfPlan>[] = [
  { title: 'What', cell: ({ kind }) => kind },
  { title: 'Plan', cell: ({ plan }) => <Badge>{plan}</Badge> },
  { title: 'How many', isNumber: true, cell: ({ count }) => whole(count) },
  {
    title: 'Budgets together',
    isNumber: true,
    isWideOnly: true,
    cell: ({ budget }) => (budget === 0 ? 'no limit' : `$${whole(budget)} a month`),
  },
];

function Databases() {
  const asked = useAsk('plans', async (signal) => {
    const [databases, searches] = await Promise.all([
      manage('GET /v2/kv/databases', { signal }),
      manage('GET /v2/search', { signal }),
    ]);
    return [
      ...byPlan(
        'Databases',
        databases.map(({ database_type, budget }) => ({ plan: database_type, budget })),
      ),
      ...byPlan(
        'Search databases',
        searches.map(({ type }) => ({ plan: type, budget: 0 })),
      ),
    ];
  });
  return (
    <section class="stack tight" aria-label="Databases by plan">
      <h2>Databases by plan</h2>
      <Shown asked={asked}>
        {(rows) => <Table label="By plan" columns={COLUMNS} rows={rows} idOf={({ kind, plan }) => `${kind} ${plan}`} />}
      </Shown>
      <p class="small muted">
        Limits, plan and budget of each are on its own page: <a href="/console/databases">databases</a>,{' '}
        <a href="/console/search">search</a>.
      </p>
    </section>
  );
}

function byPlan(kind: string, all: readonly { readonly plan: string; readonly budget: number }[]): OfPlan[] {
  const plans = new Map<string, OfPlan>();
  for (const { plan, budget } of all) {
    const known = plans.get(plan) ?? { plan, kind, count: 0, budget: 0 };
    plans.set(plan, { ...known, count: known.count + 1, budget: known.budget + budget });
  }
  return plans.size > 0 ? [...plans.values()] : [{ plan: '–', kind, count: 0, budget: 0 }];
}
