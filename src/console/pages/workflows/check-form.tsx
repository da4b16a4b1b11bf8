/** Checks the endpoint of a new version: plays recorded runs to it, and shows those that it would break. */
import { type Signal, useSignal } from '@preact/signals';
import type { Operations } from '#api';
import { ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { Badge, StateBadge, type Tone } from '../../parts/badge.js';
import { Check, Choice, TextField } from '../../parts/field.js';
import { counted } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { failed } from '../../parts/toast.js';
import { type RunLinks, useRunLinks } from './links.js';

type CheckedRun = Operations['POST /v2/workflows/check']['runs'][number];

/** Of one request; the next ones follow until so many runs are checked. */
const RUNS_A_REQUEST = 25;
const MAX_RUNS = 200;

const TONES: Readonly<Record<string, Tone>> = { compatible: 'good', differs: 'warn', breaks: 'bad' };

export function CheckForm({ account }: { readonly account: string }) {
  const [query] = usePageQuery();
  const draft: CheckDraft = {
    url: useSignal(''),
    workflowUrl: useSignal(query.url ?? ''),
    state: useSignal('RUN_STARTED'),
    executes: useSignal(false),
  };
  const runs = useSignal<readonly CheckedRun[] | undefined>(undefined);
  const isBusy = useSignal(false);
  const check = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    runs.value = [];
    try {
      let cursor: string | undefined;
      do {
        const body = { ...membersOf(draft), count: RUNS_A_REQUEST, ...(cursor !== undefined && { cursor }) };
        const page = await ofQueue(account, 'POST /v2/workflows/check', { body });
        runs.value = [...runs.value, ...page.runs];
        cursor = page.cursor;
      } while (cursor !== undefined && runs.value.length < MAX_RUNS);
    } catch (error) {
      failed(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <form class="card stack" onSubmit={check}>
        <p>
          Recorded runs are played to the endpoint of a new version, without an effect on the runs. Each step is
          compared with the recorded one.
        </p>
        <CheckFields draft={draft} />
        <div>
          <button type="submit" class="button primary" disabled={isBusy.value}>
            {isBusy.value ? 'Checking …' : 'Check the runs'}
          </button>
        </div>
      </form>
      {runs.value !== undefined && <Result runs={runs.value} isBusy={isBusy.value} />}
    </>
  );
}

interface CheckDraft {
  readonly url: Signal<string>;
  readonly workflowUrl: Signal<string>;
  /** Empty: any. */
  readonly state: Signal<string>;
  readonly executes: Signal<boolean>;
}

function CheckFields({ draft: { url, workflowUrl, state, executes } }: { readonly draft: CheckDraft }) {
  return (
    <>
      <TextField
        label="URL of the new version"
        type="url"
        value={url}
        isRequired
        placeholder="https://staging…/order"
        hint="It uses this server, with a token of this queue."
      />
      <div class="form-grid">
        <TextField
          label="Runs of the workflow"
          type="url"
          value={workflowUrl}
          isRequired
          placeholder="https://…/order"
        />
        <Choice
          label="State of the runs"
          value={state}
          options={[
            ['RUN_STARTED', 'Under way'],
            ['', 'Any'],
            ['RUN_SUCCESS', 'Succeeded'],
            ['RUN_FAILED', 'Failed'],
          ]}
        />
      </div>
      <Check value={executes} label="Execute the code of each step (only for an endpoint without harmful effects)" />
    </>
  );
}

function membersOf({ url, workflowUrl, state, executes }: CheckDraft) {
  return {
    url: url.value.trim(),
    workflowUrl: workflowUrl.value.trim(),
    ...(state.value === '' ? {} : { state: state.value }),
    ...(executes.value && { executeSteps: true }),
  };
}

function Result({ runs, isBusy }: { readonly runs: readonly CheckedRun[]; readonly isBusy: boolean }) {
  const links = useRunLinks();
  const others = runs.filter(({ outcome }) => outcome !== 'compatible');
  const summary = `${runs.length - others.length} of ${counted(runs.length, 'run')} ${runs.length === 1 ? 'is' : 'are'} compatible`;
  return (
    <section class="stack" aria-label="Result of the check">
      <p role="status">{isBusy && runs.length === 0 ? 'Checking …' : summary}</p>
      {!isBusy && (
        <Table
          label="Checked runs"
          columns={columnsWith(links)}
          rows={others}
          idOf={({ workflowRunId, workflowCreatedAt }) => `${workflowRunId}@${workflowCreatedAt}`}
          empty={
            <Empty title={runs.length === 0 ? 'No run is like that' : 'The new version would continue each run'} />
          }
        />
      )}
    </section>
  );
}

const columnsWith = (links: RunLinks): readonly Column<CheckedRun>[] => [
  { title: 'Outcome', cell: ({ outcome }) => <Badge tone={TONES[outcome] ?? 'plain'}>{outcome}</Badge> },
  {
    title: 'Run',
    cell: ({ workflowRunId, workflowCreatedAt }) => (
      <a class="wrap-anywhere" href={links.run(workflowRunId, workflowCreatedAt)} dir="auto">
        {workflowRunId}
      </a>
    ),
  },
  { title: 'State', cell: ({ workflowState }) => <StateBadge state={workflowState} /> },
  {
    title: 'Steps',
    cell: ({ differences, reason }) => (
      <div class="stack tight wrap-anywhere">
        {differences.map(({ stepId, stepName, text }) => (
          <div key={`${stepId} ${text}`}>
            {stepId !== undefined && (
              <strong dir="auto">
                {stepId} {stepName}
              </strong>
            )}{' '}
            <span class="small" dir="auto">
              {text}
            </span>
          </div>
        ))}
        {reason !== undefined && <span class="small muted">{reason}</span>}
      </div>
    ),
  },
];
