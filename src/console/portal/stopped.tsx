/** A stopped endpoint: since when, why, and one button that starts it and sends missed messages. */
import { useSignal } from '@preact/signals';
import { PrimaryButton } from '../parts/button.js';
import { failed, said } from '../parts/toast.js';
import { ask, type Endpoint } from './api.js';
import { type PortalWord, word } from './words.js';

type Breaker = NonNullable<Endpoint['breaker']>;

export interface StoppedProps {
  readonly endpoint: Endpoint;
  readonly isReadOnly: boolean;
  onChanged(): void;
}

export function Stopped({ endpoint: { id, breaker }, isReadOnly, onChanged }: StoppedProps) {
  const isBusy = useSignal(false);
  if (breaker === undefined || breaker.state === 'closed') return;
  const { failingSince, nextProbe, error, waiting } = breaker;
  const isBySender = breaker.state === 'disabled' && breaker.reason === 'request';
  const restart = async () => {
    isBusy.value = true;
    try {
      said(`${word('replayed')}: ${await restarted(id)}`);
    } catch (problem) {
      failed(problem);
    } finally {
      isBusy.value = false;
      onChanged();
    }
  };
  return (
    <section aria-label={word('stopped')}>
      <p>
        <span class="badge bad">{word('stopped')}</span> {word(hintOf(breaker))}
      </p>
      <dl class="portal-facts">
        {failingSince !== undefined && <Fact name="since" value={timeOf(failingSince)} />}
        {nextProbe !== undefined && breaker.probing !== true && <Fact name="nextTry" value={timeOf(nextProbe)} />}
        {error !== undefined && <Fact name="lastError" value={error} />}
        {waiting > 0 && <Fact name="waiting" value={String(waiting)} />}
      </dl>
      {!isReadOnly && !isBySender && (
        <div class="portal-actions">
          <PrimaryButton disabled={isBusy.value} onClick={() => void restart()}>
            {word('restart')}
          </PrimaryButton>
        </div>
      )}
    </section>
  );
}

function Fact({ name, value }: { readonly name: PortalWord; readonly value: string }) {
  return (
    <div>
      <dt>{word(name)}</dt>
      <dd class="wrap-anywhere">{value}</dd>
    </div>
  );
}

/** Page by page. @returns the number of messages that are sent again */
async function restarted(endpoint: string): Promise<number> {
  const path = { endpoint };
  const first = await ask('POST /v2/apps/{id}/endpoints/{endpoint}/enable', { path, body: { replay: true } });
  let { cursor } = first;
  let count = first.replayed.length;
  while (cursor !== undefined) {
    const body = { which: 'failed', endpointId: endpoint, cursor } as const;
    const page = await ask('POST /v2/apps/{id}/replay', { body });
    count += page.replayed.length;
    cursor = page.cursor;
  }
  return count;
}

function hintOf({ state, reason, probing }: Breaker): PortalWord {
  if (state === 'disabled') return reason === 'request' ? 'bySender' : 'disabledHint';
  return probing === true ? 'probing' : 'stoppedHint';
}

function timeOf(atMs: number): string {
  return new Date(atMs).toLocaleString();
}
