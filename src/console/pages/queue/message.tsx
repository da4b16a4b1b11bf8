/** The whole story of a message. */
import { useQueue } from '../../api/queues.js';
import { StateBadge } from '../../parts/badge.js';
import { PageHead } from '../../parts/page-head.js';
import { Shown } from '../../parts/states.js';
import { useLinks } from './links.js';
import { MessageActions } from './story/message-actions.js';
import { placeOf, StoryParts, useStory } from './story/story-parts.js';

export default function Message({ id }: { readonly id: string }) {
  const queue = useQueue();
  return (
    <Shown asked={queue}>{({ shown }) => <OfAccount key={`${shown.id} ${id}`} account={shown.id} id={id} />}</Shown>
  );
}

function OfAccount({ account, id }: { readonly account: string; readonly id: string }) {
  const links = useLinks();
  const asked = useStory(account, id);
  const { data } = asked;
  return (
    <>
      <PageHead
        title={data === undefined ? id : placeOf(data)}
        crumbs={[[links.queue({}), 'Queue']]}
        badge={data !== undefined && <StateBadge state={data.state} />}
      >
        {data !== undefined && <MessageActions account={account} story={data} onDone={asked.reload} />}
      </PageHead>
      <StoryParts asked={asked} />
    </>
  );
}
