/** Writes and publishes a message, new or from an existing one, with the curl command next to it. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../../api/ask.js';
import { usePageQuery } from '../../../api/query.js';
import { useQueueUrl } from '../../../api/queue-url.js';
import { useQueue } from '../../../api/queues.js';
import { Code } from '../../../parts/code.js';
import { Check, SubmitRow } from '../../../parts/field.js';
import { MASKED_SECRET } from '../../../parts/secret-line.js';
import { Shown } from '../../../parts/states.js';
import { failed } from '../../../parts/toast.js';
import { useLinks } from '../links.js';
import type { TabProps } from '../tab.js';
import { curlLine, TOKEN_VARIABLE, URL_VARIABLE } from './curl.js';
import { callOf, type Draft, draftOf } from './draft.js';
import { MessageForm } from './message-form.js';
import { draftOfMessage, type Prefilled } from './prefill.js';
import { publish } from './send.js';

export function PublishTab({ account }: TabProps) {
  const [{ from }] = usePageQuery();
  const asked = useAsk(`draft ${from ?? ''}`, async (): Promise<Prefilled> => {
    return from === undefined ? { draft: draftOf({}), notes: [] } : draftOfMessage(account, from);
  });
  return (
    <Shown asked={asked} rows={8}>
      {({ draft, notes }) => <Publishing key={from ?? ''} account={account} draft={draft} notes={notes} />}
    </Shown>
  );
}

interface PublishingProps extends Prefilled {
  readonly account: string;
}

function Publishing({ account, draft, notes }: PublishingProps) {
  const done = useSignal<readonly Schemas['Published'][]>([]);
  const isSending = useSignal(false);
  const send = async (event: Event) => {
    event.preventDefault();
    isSending.value = true;
    try {
      done.value = [await publish(account, callOf(draft))].flat();
    } catch (error) {
      failed(error);
    } finally {
      isSending.value = false;
    }
  };
  return (
    <form class="publish" onSubmit={(event) => void send(event)}>
      <div class="stack">
        {notes.map((note) => (
          <p key={note} class="note warn">
            {note}
          </p>
        ))}
        <MessageForm account={account} draft={draft} />
      </div>
      <div class="stack beside">
        <section class="card stack" aria-label="Publish">
          <SubmitRow isDisabled={isSending.value}>Publish</SubmitRow>
          <Done published={done.value} />
        </section>
        <CurlLine draft={draft} />
      </div>
    </form>
  );
}

function Done({ published }: { readonly published: readonly Schemas['Published'][] }) {
  const links = useLinks();
  return (
    <ul class="plain-list stack tight" aria-live="polite">
      {published.map(({ messageId, url, deduplicated }) => (
        <li key={`${messageId} ${url}`} class="wrap-anywhere">
          {deduplicated === true ? 'It is there already: ' : 'Published: '}
          <a class="mono" href={links.message(messageId)}>
            {messageId}
          </a>
          <div class="small muted">{url}</div>
        </li>
      ))}
    </ul>
  );
}

function CurlLine({ draft }: { readonly draft: Draft }) {
  const base = useQueueUrl() ?? URL_VARIABLE;
  const sent = useQueue().data?.shown.token;
  const token = sent === MASKED_SECRET ? undefined : sent;
  const hasToken = useSignal(false);
  const line = curlLine(base, hasToken.value && token !== undefined ? token : TOKEN_VARIABLE, callOf(draft));
  return (
    <section class="card stack" aria-label="The same by curl">
      <h2>The same by curl</h2>
      <Code text={line} />
      {token !== undefined && <Check label="With the token in it" value={hasToken} />}
    </section>
  );
}
