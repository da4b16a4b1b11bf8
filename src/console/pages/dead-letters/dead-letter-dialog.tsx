/** One dead letter: the message, the last answer, and actions. */
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { DangerButton, PrimaryButton } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Body, Headers } from '../../parts/exchange.js';
import { Empty, Shown } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { useLinks } from '../queue/links.js';
import { type DeadLetter, failedAtOf } from './dlq.js';
import { statusText } from './status-counts.js';

export interface DeadLetterProps {
  readonly account: string;
  readonly id: string;
  onClose(): void;
  onDone(): void;
}

export function DeadLetterDialog(props: DeadLetterProps) {
  const { account, id, onClose } = props;
  const asked = useAsk(`${account} ${id}`, () => ofQueue(account, 'GET /v2/dlq/{id}', { path: { id } }));
  const entry = asked.data;
  const foot = entry !== undefined && <Actions entry={entry} {...props} />;
  return (
    <Dialog title={`Dead letter ${id}`} isLarge foot={foot || undefined} onClose={onClose}>
      {asked.error?.status === 404 ? (
        <Empty title="It no longer exists">It was sent again or deleted.</Empty>
      ) : (
        <Shown asked={asked}>{(shown) => <Entry entry={shown} />}</Shown>
      )}
    </Dialog>
  );
}

function Entry({ entry }: { readonly entry: DeadLetter }) {
  const { method, url, error, responseStatus, createdAt, maxRetries, labels = [] } = entry;
  return (
    <>
      <dl class="facts">
        <dt>Destination</dt>
        <dd dir="auto">
          {method} {url}
        </dd>
        <dt>Accepted</dt>
        <dd>
          <Time at={createdAt} as="past" />
        </dd>
        <dt>Failed</dt>
        <dd>
          <Time at={failedAtOf(entry)} as="past" />
        </dd>
        <dt>Retries</dt>
        <dd>{maxRetries}</dd>
        <dt>Labels</dt>
        <dd dir="auto">{labels.join(', ') || '–'}</dd>
        <dt>Error</dt>
        <dd dir="auto">{error ?? '–'}</dd>
      </dl>
      <section class="stack tight" aria-label="Request">
        <h3>Request</h3>
        <Headers header={entry.header} />
        <Body text={entry.body} base64={entry.bodyBase64} />
      </section>
      <section class="stack tight" aria-label="Last answer">
        <h3>
          Last answer <Badge tone="bad">{statusText(responseStatus)}</Badge>
        </h3>
        <Headers header={entry.responseHeader} />
        <Body text={entry.responseBody} base64={entry.responseBodyBase64} />
      </section>
    </>
  );
}

function Actions({ account, entry, onClose, onDone }: DeadLetterProps & { readonly entry: DeadLetter }) {
  const links = useLinks();
  const path = { id: entry.dlqId };
  const after = (isDone: boolean) => {
    if (!isDone) return;
    onClose();
    onDone();
  };
  const retry = () => doing(() => ofQueue(account, 'POST /v2/dlq/retry/{id}', { path }), 'It is sent again.');
  const remove = () => doing(() => ofQueue(account, 'DELETE /v2/dlq/{id}', { path }), 'It is deleted.');
  return (
    <>
      <a class="button" href={links.message(entry.messageId)}>
        Whole story
      </a>
      {mayChangeQueues.value && (
        <>
          <a class="button" href={links.queue({ tab: 'publish', from: entry.messageId })}>
            Publish again edited
          </a>
          <DangerButton onClick={() => void remove().then(after)}>Delete</DangerButton>
          <PrimaryButton onClick={() => void retry().then(after)}>Retry</PrimaryButton>
        </>
      )}
    </>
  );
}
