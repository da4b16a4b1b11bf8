/** The alerts that are open now, above the rules. */
import { Icon } from '../../parts/icon.js';
import { Time } from '../../parts/time.js';
import type { Alert } from './rule-words.js';

export function OpenAlerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  if (alerts.length === 0) return null;
  return (
    <section class="health bad" aria-label="Firing now">
      <h2>
        <Icon name="warning" />
        Firing now
      </h2>
      <ul class="plain-list">
        {alerts.map(({ alert, name, text, raised_at }) => (
          <li key={alert} class="open-alert">
            <span class="wrap-anywhere" dir="auto">
              {text}
            </span>
            <span class="small muted">
              {name} · <Time at={raised_at * 1_000} as="past" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
