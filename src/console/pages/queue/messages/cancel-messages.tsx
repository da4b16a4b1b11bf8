/** Cancels messages: the selected ones, or all that match the filters. */
import { ofQueue, type Query } from '../../../api/call.js';
import { beginBulk } from '../../../parts/bulk.js';
import { SmallButton, SmallDangerButton } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { whole } from '../../../parts/format.js';
import type { Selection } from '../../../parts/table.js';
import { doing, failed } from '../../../parts/toast.js';
import { messageCounts, STATES, type StateId } from './message-rows.js';

/** Messages per call, by filter, and by ids from a page of the list. */
const BY_FILTER = 500;
const BY_IDS = 100;

export interface CancelProps {
  readonly account: string;
  readonly state: StateId;
  readonly filter: Query;
  readonly selection: Selection<string>;
  onDone(): void;
}

export function CancelMessages(props: CancelProps) {
  const { chosen } = props.selection;
  return (
    <span class="row">
      {chosen.size > 0 && (
        <SmallDangerButton onClick={() => void cancelChosen(props)}>
          Cancel {whole(chosen.size)} chosen
        </SmallDangerButton>
      )}
      <SmallButton onClick={() => void cancelAll(props).catch(failed)}>Cancel all that match</SmallButton>
    </span>
  );
}

async function cancelChosen({ account, selection, onDone }: CancelProps): Promise<void> {
  const messageIds = [...selection.chosen];
  const isSure = await asked({
    title: `Cancel ${messageIds.length} messages?`,
    text: 'Those that are being delivered at this moment are not tried again; finished ones stay as they are.',
    action: 'Cancel them',
    isDangerous: true,
  });
  if (!isSure) return;
  selection.set(new Set());
  await doing(() => ofQueue(account, 'DELETE /v2/messages', { body: { messageIds } }), 'The messages are cancelled.');
  onDone();
}

/** Counts them first, then cancels page by page. */
async function cancelAll({ account, state, filter, onDone }: CancelProps): Promise<void> {
  const counts = await messageCounts(account, filter);
  const { scheduled = 0, waiting = 0, delivering = 0, retrying = 0 } = counts;
  const total = state === 'all' ? scheduled + waiting + delivering + retrying : (counts[state] ?? 0);
  const isSure = await asked({
    title: `Cancel ${whole(total)} messages?`,
    text: `${whole(total)} messages that are under way meet the filters now. They leave the queue and are not delivered.`,
    action: 'Cancel all of them',
    isDangerous: true,
  });
  if (!isSure) return;
  beginBulk({
    title: 'Cancelling messages',
    total,
    done: 'cancelled',
    step: (signal) => (state === 'all' ? byFilter(account, filter, signal) : byState(account, state, filter, signal)),
    onEnd: onDone,
  });
}

async function byFilter(account: string, filter: Query, signal: AbortSignal) {
  const query = { ...filter, count: BY_FILTER };
  const { cancelled } = await ofQueue(account, 'DELETE /v2/messages', { query, signal });
  return { count: cancelled, isLast: cancelled < BY_FILTER };
}

/**
 * The API cannot cancel by state, so the ids of that state are listed and named. A message being delivered stays for
 * a while.
 */
async function byState(account: string, id: StateId, filter: Query, signal: AbortSignal) {
  const known = STATES.find((state) => state.id === id);
  const state = known !== undefined && 'pending' in known ? known.pending : undefined;
  const query = { ...filter, state, count: BY_IDS };
  const { messages, cursor } = await ofQueue(account, 'GET /v2/messages', { query, signal });
  const messageIds = messages.map(({ messageId }) => messageId);
  if (messageIds.length === 0) return { count: 0, isLast: true };
  const { cancelled } = await ofQueue(account, 'DELETE /v2/messages', { body: { messageIds }, signal });
  return { count: cancelled, isLast: cursor === undefined || cancelled === 0 };
}
