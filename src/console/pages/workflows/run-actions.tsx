/** Actions on a whole run: cancel, resume, restart. */
import { ofQueue } from '../../api/call.js';
import { mayChangeQueues } from '../../api/session.js';
import { DangerButton } from '../../parts/button.js';
import { asked } from '../../parts/dialog.js';
import { doing } from '../../parts/toast.js';
import { FailedRunActions } from './failed-run-actions.js';
import { useRunLinks } from './links.js';
import type { Run } from './records.js';

export interface RunActionsProps {
  readonly account: string;
  readonly run: Run;
  onDone(): void;
}

export function RunActions({ account, run, onDone }: RunActionsProps) {
  const links = useRunLinks();
  if (!mayChangeQueues.value) return null;
  const { workflowRunId, workflowUrl, workflowState, dlqId, failureFunction } = run;
  const cancel = async () => {
    const text = 'Its open steps are dropped, its failure function is not called, and it cannot be resumed.';
    if (!(await asked({ title: 'Cancel this run?', text, action: 'Cancel the run', isDangerous: true }))) return;
    const work = () => ofQueue(account, 'DELETE /v2/workflows/runs/{id}', { path: { id: workflowRunId } });
    if (await doing(work, 'Cancelled')) onDone();
  };
  return (
    <>
      {workflowState === 'RUN_STARTED' && <DangerButton onClick={cancel}>Cancel the run</DangerButton>}
      {workflowState === 'RUN_FAILED' && dlqId !== undefined && (
        <FailedRunActions account={account} dlqId={dlqId} functionState={failureFunction?.state} onDone={onDone} />
      )}
      <a class="button" href={links.list({ tab: 'start', url: workflowUrl })}>
        Start another
      </a>
    </>
  );
}
