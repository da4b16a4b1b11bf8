import { Badge } from '../../parts/badge.js';
import { Code, pretty } from '../../parts/code.js';
import { duration } from '../../parts/format.js';
import { Time } from '../../parts/time.js';
import { FactLine, type NamedFact } from './fact-line.js';
import { useRunLinks } from './links.js';
import { durationOf, functionOf, type Run } from './records.js';
import { errorOf } from './run-error.js';
import { Standing } from './standing.js';

export interface RunLineProps {
  readonly run: Run;
  readonly planTimeoutMs: number;
}

/** Above the steps: begin, duration, place and error. */
export function RunLine({ run, planTimeoutMs }: RunLineProps) {
  const { workflowRunId, workflowRunCreatedAt, workflowRunCompletedAt, labels = [] } = run;
  const error = errorOf(run);
  const facts: readonly NamedFact[] = [
    ['Run', <code>{workflowRunId}</code>],
    ['Begun', <Time at={workflowRunCreatedAt} as="past" />],
    [workflowRunCompletedAt === undefined ? 'So far' : 'Took', duration(durationOf(run, Date.now()))],
    ['Now', <Standing run={run} planTimeoutMs={planTimeoutMs} />],
    ['Labels', labels.length === 0 ? undefined : labels.map((label) => <Badge key={label}>{label}</Badge>)],
    [
      'Error',
      error === undefined ? undefined : (
        <span dir="auto">
          <Badge tone="bad">{error.status === 0 ? 'no answer' : error.status}</Badge> {error.text}
        </span>
      ),
    ],
  ];
  return <FactLine facts={facts} />;
}

export function AboutRun({ run }: { readonly run: Run }) {
  const links = useRunLinks();
  const { workflowUrl, workflowRunCompletedAt, labels = [], invoker, workflowRunResponse } = run;
  const facts: readonly NamedFact[] = [
    ['Begun', <Time at={run.workflowRunCreatedAt} as="past" />],
    ['Ended', workflowRunCompletedAt === undefined ? undefined : <Time at={workflowRunCompletedAt} as="past" />],
    [workflowRunCompletedAt === undefined ? 'So far' : 'Took', duration(durationOf(run, Date.now()))],
    ['Endpoint', <code>{workflowUrl}</code>],
    ['Labels', labels.length === 0 ? undefined : labels.map((label) => <Badge key={label}>{label}</Badge>)],
    ['Flow control', run.flowControlKey === undefined ? undefined : <code dir="auto">{run.flowControlKey}</code>],
    ['Started from', run.workflowRunCallerIp],
    [
      'Invoked by',
      invoker === undefined ? undefined : (
        <a href={links.run(invoker.workflowRunId, invoker.workflowRunCreatedAt)}>{invoker.workflowRunId}</a>
      ),
    ],
    [
      'Alike',
      <>
        <a href={links.list({ url: workflowUrl })}>runs of {functionOf(workflowUrl)}</a>,{' '}
        <a href={links.list({ id: run.workflowRunId })}>runs of this id</a>
      </>,
    ],
  ];
  return (
    <section class="card" aria-label="About the run">
      <dl class="facts flow-facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
      {workflowRunResponse !== undefined && (
        <div class="stack tight" style={{ marginTop: 'var(--s3)' }}>
          <h2>Returned</h2>
          <Code text={pretty(workflowRunResponse)} />
        </div>
      )}
    </section>
  );
}
