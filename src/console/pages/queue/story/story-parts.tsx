/** The parts of a message's story: facts, history, request, attempts. */
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { useLive, useWhenHappened } from '../../../api/live.js';
import { Body, Headers } from '../../../parts/exchange.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Timeline } from '../../../parts/timeline.js';
import { useLinks } from '../links.js';
import { Attempts } from './attempts.js';
import type { AskedStory, Story } from './story.js';
import { StorySummary } from './story-facts.js';
import { momentsOf } from './story-moments.js';

/** Loads a story, and loads it again after each event of the message. */
export function useStory(account: string, id: string): AskedStory {
  const asked = useAsk(`${account} ${id}`, () => ofQueue(account, 'GET /v2/messages/{id}/story', { path: { id } }));
  const happened = useWhenHappened(asked.reload);
  useLive(`/v2/admin/queues/${account}/logs`, {
    log: (event) => {
      const { messageId } = event as { readonly messageId: string };
      // Callbacks are messages, too: their events also reload an unfinished story.
      if (messageId === id || asked.data?.callbacks.some((callback) => callback.messageId === messageId)) happened();
    },
  });
  return asked;
}

export function placeOf({ message: { url } }: Story): string {
  return url.replace(/^https?:\/\//, '');
}

/** The whole story, or a notice that the message is unknown. */
export function StoryParts({ asked }: { readonly asked: AskedStory }) {
  if (asked.data === undefined && asked.error?.status === 404) {
    return (
      <div class="table-box">
        <Empty title="No message of this id is known">
          Delivered messages are shown as long as the log keeps them; steps of workflows are listed with their runs.
        </Empty>
      </div>
    );
  }
  return <Shown asked={asked}>{(story) => <Parts story={story} />}</Shown>;
}

function Parts({ story }: { readonly story: Story }) {
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
