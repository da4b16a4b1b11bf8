/** Actions on a trigger. */
import { ofQueue } from '../../../api/call.js';
import { asked } from '../../../parts/dialog.js';
import { RowMenu } from '../../../parts/row-menu.js';
import { doing } from '../../../parts/toast.js';
import { useLinks } from '../links.js';
import { type Trigger, triggerName } from './trigger-words.js';

export interface TriggerActionsProps {
  readonly account: string;
  readonly trigger: Trigger;
  onDone(): void;
}

export function TriggerActions({ account, trigger, onDone }: TriggerActionsProps) {
  const links = useLinks();
  const { triggerId: id, isPaused } = trigger;
  const name = triggerName(trigger);
  const path = { id };
  const pause = () =>
    isPaused
      ? doing(() => ofQueue(account, 'POST /v2/triggers/{id}/resume', { path }), `${name} is resumed.`)
      : doing(() => ofQueue(account, 'POST /v2/triggers/{id}/pause', { path }), `${name} is paused.`);
  const skip = async () => {
    const text = 'Changes that were not sent yet are never sent by this trigger. Its feed still has them.';
    if (!(await asked({ title: `Skip to now with ${name}?`, text, action: 'Skip', isDangerous: true }))) return;
    const work = () => ofQueue(account, 'POST /v2/triggers/{id}/skip', { path, body: { to: 'now' } });
    await doing(work, `${name} continues with new changes.`);
  };
  const remove = async () => {
    const text = 'Messages that it has made are still delivered.';
    const isSure = await asked({ title: `Delete the trigger ${name}?`, text, action: 'Delete', isDangerous: true });
    if (isSure) await doing(() => ofQueue(account, 'DELETE /v2/triggers/{id}', { path }), `${name} is deleted.`);
  };
  return (
    <RowMenu
      label={`Actions of ${name}`}
      items={[
        { label: 'Newest records', href: links.queue({ tab: 'triggers', feed: id }) },
        { label: isPaused ? 'Resume' : 'Pause', onChoose: () => void pause().then(onDone) },
        { label: 'Skip to now', onChoose: () => void skip().then(onDone) },
        { label: 'Delete', isDangerous: true, onChoose: () => void remove().then(onDone) },
      ]}
    />
  );
}
