/** The destination of a message. */
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { Choice, TextField } from '../../../parts/field.js';
import type { FormProps } from './draft.js';

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'].map((method) => [method, method] as const);

export function DestinationFields({ account, draft }: FormProps) {
  const { kind, url, group, queue, method } = draft;
  const groups = useAsk(`groups ${account}`, () => ofQueue(account, 'GET /v2/topics'));
  const queues = useAsk(`queues ${account}`, () => ofQueue(account, 'GET /v2/queues'));
  return (
    <section class="card stack" aria-label="Destination">
      <div class="form-grid">
        <Choice
          label="To"
          value={kind}
          options={[
            ['url', 'a URL'],
            ['group', 'a URL group'],
            ['queue', 'a URL, through a queue'],
          ]}
        />
        <Choice label="Method" value={method} options={METHODS} />
        {kind.value === 'queue' && (
          <TextField
            label="Queue"
            value={queue}
            isRequired
            suggestions={(queues.data ?? []).map(({ name }) => name)}
            hint="One that is not there is made."
          />
        )}
      </div>
      {kind.value === 'group' ? (
        <TextField label="Group" value={group} isRequired suggestions={(groups.data ?? []).map(({ name }) => name)} />
      ) : (
        <TextField label="URL" value={url} isRequired placeholder="https://example.com/orders" />
      )}
    </section>
  );
}
