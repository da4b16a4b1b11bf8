/** Sends a test notice to every channel of a rule, and shows how each ended. */
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { manage, ofQueue } from '../../api/call.js';
import { Badge, StateBadge } from '../../parts/badge.js';
import { Dialog } from '../../parts/dialog.js';
import { Shown } from '../../parts/states.js';
import { Channel } from './channel.js';
import type { Rule } from './rule-words.js';

const EVERY_MS = 5_000;

export function TestDialog({ rule, onClose }: { readonly rule: Rule; onClose(): void }) {
  const path = { id: rule.rule_id };
  const asked = useAsk(`test ${rule.rule_id}`, () => manage('POST /v2/alerts/{id}/test', { path }));
  const accounts = useAsk('test account', () => manage('GET /v2/msgq/users'));
  return (
    <Dialog title={`Test of ${rule.name}`} onClose={onClose}>
      <p class="muted">Every channel gets a notice that is marked as a test.</p>
      <Shown asked={asked} rows={rule.channels.length}>
        {(tested) => (
          <ul class="plain-list stack tight">
            {tested.map((one) => (
              <li key={`${one.channel.type} ${one.channel.address}`} class="tested">
                <Channel channel={one.channel} />
                <Outcome tested={one} account={accounts.data?.[0]?.id} />
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Dialog>
  );
}

interface OutcomeProps {
  readonly tested: Schemas['TestedChannelAnswer'];
  readonly account: string | undefined;
}

function Outcome({ tested: { sent, answer, channel }, account }: OutcomeProps) {
  if (!sent) {
    return (
      <span class="row">
        <Badge tone="bad">not sent</Badge>
        <span class="small wrap-anywhere">{answer}</span>
      </span>
    );
  }
  if (channel.type !== 'email') return <Delivery id={answer} account={account} />;
  return (
    <span class="row">
      <Badge tone="good">accepted</Badge>
      <span class="small muted wrap-anywhere">{answer}</span>
    </span>
  );
}

/** The state of the message that carries the notice. */
function Delivery({ id, account }: { readonly id: string; readonly account: string | undefined }) {
  const query = { messageId: id, count: 1, trimBody: 0 };
  const asked = useAsk(
    account === undefined ? undefined : `delivery ${id}`,
    async (signal) => {
      const page = (await ofQueue(account ?? '', 'GET /v2/logs', { query, signal })) as Schemas['EventPage'];
      return page.events[0];
    },
    EVERY_MS,
  );
  const event = asked.data;
  return (
    <span class="row">
      {event === undefined ? <Badge>waiting</Badge> : <StateBadge state={event.state} />}
      {event?.responseStatus !== undefined && <span class="small">{event.responseStatus}</span>}
      {event?.error !== undefined && <span class="small wrap-anywhere">{event.error}</span>}
      <a class="small" href={`/console/messages/${id}`}>
        Message
      </a>
    </span>
  );
}
