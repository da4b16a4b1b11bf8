/** The keys that sign deliveries. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { DangerButton, SmallButton } from '../../parts/button.js';
import { CopyButton } from '../../parts/code.js';
import { asked as askedFirst } from '../../parts/dialog.js';
import { toggler } from '../../parts/setter.js';
import { Shown } from '../../parts/states.js';
import { doing } from '../../parts/toast.js';
import type { TabProps } from './tab.js';

export function KeysTab({ account }: TabProps) {
  const asked = useAsk(account, () => ofQueue(account, 'GET /v2/keys'));
  const rotate = async () => {
    const isSure = await askedFirst({
      title: 'Rotate the signing keys?',
      text: 'The next key becomes the current key immediately, and a new next key is created. Receivers that do not know the next key yet refuse deliveries from then on.',
      action: 'Rotate',
      isDangerous: true,
      typed: 'rotate',
    });
    if (!isSure) return;
    await doing(
      () => ofQueue(account, 'POST /v2/keys/rotate'),
      'The keys are rotated: tell receivers the new next one.',
    );
    asked.reload();
  };
  return (
    <Shown asked={asked}>
      {({ current, next }) => (
        <section class="card stack" aria-label="Signing keys">
          <p>
            Every delivery bears a signature by the current key. Receivers that know both accept deliveries while the
            keys are rotated.
          </p>
          <Key label="Current key" value={current} />
          <Key label="Next key" value={next} />
          <div>
            <DangerButton onClick={() => void rotate()}>Rotate</DangerButton>
          </div>
        </section>
      )}
    </Shown>
  );
}

function Key({ label, value }: { readonly label: string; readonly value: string }) {
  const isShown = useSignal(false);
  return (
    <div class="row">
      <strong>{label}</strong>
      <code class="wrap-anywhere">{isShown.value ? value : `${value.slice(0, 4)}${'•'.repeat(16)}`}</code>
      <SmallButton onClick={toggler(isShown)}>{isShown.value ? 'Hide' : 'Show'}</SmallButton>
      <CopyButton text={value} />
    </div>
  );
}
