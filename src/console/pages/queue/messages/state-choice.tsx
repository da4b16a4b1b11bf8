/** The state of the listed messages: one choice in the filter bar, with the number of messages in each state. */
import { useLocation } from 'preact-iso/router';
import { queryText } from '../../../api/call.js';
import { short } from '../../../parts/format.js';
import { useTab } from '../../../parts/tabs.js';
import { STATES, type StateId } from './message-rows.js';

export interface StateChoiceProps {
  /** Numbers, or texts such as `12 in 1 h`. */
  readonly counts: Partial<Record<StateId, number | string | undefined>>;
}

export function useChosenState(): StateId {
  return useTab(STATES, 'state') as StateId;
}

export function StateChoice({ counts }: StateChoiceProps) {
  const { path, query } = useLocation();
  const current = useChosenState();
  return (
    <nav class="state-choice" aria-label="States of messages">
      {STATES.map(({ id, label }) => {
        const count = counts[id];
        const href =
          path + queryText({ ...query, cursor: undefined, open: undefined, state: id === 'all' ? undefined : id });
        return (
          <a key={id} href={href} aria-current={id === current ? 'page' : undefined}>
            {id !== 'all' && <i class={`dot of-${id}`} />}
            {label}
            {count !== undefined && count !== 0 && (
              <span class="count">{typeof count === 'number' ? short(count) : count}</span>
            )}
          </a>
        );
      })}
    </nav>
  );
}
