/** The endpoints of the application: their addresses, states, secrets, and test events. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../api/ask.js';
import { Button, DangerButton, PrimaryButton } from '../parts/button.js';
import { CopyButton } from '../parts/code.js';
import { asked } from '../parts/dialog.js';
import { setter } from '../parts/setter.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { failed, said } from '../parts/toast.js';
import { ask, type Endpoint, type Secret } from './api.js';
import { EndpointForm } from './endpoint-form.js';
import { Stopped } from './stopped.js';
import { word } from './words.js';

export function Endpoints({ isReadOnly }: { readonly isReadOnly: boolean }) {
  const { data, error, reload } = useAsk('endpoints', () => ask('GET /v2/apps/{id}/endpoints'));
  const edited = useSignal<Endpoint | 'new' | undefined>(undefined);
  const close = () => {
    edited.value = undefined;
    void reload();
  };
  return (
    <>
      {!isReadOnly && (
        <div class="portal-actions">
          <PrimaryButton onClick={setter(edited, 'new')}>{word('add')}</PrimaryButton>
        </div>
      )}
      {error !== undefined && <Failure error={error} onRetry={() => void reload()} />}
      {data === undefined && error === undefined && <Loading />}
      {data?.length === 0 && <Empty title={word('noEndpoints')}>{word('noEndpointsHint')}</Empty>}
      {data?.map((endpoint) => (
        <Listed
          key={endpoint.id}
          endpoint={endpoint}
          isReadOnly={isReadOnly}
          onEdit={setter(edited, endpoint)}
          onChanged={() => void reload()}
        />
      ))}
      {edited.value !== undefined && (
        <EndpointForm endpoint={edited.value === 'new' ? undefined : edited.value} onClose={close} />
      )}
    </>
  );
}

interface ListedProps {
  readonly endpoint: Endpoint;
  readonly isReadOnly: boolean;
  onEdit(): void;
  onChanged(): void;
}

function Listed({ endpoint, isReadOnly, onEdit, onChanged }: ListedProps) {
  const { id, url, description, eventTypes, disabled } = endpoint;
  const path = { endpoint: id };
  const attempt = async (act: () => Promise<unknown>) => {
    try {
      await act();
      onChanged();
    } catch (problem) {
      failed(problem);
    }
  };
  const remove = async () => {
    const isSure = await asked({
      title: `${word('delete')}: ${url}`,
      text: word('deleteQuestion'),
      action: word('delete'),
      isDangerous: true,
    });
    if (isSure) await attempt(() => ask('DELETE /v2/apps/{id}/endpoints/{endpoint}', { path }));
  };
  const change = () => ask('PATCH /v2/apps/{id}/endpoints/{endpoint}', { path, body: { disabled: !disabled } });
  const test = async () => {
    const [eventType] = eventTypes;
    await ask('POST /v2/apps/{id}/endpoints/{endpoint}/test', {
      path,
      body: eventType === undefined ? {} : { eventType },
    });
    said(word('tested'));
  };
  return (
    <article class="portal-item">
      <div class="row between">
        <h2 class="wrap-anywhere">{url}</h2>
        {disabled && <span class="badge warn">{word('disabled')}</span>}
      </div>
      <Stopped endpoint={endpoint} isReadOnly={isReadOnly} onChanged={onChanged} />
      {description !== '' && <p>{description}</p>}
      <p class="muted wrap-anywhere">{eventTypes.length === 0 ? word('allTypes') : eventTypes.join(', ')}</p>
      {!isReadOnly && (
        <>
          <Secrets endpoint={id} />
          <div class="portal-actions">
            <Button onClick={onEdit}>{word('edit')}</Button>
            <Button onClick={() => void attempt(change)}>{word(disabled ? 'enable' : 'disable')}</Button>
            <Button disabled={disabled} onClick={() => void attempt(test)}>
              {word('test')}
            </Button>
            <DangerButton onClick={() => void remove()}>{word('delete')}</DangerButton>
          </div>
        </>
      )}
    </article>
  );
}

function Secrets({ endpoint }: { readonly endpoint: string }) {
  const shown = useSignal<readonly Secret[] | undefined>(undefined);
  const load = async (operation: () => Promise<readonly Secret[]>) => {
    try {
      shown.value = await operation();
    } catch (problem) {
      failed(problem);
    }
  };
  const path = { endpoint };
  const show = () => load(() => ask('GET /v2/apps/{id}/endpoints/{endpoint}/secrets', { path }));
  const rotate = async () => {
    const isSure = await asked({ title: word('rotate'), text: word('rotateQuestion'), action: word('rotate') });
    if (isSure) await load(() => ask('POST /v2/apps/{id}/endpoints/{endpoint}/secrets/rotate', { path, body: {} }));
  };
  return (
    <section aria-label={word('secrets')}>
      {shown.value?.map(({ version, key, expiresAt }) => (
        <p key={key} class="row between">
          <span class="wrap-anywhere">
            {version} <code>{key}</code>
            {expiresAt !== undefined && ` ${word('signsUntil')} ${new Date(expiresAt).toLocaleString()}`}
          </span>
          <CopyButton text={key} />
        </p>
      ))}
      <div class="portal-actions">
        {shown.value === undefined && <Button onClick={() => void show()}>{word('show')}</Button>}
        <Button onClick={() => void rotate()}>{word('rotate')}</Button>
      </div>
    </section>
  );
}
