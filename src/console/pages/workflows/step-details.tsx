/** One step: input, output, error and attempts side by side, and the event that it waits for. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { usePageQuery } from '../../api/query.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge, StateBadge } from '../../parts/badge.js';
import { Body } from '../../parts/exchange.js';
import { duration } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { Time } from '../../parts/time.js';
import { ErrorBody } from './error-body.js';
import { FactLine, type NamedFact } from './fact-line.js';
import { useRunLinks } from './links.js';
import { NotifyDialog } from './notify-dialog.js';
import type { Run } from './records.js';
import { RerunButton } from './rerun-dialog.js';
import { kindWord } from './run-graph.js';
import type { StepAttempt } from './run-life.js';
import type { Node } from './run-model.js';
import { openAttemptOf, untilOf } from './run-now.js';
import { AttemptNow } from './standing.js';
import { type Cut, CutNote, StepInput, StepOutput } from './step-bodies.js';

/** The same as in workflows.css. */
const NARROW = '(max-width: 1000px)';

export interface StepDetailsProps {
  readonly account: string;
  readonly run: Run;
  readonly node: Node;
  /** The steps whose results the endpoint had when it ran this one last. */
  readonly before: readonly Node[];
  readonly planTimeoutMs: number;
  readonly cut: Cut;
  onDone(): void;
}

export function StepDetails({ account, run, node, before, planTimeoutMs, cut, onDone }: StepDetailsProps) {
  const [query] = usePageQuery();
  const box = useRef<HTMLElement>(null);
  const { step, next, attempts } = node;
  useEffect(() => {
    // On narrow pages the details are below the steps, so the page scrolls to them.
    if (query.step !== undefined && matchMedia(NARROW).matches) box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const open = openAttemptOf(step ?? next, planTimeoutMs);
  return (
    <section ref={box} class="card flow-pane" aria-label="The step">
      <PaneHead account={account} run={run} node={node} onDone={onDone} />
      <StepFacts node={node} />
      <CutNote step={step} cut={cut} />
      <div class="flow-columns">
        <Column title="Input">
          <StepInput node={node} before={before} />
        </Column>
        <Column title="Output">
          <StepOutput node={node} />
        </Column>
        <Column title="Error">
          <LastError attempts={attempts} />
        </Column>
        <Column title={`Attempts (${attempts.length})`}>
          <Attempts attempts={attempts} />
          {open !== undefined && (
            <p class="small muted">
              <AttemptNow attempt={open} />
            </p>
          )}
        </Column>
      </div>
    </section>
  );
}

function PaneHead({ account, run, node, onDone }: Pick<StepDetailsProps, 'account' | 'run' | 'node' | 'onDone'>) {
  const [, set] = usePageQuery();
  const isTelling = useSignal(false);
  const { step, name, state, kind } = node;
  const event = state === 'STEP_PROGRESS' ? step?.waitEventId : undefined;
  const tell = (isOpen: boolean) => {
    isTelling.value = isOpen;
  };
  return (
    <div class="row between flow-head">
      <div class="row">
        <h2 class="wrap-anywhere" dir="auto">
          {name}
        </h2>
        <StateBadge state={state} />
        <span class="muted">{kindWord(kind)}</span>
      </div>
      <div class="row">
        {event !== undefined && mayChangeQueues.value && (
          <button type="button" class="button small primary" onClick={() => tell(true)}>
            Notify {event}
          </button>
        )}
        {step !== undefined && mayChangeQueues.value && <RerunButton account={account} run={run} node={node} />}
        <button
          type="button"
          class="button small quiet icon"
          aria-label="Close the step"
          onClick={() => set({ step: '-' })}
        >
          <Icon name="close" />
        </button>
      </div>
      {isTelling.value && event !== undefined && (
        <NotifyDialog
          account={account}
          eventId={event}
          runId={run.workflowRunId}
          onClose={() => tell(false)}
          onDone={onDone}
        />
      )}
    </div>
  );
}

function Column({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function StepFacts({ node }: { readonly node: Node }) {
  const links = useRunLinks();
  const { fromMs, toMs, step, next } = node;
  const { messageId } = step ?? next ?? {};
  const until = step === undefined ? undefined : untilOf(step);
  const child = step?.invokedWorkflowRunId;
  const facts: readonly NamedFact[] = [
    ['Begun', <Time at={fromMs} as="clock" />],
    ['Ended', toMs === undefined ? undefined : <Time at={toMs} as="clock" />],
    ['Took', toMs === undefined ? undefined : duration(toMs - fromMs)],
    ['Event', step?.waitEventId === undefined ? undefined : <code dir="auto">{step.waitEventId}</code>],
    [
      step?.waitEventId === undefined ? 'Sleeps until' : 'Gives up',
      until === undefined ? undefined : <Time at={until} />,
    ],
    ['Ended by', step?.waitTimeout === true ? 'its time, without the event' : undefined],
    ['Call', step?.callUrl === undefined ? undefined : <code>{`${step.callMethod} ${step.callUrl}`}</code>],
    ['Run', child === undefined ? undefined : <a href={links.run(child, step?.invokedWorkflowCreatedAt)}>{child}</a>],
    ['Message', messageId === undefined ? undefined : <code class="small">{messageId}</code>],
  ];
  return <FactLine facts={facts} isSmall />;
}

function LastError({ attempts }: { readonly attempts: readonly StepAttempt[] }) {
  const last = attempts.findLast(({ outcome }) => outcome === 'failed');
  if (last === undefined) return <p class="muted small">No attempt has failed</p>;
  return (
    <>
      <p class="small" dir="auto">
        <StatusBadge attempt={last} /> {last.error}
      </p>
      {last.body !== '' && <ErrorBody text={last.body} />}
    </>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly StepAttempt[] }) {
  if (attempts.length === 0) return <p class="muted small">No attempt has begun</p>;
  return (
    <ol class="plain-list stack tight">
      {attempts.map((attempt, at) => {
        const { fromMs, toMs, outcome, error, body } = attempt;
        const line = (
          <>
            {at + 1}. <StatusBadge attempt={attempt} />{' '}
            <span class="small muted">
              <Time at={fromMs} as="clock" />
              {toMs !== undefined && `, ${duration(toMs - fromMs)}`}
            </span>
          </>
        );
        return (
          <li key={`${at} ${fromMs}`}>
            {outcome === 'failed' ? (
              <details>
                <summary>{line}</summary>
                <p class="small wrap-anywhere" dir="auto">
                  {error}
                </p>
                {body !== '' && <Body text={body} />}
              </details>
            ) : (
              line
            )}
          </li>
        );
      })}
    </ol>
  );
}

function StatusBadge({ attempt: { outcome, status } }: { readonly attempt: StepAttempt }) {
  if (outcome === 'failed') return <Badge tone="bad">{status === 0 ? 'no answer' : status}</Badge>;
  if (outcome === 'running') return <Badge tone="info">running</Badge>;
  return outcome === 'delivered' ? <Badge tone="good">delivered</Badge> : <Badge>interrupted</Badge>;
}
