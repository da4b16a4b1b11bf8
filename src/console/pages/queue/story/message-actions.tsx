/** Actions on a message: cancel, retry, edit as a new message. */
import { useLocation } from 'preact-iso/router';
import { ofQueue } from '../../../api/call.js';
import { mayChange } from '../../../api/session.js';
import { doing, failed, said } from '../../../parts/toast.js';
import { useLinks } from '../links.js';
import type { Story } from './story.js';

export interface MessageActionsProps {
  readonly account: string;
  readonly story: Story;
  onDone(): void;
}

export function MessageActions({ account, story, onDone }: MessageActionsProps) {
  const links = useLinks();
  const { route } = useLocation();
  const { messageId: id, isUnderWay, dlq } = story;
  if (!mayChange.value) return null;
  const cancel = () =>
    doing(() => ofQueue(account, 'DELETE /v2/messages/{id}', { path: { id } }), 'It is cancelled.').then(onDone);
  const retry = async (dlqId: string) => {
    try {
      const { messageId } = await ofQueue(account, 'POST /v2/dlq/retry/{id}', { path: { id: dlqId } });
      said('It is sent again as a new message.');
      route(links.message(messageId));
    } catch (error) {
      failed(error);
    }
  };
  return (
    <>
      {isUnderWay && (
        <button type="button" class="button danger" onClick={() => void cancel()}>
          Cancel
        </button>
      )}
      {dlq !== undefined && (
        <button type="button" class="button primary" onClick={() => void retry(dlq.dlqId)}>
          Retry
        </button>
      )}
      <a class="button" href={links.queue({ tab: 'publish', from: id })}>
        Publish again edited
      </a>
    </>
  );
}
