/** Actions on one failed run. Resuming or restarting creates a new run and opens it. */
import { useLocation } from 'preact-iso/router';
import { ofQueue } from '../../api/call.js';
import { asked } from '../../parts/dialog.js';
import { doing, failed, said } from '../../parts/toast.js';
import { useRunLinks } from './links.js';
import type { FunctionState } from './records.js';

export interface FailedRunActionsProps {
  readonly account: string;
  readonly dlqId: string;
  readonly functionState: FunctionState | undefined;
  /** In a row of a table. */
  readonly isSmall?: boolean;
  onDone(): void;
}

export function FailedRunActions({ account, dlqId, functionState, isSmall = false, onDone }: FailedRunActionsProps) {
  const { route } = useLocation();
  const links = useRunLinks();
  const size = isSmall ? 'small' : '';
  const options = { path: { id: dlqId } };
  const begin = async (how: 'resume' | 'restart') => {
    try {
      const started = await ofQueue(account, `POST /v2/workflows/dlq/${how}/{id}`, options);
      said(how === 'resume' ? 'A new run resumes at the failed step' : 'A new run begins with the same payload');
      onDone();
      route(links.run(started.workflowRunId, started.workflowCreatedAt));
    } catch (error) {
      failed(error);
    }
  };
  const callAgain = async () => {
    const work = () => ofQueue(account, 'POST /v2/workflows/dlq/callback/{id}', options);
    if (await doing(work, 'The failure function is called again')) onDone();
  };
  const takeBack = async () => {
    const work = () => ofQueue(account, 'DELETE /v2/workflows/dlq/callback/{id}', options);
    if (await doing(work, 'The failure function is not called any more')) onDone();
  };
  const remove = async () => {
    const title = 'Delete this failed run?';
    const text = 'It leaves the list of failed runs and cannot be resumed or restarted then. Its log stays a while.';
    if (!(await asked({ title, text, action: 'Delete', isDangerous: true }))) return;
    const work = () => ofQueue(account, 'DELETE /v2/workflows/dlq/{id}', options);
    if (await doing(work, 'Deleted')) onDone();
  };
  return (
    <div class="row">
      <button type="button" class={`button ${size}`} onClick={() => begin('resume')}>
        Resume
      </button>
      <button type="button" class={`button ${size}`} onClick={() => begin('restart')}>
        Restart
      </button>
      {functionState === 'CALLBACK_FAIL' && (
        <button type="button" class={`button ${size}`} onClick={callAgain}>
          Run its failure function again
        </button>
      )}
      {functionState === 'CALLBACK_INPROGRESS' && (
        <button type="button" class={`button ${size}`} onClick={takeBack}>
          Take its failure function back
        </button>
      )}
      <button type="button" class={`button danger ${size}`} onClick={remove}>
        Delete
      </button>
    </div>
  );
}
