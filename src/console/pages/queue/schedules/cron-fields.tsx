/** A cron expression: common examples, and the next times of the typed one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { SmallButton } from '../../../parts/button.js';
import { TextField } from '../../../parts/field.js';
import { setter } from '../../../parts/setter.js';
import { Time } from '../../../parts/time.js';
import type { Draft } from '../publish/draft.js';
import { CronWords } from './cron-words.js';

const COMMON = [
  ['*/5 * * * *', 'every five minutes'],
  ['@hourly', 'every hour'],
  ['0 8 * * *', 'every day at 8:00 UTC'],
  [`CRON_TZ=${Intl.DateTimeFormat().resolvedOptions().timeZone} 0 8 * * 1`, 'Mondays at 8:00, here'],
  ['0 0 1 * *', 'the first of each month'],
] as const;

const TICKS = 5;
/** Pause after which typing counts as finished. */
const TYPING_MS = 300;

export function CronFields({ account, draft: { cron } }: { readonly account: string; readonly draft: Draft }) {
  const typed = useSignal(cron.peek());
  useEffect(() => {
    const timer = setTimeout(() => {
      typed.value = cron.value;
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [cron.value]);
  const isGiven = typed.value.trim() !== '';
  const asked = useAsk(isGiven ? typed.value : undefined, (signal) =>
    ofQueue(account, 'GET /v2/ticks', { query: { cron: typed.value, count: TICKS }, signal }),
  );
  return (
    <section class="card stack" aria-label="Timetable">
      <TextField
        label="Timetable"
        value={cron}
        isRequired
        placeholder="*/5 * * * *"
        wrong={asked.error?.message}
        hint="Minute, hour, day of month, month, day of week; in UTC, or in the zone of a prefix such as CRON_TZ=Europe/Berlin. Or @daily, or @every 1h30m"
      />
      <div class="row">
        {COMMON.map(([text, label]) => (
          <SmallButton key={text} onClick={setter(cron, text)}>
            {label}
          </SmallButton>
        ))}
      </div>
      {asked.data !== undefined && (
        <div>
          <h3>
            <CronWords cron={typed.value.trim()} />
          </h3>
          <ol class="ticks" aria-label="Next ticks">
            {asked.data.ticks.map((at) => (
              <li key={at}>
                <Time at={at} />
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}
