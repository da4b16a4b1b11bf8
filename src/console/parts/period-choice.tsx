/** Selects the period of statistics; the selection is in the address. */
import { PERIODS, type Period, periodOf } from '../api/points.js';
import { usePageQuery } from '../api/query.js';
import { SmallButton } from './button.js';

export function usePeriod(): Period {
  const [query] = usePageQuery();
  return periodOf(query.period);
}

export function PeriodChoice() {
  const [, set] = usePageQuery();
  const current = usePeriod();
  return (
    <fieldset class="choices" aria-label="Period">
      {PERIODS.map(([period, label]) => (
        <SmallButton key={period} aria-pressed={period === current} onClick={() => set({ period })}>
          {label}
        </SmallButton>
      ))}
    </fieldset>
  );
}
