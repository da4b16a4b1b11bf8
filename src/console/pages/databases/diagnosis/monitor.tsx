/** Live view of every command of a database. */
import { useSignal } from '@preact/signals';
import { useLive } from '../../../api/live.js';
import { Badge } from '../../../parts/badge.js';
import { whole } from '../../../parts/format.js';
import { toggler } from '../../../parts/setter.js';
import { Time } from '../../../parts/time.js';

/** Older commands are dropped. */
const MAX_SHOWN = 500;
const SHOWN_CHARACTERS = 400;

interface Seen {
  readonly at: number;
  readonly time: number;
  readonly client: string;
  readonly words: readonly string[];
  readonly isCut?: boolean;
}

interface MonitorLine {
  readonly commands: readonly Omit<Seen, 'at'>[];
  readonly leftOut: number;
}

export function Monitor({ id }: { readonly id: string }) {
  const isOn = useSignal(false);
  const filter = useSignal('');
  const seen = useSignal<readonly Seen[]>([]);
  const leftOut = useSignal(0);
  const state = useLive(isOn.value ? `/v2/admin/databases/${id}/monitor` : undefined, {
    commands: (data) => {
      const told = data as MonitorLine;
      const from = (seen.value.at(-1)?.at ?? 0) + 1;
      seen.value = [...seen.value, ...told.commands.map((one, at) => ({ ...one, at: from + at }))].slice(-MAX_SHOWN);
      leftOut.value += told.leftOut;
    },
  });
  const letters = filter.value.toLowerCase();
  const shown = seen.value.filter(({ words }) => words.join(' ').toLowerCase().includes(letters)).reverse();
  return (
    <div class="stack tight">
      <div class="row">
        <button type="button" class={`button ${isOn.value ? '' : 'primary'}`} onClick={toggler(isOn)}>
          {isOn.value ? 'Stop' : 'Watch'}
        </button>
        <label class="row">
          <span class="small muted">With</span>
          <input
            class="member-filter"
            value={filter.value}
            autocomplete="off"
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value;
            }}
          />
        </label>
        {isOn.value && <Badge tone={state === 'lost' ? 'warn' : 'good'}>{state}</Badge>}
        {leftOut.value > 0 && <span class="small muted">{whole(leftOut.value)} more ran than are shown</span>}
      </div>
      {shown.length === 0 ? (
        <p class="empty">
          {isOn.value ? 'No command has run since.' : 'Watching slows the database down: stop when you are done.'}
        </p>
      ) : (
        <SeenCommands seen={shown} />
      )}
    </div>
  );
}

/** The newest first. */
function SeenCommands({ seen }: { readonly seen: readonly Seen[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <div class="line-box" role="log" aria-label="Commands" tabIndex={0}>
      {seen.map(({ at, time, client, words, isCut }) => (
        <div key={at} class="row top nowrap">
          <span class="small muted">
            <Time at={time} as="clock" />
          </span>
          <code class="wrap-anywhere grow" dir="auto">
            {words.join(' ').slice(0, SHOWN_CHARACTERS)}
            {isCut === true && ' …'}
          </code>
          <span class="small muted wide-only">{client === '0.0.0.0:0' ? 'REST' : client}</span>
        </div>
      ))}
    </div>
  );
}
