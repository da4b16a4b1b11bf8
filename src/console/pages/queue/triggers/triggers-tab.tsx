/** Triggers: which changes of keys are sent where, how far each has read, and the newest records. */
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { usePageQuery } from '../../../api/query.js';
import { mayChangeQueues } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { duration, whole } from '../../../parts/format.js';
import { Icon } from '../../../parts/icon.js';
import { Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import { NothingYet } from '../nothing-yet.js';
import type { TabProps } from '../tab.js';
import { NewTrigger } from './new-trigger.js';
import { TriggerActions } from './trigger-actions.js';
import { TriggerFeed } from './trigger-feed.js';
import { destinationOf, type Trigger, triggerName } from './trigger-words.js';

const EVERY_MS = 5_000;
/** The address's word for a new one; no id has this form. */
const NEW = '-';

export function TriggersTab({ account }: TabProps) {
  const [{ edit, feed }, set] = usePageQuery();
  const asked = useAsk(account, () => ofQueue(account, 'GET /v2/triggers'), EVERY_MS);
  const columns = useColumns(account, asked.reload);
  const links = useLinks();
  const close = () => {
    set({ edit: undefined, feed: undefined });
    asked.reload();
  };
  return (
    <Shown asked={asked}>
      {(triggers) => {
        const read = triggers.find(({ triggerId }) => triggerId === feed);
        return (
          <>
            {mayChangeQueues.value && (
              <div class="row list-head">
                <a class="button" href={links.queue({ tab: 'triggers', edit: NEW })}>
                  <Icon name="plus" />
                  New trigger
                </a>
              </div>
            )}
            <Table
              label="Triggers"
              columns={columns}
              rows={triggers}
              idOf={({ triggerId }) => triggerId}
              empty={
                <NothingYet
                  title="There are no triggers"
                  call={`/v2/triggers -d '{"patterns":["order:*"],"events":["set"],"destination":"https://example.com"}'`}
                >
                  A trigger sends changes of keys to a destination, in order and without a gap.
                </NothingYet>
              }
            />
            {edit === NEW && mayChangeQueues.value && <NewTrigger account={account} onClose={close} />}
            {read !== undefined && <TriggerFeed account={account} trigger={read} onClose={close} />}
          </>
        );
      }}
    </Shown>
  );
}

function useColumns(account: string, onDone: () => void): readonly Column<Trigger>[] {
  const links = useLinks();
  return [
    {
      title: 'Trigger',
      cell: (trigger) => (
        <span class="message-name">
          <span class="row">
            <a dir="auto" href={links.queue({ tab: 'triggers', feed: trigger.triggerId })}>
              {triggerName(trigger)}
            </a>
            {trigger.isPaused && <Badge>paused</Badge>}
            {trigger.state === 'lost' && <Badge tone="bad">lost</Badge>}
          </span>
          {trigger.state === 'lost' && <span class="small wrap-anywhere">{trigger.reason}</span>}
          <span class="small muted cut" dir="auto" title={destinationOf(trigger)}>
            {destinationOf(trigger)}
          </span>
        </span>
      ),
    },
    {
      title: 'Keys',
      cell: ({ patterns, filter }) => (
        <span class="wrap-anywhere" dir="auto">
          <code>{patterns.join(', ')}</code>
          {filter !== undefined && <span class="small muted"> where {filter}</span>}
        </span>
      ),
    },
    { title: 'Changes', isWideOnly: true, cell: ({ events }) => events.join(', ') },
    { title: 'Lag', isNumber: true, cell: (trigger) => <Lag trigger={trigger} /> },
    { title: 'Made', isWideOnly: true, cell: ({ createdAt }) => <Time at={createdAt} as="past" /> },
    ...(mayChangeQueues.value
      ? [{ title: 'Actions', cell: (trigger: Trigger) => <TriggerActions {...{ account, trigger, onDone }} /> }]
      : []),
  ];
}

/** Entries that were not read yet, and the age of the first of them. */
function Lag({ trigger: { lagEntries, lagSeconds } }: { readonly trigger: Trigger }) {
  if (lagEntries === undefined) return <span class="muted">–</span>;
  const age = lagSeconds === undefined || lagEntries === 0 ? '' : `, ${duration(lagSeconds * 1_000)}`;
  return (
    <span class="nowrap" title="entries of the journal that were not read yet, and the age of the first of them">
      {whole(lagEntries)}
      {age}
    </span>
  );
}
