/** All search databases of the account, with totals, and creating one. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { manage } from '../../api/call.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice, SubmitRow, TextField } from '../../parts/field.js';
import { useMaking } from '../../parts/making.js';
import { IndexList, LIST_EVERY_MS } from './index-list.js';
import { SEARCH } from './plane.js';

const SAMPLE = `curl -u <e-mail>:<key> ${location.origin}/v2/search -d '{"name":"papers","region":"eu-west-1","type":"payg"}'`;

export default function Indexes() {
  const asked = useAsk('search', (signal) => manage('GET /v2/search', { signal }), LIST_EVERY_MS);
  return (
    <IndexList
      plane={SEARCH}
      asked={asked}
      sample={SAMPLE}
      about="A search database holds named indexes of documents. The first document makes its index."
      form={(onClose) => <NewSearch onClose={onClose} />}
    />
  );
}

/** The form for a new search database; opens it afterwards. */
function NewSearch({ onClose }: { onClose(): void }) {
  const name = useSignal('');
  const region = useSignal('eu-west-1');
  const type = useSignal('payg');
  const { isSending, send } = useMaking(async () => {
    const body = { name: name.value.trim(), region: region.value, type: type.value };
    const made = await manage('POST /v2/search', { body });
    return { name: made.name, href: `${SEARCH.href}/${made.id}?tab=connect` };
  }, onClose);
  return (
    <Dialog title="New search database" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <TextField label="Name" value={name} isRequired placeholder="papers" />
        <div class="form-grid">
          <Choice
            label="Plan"
            value={type}
            options={[
              ['payg', 'Pay as you go'],
              ['free', 'Free'],
              ['fixed', 'Fixed, where it is offered'],
            ]}
          />
          <Choice
            label="Region"
            value={region}
            options={[
              ['eu-west-1', 'eu-west-1'],
              ['us-central1', 'us-central1'],
            ]}
            hint="A word in its record: the data is where this server runs."
          />
        </div>
        <SubmitRow isDisabled={isSending.value}>Create</SubmitRow>
      </form>
    </Dialog>
  );
}
