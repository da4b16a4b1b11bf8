/** The messages of the application with payloads, attempts and answers, and their replays. */
import { type Signal, useSignal } from '@preact/signals';
import { useAsk } from '../api/ask.js';
import { Button } from '../parts/button.js';
import { setter } from '../parts/setter.js';
import { Empty, Failure, Loading } from '../parts/states.js';
import { failed, said } from '../parts/toast.js';
import { ask, type Message } from './api.js';
import { word } from './words.js';

const PAGE = 20;
/** The longest page of the server. */
const MOST = 50;
/** The class of a badge by the state of a message. */
const TONES: Readonly<Record<string, string>> = { DELIVERED: 'good', FAILED: 'bad', ERROR: 'warn', RETRY: 'warn' };

export function Messages({ isReadOnly }: { readonly isReadOnly: boolean }) {
  const state = useSignal('');
  const count = useSignal(PAGE);
  const query = { state: state.value, count: count.value };
  const { data, error, reload } = useAsk(`messages ${state.value} ${count.value}`, () =>
    ask('GET /v2/apps/{id}/messages', { query }),
  );
  const replay = async (body: object) => {
    try {
      const { replayed } = await ask('POST /v2/apps/{id}/replay', { body });
      said(`${word('replayed')}: ${replayed.length}`);
      await reload();
    } catch (problem) {
      failed(problem);
    }
  };
  return (
    <>
      <Actions
        state={state}
        onRefresh={() => void reload()}
        onReplay={isReadOnly ? undefined : () => void replay({ which: 'failed' })}
      />
      {error !== undefined && <Failure error={error} onRetry={() => void reload()} />}
      {data === undefined && error === undefined && <Loading />}
      {data?.messages.length === 0 && <Empty title={word('noMessages')} />}
      {data?.messages.map((message) => (
        <Sent
          key={message.messageId}
          message={message}
          onReplay={isReadOnly ? undefined : () => void replay({ messageIds: [message.messageId] })}
        />
      ))}
      {data?.cursor !== undefined && count.value < MOST && (
        <div class="portal-actions">
          <Button onClick={setter(count, MOST)}>{word('more')}</Button>
        </div>
      )}
    </>
  );
}

interface ActionsProps {
  readonly state: Signal<string>;
  readonly onReplay: (() => void) | undefined;
  onRefresh(): void;
}

function Actions({ state, onReplay, onRefresh }: ActionsProps) {
  return (
    <div class="portal-actions">
      <label>
        <span class="visually-hidden">{word('messages')}</span>
        <select
          value={state.value}
          onChange={({ currentTarget }) => {
            state.value = currentTarget.value;
          }}
        >
          <option value="">{word('all')}</option>
          <option value="FAILED">{word('failed')}</option>
        </select>
      </label>
      <Button onClick={onRefresh}>{word('refresh')}</Button>
      {onReplay !== undefined && <Button onClick={onReplay}>{word('replayFailed')}</Button>}
    </div>
  );
}

function Sent({ message, onReplay }: { readonly message: Message; readonly onReplay: (() => void) | undefined }) {
  const { eventType, url, state, createdAt, body, attempts } = message;
  return (
    <article class="portal-item">
      <div class="row between">
        <h2 class="wrap-anywhere">
          <code>{eventType}</code>
        </h2>
        <span class={`badge ${TONES[state] ?? ''}`}>{state}</span>
      </div>
      <p class="muted wrap-anywhere">
        <time dateTime={new Date(createdAt).toISOString()}>{new Date(createdAt).toLocaleString()}</time> {url}
      </p>
      <details>
        <summary>{word('payload')}</summary>
        <pre>{body}</pre>
      </details>
      {attempts.map(({ startedAt, outcome, error, responseStatus, responseBody }, at) => (
        <details key={startedAt}>
          <summary>
            {word('attempt')} {at + 1}: {outcome} {responseStatus ?? error}
          </summary>
          {responseBody !== undefined && (
            <>
              <strong>{word('answer')}</strong>
              <pre>{responseBody}</pre>
            </>
          )}
        </details>
      ))}
      {onReplay !== undefined && (
        <div class="portal-actions">
          <Button onClick={onReplay}>{word('replay')}</Button>
        </div>
      )}
    </article>
  );
}
