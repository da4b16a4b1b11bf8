/** Actions on a schedule. */
import { ofQueue } from '../../../api/call.js';
import { asked } from '../../../parts/dialog.js';
import { RowMenu } from '../../../parts/row-menu.js';
import { doing, failed } from '../../../parts/toast.js';
import { useLinks } from '../links.js';
import { callOf } from '../publish/draft.js';
import { draftOfSchedule } from '../publish/prefill.js';
import { publish } from '../publish/send.js';
import type { Schedule } from '../tab.js';

export interface ScheduleActionsProps {
  readonly account: string;
  readonly schedule: Schedule;
  onDone(): void;
}

export function ScheduleActions({ account, schedule, onDone }: ScheduleActionsProps) {
  const links = useLinks();
  const { scheduleId: id, isPaused } = schedule;
  const path = { id };
  const pause = () =>
    isPaused
      ? doing(() => ofQueue(account, 'POST /v2/schedules/{id}/resume', { path }), `${id} is resumed.`)
      : doing(() => ofQueue(account, 'POST /v2/schedules/{id}/pause', { path }), `${id} is paused.`);
  const remove = async () => {
    const text = 'The messages it has made stay as they are.';
    const isSure = await asked({ title: `Delete the schedule ${id}?`, text, action: 'Delete', isDangerous: true });
    if (isSure) await doing(() => ofQueue(account, 'DELETE /v2/schedules/{id}', { path }), `${id} is deleted.`);
  };
  return (
    <RowMenu
      label={`Actions of ${id}`}
      items={[
        { label: 'Run now', onChoose: () => void runNow(account, schedule) },
        { label: isPaused ? 'Resume' : 'Pause', onChoose: () => void pause().then(onDone) },
        { label: 'Edit', href: links.queue({ tab: 'schedules', edit: id }) },
        { label: 'Delete', isDangerous: true, onChoose: () => void remove().then(onDone) },
      ]}
    />
  );
}

/** Publishes a message with the schedule's settings; impossible if parts of it are hidden. */
async function runNow(account: string, schedule: Schedule): Promise<void> {
  const { draft, notes } = draftOfSchedule(schedule);
  if (notes.length > 0) {
    failed(`It cannot be run from here. ${notes.join(' ')}`);
    return;
  }
  await doing(
    () => publish(account, callOf(draft)),
    `A message with the settings of ${schedule.scheduleId} is published.`,
  );
}
