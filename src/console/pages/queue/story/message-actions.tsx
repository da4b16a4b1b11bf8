/** Actions on a message: cancel, retry, publish again, edit as a new message. */
import { useLocation } from 'preact-iso/router';
import { ofQueue } from '../../../api/call.js';
import { mayChangeQueues } from '../../../api/session.js';
import { DangerButton } from '../../../parts/button.js';
import { asked } from '../../../parts/dialog.js';
import { doing, failed, said } from '../../../parts/toast.js';
import { type Links, useLinks } from '../links.js';
import { callOf } from '../publish/draft.js';
import { draftOfMessage } from '../publish/prefill.js';
import { publish } from '../publish/send.js';
import type { Story } from './story.js';

export interface MessageActionsProps {
  readonly account: string;
  readonly story: Story;
  /** The address that shows a message that is sent again; by default its page. */
  hrefOf?(id: string): string;
  onDone(): void;
}

export function MessageActions({ account, story, hrefOf, onDone }: MessageActionsProps) {
  const links = useLinks();
  const again = useSendAgain(account, hrefOf ?? links.message);
  const { messageId: id, isUnderWay, dlq } = story;
  if (!mayChangeQueues.value) return null;
  const cancel = () =>
    doing(() => ofQueue(account, 'DELETE /v2/messages/{id}', { path: { id } }), 'It is cancelled.').then(onDone);
  return (
    <>
      {isUnderWay ? (
        <DangerButton onClick={() => void cancel()}>Cancel</DangerButton>
      ) : (
        <button type="button" class={dlq === undefined ? 'button' : 'button primary'} onClick={() => again(story)}>
          {againText(dlq)}
        </button>
      )}
      <a class="button" href={links.queue({ tab: 'publish', from: id })}>
        Publish again edited
      </a>
    </>
  );
}

export function againText(dlq: Story['dlq']): string {
  return dlq === undefined ? 'Publish again' : 'Retry';
}

/** @returns sends a message again as a new one, and opens the new one by `hrefOf` */
export function useSendAgain(account: string, hrefOf: Links['message']): (story: Story) => void {
  const links = useLinks();
  const { route } = useLocation();
  const retry = async (dlqId: string) => {
    const { messageId } = await ofQueue(account, 'POST /v2/dlq/retry/{id}', { path: { id: dlqId } });
    said('It is sent again as a new message.');
    route(hrefOf(messageId));
  };
  const publishAgain = async ({ messageId: from }: Story) => {
    const { draft, notes } = await draftOfMessage(account, from);
    if (notes.length > 0) {
      // A part of it is not known here, so the form asks for that part.
      route(links.queue({ tab: 'publish', from }));
      return;
    }
    const { method, url } = draft;
    const isSure = await asked({
      title: 'Publish it again?',
      text: `A new message with the same body and settings goes to ${method.value} ${url.value}.`,
      action: 'Publish again',
    });
    if (!isSure) return;
    const [published] = [await publish(account, callOf(draft))].flat();
    said('It is published again as a new message.');
    if (published !== undefined) route(hrefOf(published.messageId));
  };
  return (story) => void (story.dlq === undefined ? publishAgain(story) : retry(story.dlq.dlqId)).catch(failed);
}
