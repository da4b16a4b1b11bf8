/** A stream: its entries, and the groups that read it. */
import { usePageQuery } from '../../../../api/query.js';
import type { TypeViewProps } from '../key-record.js';
import { StreamEntries } from './stream-entries.js';
import { StreamGroups } from './stream-groups.js';

const PARTS = [
  [undefined, 'Entries'],
  ['groups', 'Groups'],
] as const;

/** The selected part is in the address. */
export function StreamView(props: TypeViewProps) {
  const [query, set] = usePageQuery();
  const isGroups = query.part === 'groups';
  return (
    <div class="stack tight">
      <fieldset class="choices">
        <legend class="visually-hidden">Part of the stream</legend>
        {PARTS.map(([part, label]) => (
          <button
            key={label}
            type="button"
            class="button small"
            aria-pressed={isGroups === (part === 'groups')}
            onClick={() => set({ part })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      {isGroups ? <StreamGroups {...props} /> : <StreamEntries {...props} />}
    </div>
  );
}
