/** Actions of the palette: pages with a form, and changes that need no form. */
import type { Schemas } from '#api';
import { ofQueue, queryText } from '../api/call.js';
import type { QueueView } from '../api/queues.js';
import { mayChangeQueues, mayUseData, signOut } from '../api/session.js';
import { doing, failed } from '../parts/toast.js';
import { isDark, toggleTheme } from '../theme.js';
import type { Found } from './found-item.js';

/** @param queues of the account that pages show; empty while they are loading */
export function verbs(view: QueueView | undefined, queues: readonly Schemas['Queue'][], showKeys: () => void): Found[] {
  return [
    ...(mayUseData.value && mayChangeQueues.value && view !== undefined ? ofAccount(view.shown.id, queues) : []),
    { label: `Use the ${isDark.value ? 'light' : 'dark'} theme`, kind: 'action', run: toggleTheme },
    { label: 'Show the keyboard shortcuts', kind: 'action', run: showKeys },
    { label: 'Sign out', kind: 'action', run: signOut },
  ];
}

function ofAccount(account: string, queues: readonly Schemas['Queue'][]): Found[] {
  const queuePage = (words: Record<string, string>) => `/console/queue${queryText({ queue: account, ...words })}`;
  return [
    { label: 'Publish a message', kind: 'action', href: queuePage({ tab: 'publish' }) },
    { label: 'New schedule', kind: 'action', href: queuePage({ tab: 'schedules', edit: '-' }) },
    ...queues.map(({ name, paused }): Found => {
      const path = { name };
      return paused
        ? {
            label: `Resume queue ${name}`,
            kind: 'action',
            run: () => doing(() => ofQueue(account, 'POST /v2/queues/{name}/resume', { path }), `${name} is resumed.`),
          }
        : {
            label: `Pause queue ${name}`,
            kind: 'action',
            run: () => doing(() => ofQueue(account, 'POST /v2/queues/{name}/pause', { path }), `${name} is paused.`),
          };
    }),
    { label: 'Retry all dead letters', kind: 'action', run: () => retryAll(account) },
    ...queues.map(
      ({ name }): Found => ({
        label: `Retry all dead letters of queue ${name}`,
        kind: 'action',
        run: () => retryAll(account, name),
      }),
    ),
  ];
}

/** Asks for a confirmation with their number. */
async function retryAll(account: string, queueName?: string): Promise<void> {
  const { ofAll } = await import('../pages/dead-letters/bulk-buttons.js');
  await ofAll({ account, filter: { queueName }, onDone: () => undefined }, 'retry').catch(failed);
}
