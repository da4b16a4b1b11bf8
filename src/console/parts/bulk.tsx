/** Work on many items, page by page, with its progress and a stop button. */
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button, PrimaryButton } from './button.js';
import { Dialog } from './dialog.js';
import { whole } from './format.js';
import { Failure } from './states.js';

export interface BulkWork {
  readonly title: string;
  /** Number of items when they were counted; more may come. */
  readonly total: number;
  /** The past participle of the work: "retried", "cancelled". */
  readonly done: string;
  /** Processes the next page. @returns its number of items, and whether it was the last page */
  step(signal: AbortSignal): Promise<{ readonly count: number; readonly isLast: boolean }>;
  /** Called at the end, also after a stop or an error. */
  onEnd?(): void;
}

const current = signal<BulkWork | undefined>(undefined);

/** Runs the work until it is finished or stopped. Finished pages are not undone. */
export function beginBulk(work: BulkWork): void {
  current.value = work;
}

/** Mounted once, in the frame. */
export function BulkProgress() {
  const work = current.value;
  return work === undefined ? null : <Progress key={work.title} work={work} />;
}

function Progress({ work }: { readonly work: BulkWork }) {
  const count = useSignal(0);
  const state = useSignal<'running' | 'stopped' | 'over'>('running');
  const error = useSignal<Error | undefined>(undefined);
  const controller = useSignal(new AbortController());
  useEffect(() => {
    const { signal: stop } = controller.value;
    void all(work, stop, (more) => {
      count.value += more;
    })
      .catch((failure: unknown) => {
        if (!stop.aborted) error.value = failure instanceof Error ? failure : new Error(String(failure));
      })
      .finally(() => {
        state.value = stop.aborted ? 'stopped' : 'over';
        work.onEnd?.();
      });
    return () => controller.value.abort();
  }, []);
  const isRunning = state.value === 'running';
  const close = () => {
    controller.value.abort();
    current.value = undefined;
  };
  const foot = isRunning ? (
    <Button onClick={() => controller.value.abort()}>Stop</Button>
  ) : (
    <PrimaryButton onClick={close}>Close</PrimaryButton>
  );
  return (
    <Dialog title={work.title} foot={foot} onClose={close}>
      <progress value={count.value} max={Math.max(work.total, count.value, 1)} aria-label={work.title} />
      <p role="status">
        {whole(count.value)} of {whole(Math.max(work.total, count.value))} {work.done}
        {state.value === 'stopped' && '; stopped, the others are unchanged'}
        {state.value === 'over' && error.value === undefined && '; that was all'}
      </p>
      {error.value !== undefined && <Failure error={error.value} />}
    </Dialog>
  );
}

async function all(work: BulkWork, stop: AbortSignal, onDone: (count: number) => void): Promise<void> {
  let isLast = false;
  while (!isLast && !stop.aborted) {
    const step = await work.step(stop);
    onDone(step.count);
    isLast = step.isLast;
  }
}
