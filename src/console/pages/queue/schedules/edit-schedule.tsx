/** Creates a schedule, or changes an existing one. */
import { useSignal } from '@preact/signals';
import { useQueueUrl } from '../../../api/queue-url.js';
import { Button } from '../../../parts/button.js';
import { Code } from '../../../parts/code.js';
import { SubmitButton, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';
import { curlLine, TOKEN_VARIABLE, URL_VARIABLE } from '../publish/curl.js';
import { callOf, draftOf } from '../publish/draft.js';
import { MessageForm } from '../publish/message-form.js';
import { draftOfSchedule } from '../publish/prefill.js';
import { setSchedule } from '../publish/send.js';
import type { Schedule } from '../tab.js';
import { CronFields } from './cron-fields.js';

export interface EditScheduleProps {
  readonly account: string;
  /** Undefined: a new schedule. */
  readonly schedule: Schedule | undefined;
  onClose(): void;
}

export function EditSchedule({ account, schedule, onClose }: EditScheduleProps) {
  const written = useSignal(schedule === undefined ? { draft: draftOf({}), notes: [] } : draftOfSchedule(schedule));
  const { draft, notes } = written.value;
  const base = useQueueUrl() ?? URL_VARIABLE;
  const call = callOf(draft, 'schedule');
  const save = async (event: Event) => {
    event.preventDefault();
    if (await doing(() => setSchedule(account, call), 'The schedule is saved.')) onClose();
  };
  return (
    <form class="publish" onSubmit={(event) => void save(event)}>
      <div class="stack">
        <h2>{schedule === undefined ? 'New schedule' : `Schedule ${schedule.scheduleId}`}</h2>
        {notes.map((note) => (
          <p key={note} class="note warn">
            {note}
          </p>
        ))}
        {schedule === undefined && (
          <TextField label="Id" value={draft.scheduleId} hint="Left out: it gets one." placeholder="nightly-report" />
        )}
        <CronFields account={account} draft={draft} />
        <MessageForm account={account} draft={draft} />
      </div>
      <div class="stack beside">
        <section class="card row" aria-label="Save">
          <SubmitButton>Save</SubmitButton>
          <Button onClick={onClose}>Cancel</Button>
        </section>
        <section class="card stack" aria-label="The same by curl">
          <h2>The same by curl</h2>
          <Code text={curlLine(base, TOKEN_VARIABLE, call)} />
        </section>
      </div>
    </form>
  );
}
