/** The whole story of a message. */
import { type Asked, useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { useLive, useWhenHappened } from '../../api/live.js';
import { useQueue } from '../../api/queues.js';
import { StateBadge } from '../../parts/badge.js';
import { Body, Headers } from '../../parts/exchange.js';
import { PageHead } from '../../parts/page-head.js';
import { Empty, Shown } from '../../parts/states.js';
import { Timeline } from '../../parts/timeline.js';
import { useLinks } from './links.js';
import { Attempts } from './story/attempts.js';
import { MessageActions } from './story/message-actions.js';
import type { Story } from './story/story.js';
import { StorySummary } from './story/story-facts.js';
import { momentsOf } from './story/story-moments.js';

export default function Message({ id }: { readonly id: string }) {
  const queue = useQueue();
  return (
    <Shown asked={queue}>{({ shown }) => <OfAccount key={`${shown.id} ${id}`} account={shown.id} id={id} />}</Shown>
  );
}

function OfAccount({ account, id }: { readonly account: string; readonly id: string }) {
  const links = useLinks();
  const asked = useAsk(`${account} ${id}`, () => ofQueue(account, 'GET /v2/messages/{id}/story', { path: { id } }));
  const happened = useWhenHappened(asked.reload);
  useLive(`/v2/admin/queues/${account}/logs`, {
    log: (event) => {
      const { messageId } = event as { readonly messageId: string };
      // Callbacks are messages, too: their events also reload an unfinished story.
      if (messageId === id || asked.data?.callbacks.some((callback) => callback.messageId === messageId)) happened();
    },
  });
  const { data } = asked;
  return (
    <>
      <PageHead
        title={data === undefined ? id : placeOf(data.message.url)}
        crumbs={[[links.queue({}), 'Queue']]}
        badge={data !== undefined && <StateBadge state={data.state} />}
      >
        {data !== undefined && <MessageActions account={account} story={data} onDone={asked.reload} />}
      </PageHead>
      <StoryOrNone asked={asked} />
    </>
  );
}

function placeOf(url: string): string {
  return url.replace(/^https?:\/\//, '');
}

function StoryOrNone({ asked }: { readonly asked: Asked<Story> }) {
  if (asked.data === undefined && asked.error?.status === 404) {
    return (
      <div class="table-box">
        <Empty title="No message of this id is known">
          Delivered messages are shown as long as the log keeps them; steps of workflows are listed with their runs.
        </Empty>
      </div>
    );
  }
  return <Shown asked={asked}>{(story) => <StoryParts story={story} />}</Shown>;
}

function StoryParts({ story }: { readonly story: Story }) {
  const links = useLinks();
  return (
    <div class="stack">
      <div class="grid story">
        <section class="card" aria-label="The message">
          <h2>The message</h2>
          <StorySummary story={story} />
        </section>
        <section class="card" aria-label="History">
          <h2>History</h2>
          <Timeline moments={momentsOf(story, links)} />
          {story.cursor !== undefined && <p class="note">There is more than is shown here.</p>}
        </section>
      </div>
      {story.attempts.length === 0 && (
        <section class="card stack tight" aria-label="Request">
          <h2>Request</h2>
          <Headers header={story.message.header} />
          <Body text={story.message.body} base64={story.message.bodyBase64} />
        </section>
      )}
      {story.attempts.length > 0 && <Attempts story={story} />}
    </div>
  );
}
