/** Numbers of dead letters by the status of their last answer; each is a filter. */
import type { Schemas } from '#api';
import type { Asked } from '../../api/ask.js';
import { usePageQuery } from '../../api/query.js';
import { SmallButton } from '../../parts/button.js';
import { whole } from '../../parts/format.js';
import { Shown } from '../../parts/states.js';

export function StatusCounts({ asked }: { readonly asked: Asked<Schemas['Counts']> }) {
  const [{ responseStatus = '' }, set] = usePageQuery();
  const choose = (status: string) => () => set({ responseStatus: status, cursor: undefined });
  return (
    <Shown asked={asked} rows={1}>
      {({ total, counts, isWhole }) => (
        <div class="list-head">
          <fieldset class="choices">
            <legend class="visually-hidden">By status</legend>
            <SmallButton aria-pressed={responseStatus === ''} onClick={choose('')}>
              All <strong>{whole(total)}</strong>
              {!isWhole && ' or more'}
            </SmallButton>
            {Object.entries(counts).map(([status, count]) => (
              <SmallButton key={status} aria-pressed={responseStatus === status} onClick={choose(status)}>
                {statusText(Number(status))} <strong>{whole(count)}</strong>
              </SmallButton>
            ))}
          </fieldset>
        </div>
      )}
    </Shown>
  );
}

export function statusText(status: number): string {
  return status === 0 ? 'no answer' : String(status);
}
