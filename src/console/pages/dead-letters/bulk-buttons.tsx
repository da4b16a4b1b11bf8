/** Retries or deletes dead letters: the selected ones, or all that match the filters. */
import type { Query } from '../../api/call.js';
import { beginBulk } from '../../parts/bulk.js';
import { SmallButton, SmallDangerButton } from '../../parts/button.js';
import { asked } from '../../parts/dialog.js';
import { whole } from '../../parts/format.js';
import type { Selection } from '../../parts/table.js';
import { doing, failed } from '../../parts/toast.js';
import { type BulkAction, bulkOf, bulkPage, countsOf } from './dlq.js';

export interface BulkProps {
  readonly account: string;
  readonly filter: Query;
  readonly selection: Selection<string>;
  onDone(): void;
}

const WORDS = {
  retry: {
    title: 'Retry',
    done: 'sent again',
    text: 'Each is sent again as a new message and removed from the dead letters.',
  },
  delete: { title: 'Delete', done: 'deleted', text: 'They are gone from the dead letters for good.' },
} as const;

export function BulkButtons(props: BulkProps) {
  const count = props.selection.chosen.size;
  const run = (work: Promise<void>) => void work.catch(failed);
  return (
    <div class="row list-head">
      {count > 0 && (
        <>
          <SmallButton onClick={() => run(ofChosen(props, 'retry'))}>Retry {whole(count)} chosen</SmallButton>
          <SmallDangerButton onClick={() => run(ofChosen(props, 'delete'))}>
            Delete {whole(count)} chosen
          </SmallDangerButton>
        </>
      )}
      <SmallButton onClick={() => run(ofAll(props, 'retry'))}>Retry all that match</SmallButton>
      <SmallDangerButton onClick={() => run(ofAll(props, 'delete'))}>Delete all that match</SmallDangerButton>
    </div>
  );
}

async function ofChosen({ account, selection, onDone }: BulkProps, action: BulkAction): Promise<void> {
  const ids = [...selection.chosen];
  const { title, done, text } = WORDS[action];
  const isSure = await asked({
    title: `${title} ${whole(ids.length)} dead letters?`,
    text,
    action: title,
    isDangerous: action === 'delete',
  });
  if (!isSure) return;
  await doing(() => bulkOf(account, action, ids), `${whole(ids.length)} dead letters are ${done}.`);
  onDone();
}

/**
 * Counts them first. Newer dead letters are not included, because a message that fails again would be retried for
 * ever.
 */
export async function ofAll(
  { account, filter, onDone }: Omit<BulkProps, 'selection'>,
  action: BulkAction,
): Promise<void> {
  const { total, isWhole } = await countsOf(account, filter);
  const { title, done, text } = WORDS[action];
  const isSure = await asked({
    title: `${title} ${whole(total)}${isWhole ? '' : ' or more'} dead letters?`,
    text: `${whole(total)} dead letters meet the filters now. ${text}`,
    action: `${title} all of them`,
    isDangerous: action === 'delete',
  });
  if (!isSure) return;
  const until = { ...filter, toDate: filter.toDate ?? Date.now() };
  let cursor: string | undefined;
  beginBulk({
    title: action === 'retry' ? 'Sending dead letters again' : 'Deleting dead letters',
    total,
    done,
    step: async (signal) => {
      const page = await bulkPage(account, action, until, cursor, signal);
      cursor = page.cursor;
      return { count: page.count, isLast: cursor === undefined };
    },
    onEnd: onDone,
  });
}
