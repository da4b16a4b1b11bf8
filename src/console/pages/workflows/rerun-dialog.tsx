/** Starts a run that begins with the results of this one, up to a step. */
import { type Signal, useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { ofQueue } from '../../api/call.js';
import { Button, SmallButton } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice, SubmitButton, TextField } from '../../parts/field.js';
import { isJson } from '../../parts/json.js';
import { failed, said } from '../../parts/toast.js';
import { useRunLinks } from './links.js';
import type { Run } from './records.js';
import type { Node } from './run-model.js';

const SLEEP = /^Sleep/;

interface RerunProps extends RerunnableProps {
  onClose(): void;
}

interface RerunnableProps {
  readonly account: string;
  readonly run: Run;
  /** The step to execute. */
  readonly node: Node;
}

export function RerunButton(props: RerunnableProps) {
  const isOpen = useSignal(false);
  const open = (next: boolean) => {
    isOpen.value = next;
  };
  return (
    <>
      <SmallButton onClick={() => open(true)}>Run again from here</SmallButton>
      {isOpen.value && <RerunDialog {...props} onClose={() => open(false)} />}
    </>
  );
}

function RerunDialog({ account, run, node, onClose }: RerunProps) {
  const { route } = useLocation();
  const links = useRunLinks();
  const stepId = node.step?.stepId ?? 0;
  const draft: RerunDraft = {
    how: useSignal('execute'),
    input: useSignal(''),
    result: useSignal(node.step?.out ?? 'null'),
    url: useSignal(''),
  };
  const isBusy = useSignal(false);
  const start = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const { workflowRunId: id, workflowRunCreatedAt } = run;
      const started = await ofQueue(account, 'POST /v2/workflows/runs/{id}/rerun', {
        path: { id },
        query: { workflowCreatedAt: workflowRunCreatedAt },
        body: { fromStep: stepId, ...membersOf(draft) },
      });
      said('The new run has started');
      route(links.run(started.workflowRunId, started.workflowCreatedAt));
    } catch (error) {
      failed(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={stepId === 0 ? 'Run again from the beginning' : `Run again from ${node.name}`} onClose={onClose}>
      <form id="rerun" class="stack" onSubmit={start}>
        <p>
          {stepId === 0
            ? 'A new run executes all steps.'
            : 'A new run has the results of the steps before this one. The steps of its parallel group keep theirs.'}{' '}
          This run stays as it is.
        </p>
        <RerunFields draft={draft} hasResult={stepId > 0 && !SLEEP.test(node.kind)} url={run.workflowUrl} />
        <div class="row">
          <SubmitButton isDisabled={isBusy.value}>Start the run</SubmitButton>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface RerunDraft {
  /** `execute` or `give`. */
  readonly how: Signal<string>;
  readonly input: Signal<string>;
  /** JSON. */
  readonly result: Signal<string>;
  readonly url: Signal<string>;
}

interface RerunFieldsProps {
  readonly draft: RerunDraft;
  /** Whether the step can be given a result. */
  readonly hasResult: boolean;
  /** The endpoint of the earlier run. */
  readonly url: string;
}

function RerunFields({ draft: { how, input, result, url: other }, hasResult, url }: RerunFieldsProps) {
  const isGiven = how.value === 'give';
  const wrong = isGiven && !isJson(result.value) ? 'The result is not valid JSON' : undefined;
  return (
    <>
      {hasResult && (
        <Choice
          label="This step"
          value={how}
          options={[
            ['execute', 'Execute it again'],
            ['give', 'Do not execute it: give its result'],
          ]}
        />
      )}
      {isGiven && <TextField label="Result (JSON)" value={result} isLong wrong={wrong} isBlocking />}
      <TextField label="Other payload" value={input} isLong rows={3} hint="Left empty: the payload of this run." />
      <TextField label="Other URL" value={other} placeholder={url} hint="Left empty: the same endpoint." />
    </>
  );
}

function membersOf({ how, input, result, url }: RerunDraft) {
  return {
    ...(input.value === '' ? {} : { input: input.value }),
    ...(how.value === 'give' ? { stepResult: JSON.parse(result.value) as unknown } : {}),
    ...(url.value.trim() === '' ? {} : { url: url.value.trim() }),
  };
}
