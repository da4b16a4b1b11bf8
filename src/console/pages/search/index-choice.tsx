/** Selects an index of a search database; the selection is in the address. */
import { usePageQuery } from '../../api/query.js';
import { short } from '../../parts/format.js';
import { type Held, useIndexName } from './held.js';

export function IndexChoice({ held }: { readonly held: Partial<Held> }) {
  const [, set] = usePageQuery();
  const current = useIndexName(held);
  const { indexes = [] } = held;
  const isNew = !indexes.some(({ name }) => name === current);
  return (
    <label class="field">
      <span>Index</span>
      <select
        value={current}
        onChange={({ currentTarget }) =>
          set({ index: currentTarget.value, cursor: undefined, doc: undefined, prefix: undefined })
        }
      >
        {isNew && <option value={current}>{current}</option>}
        {indexes.map(({ name, documents }) => (
          <option key={name} value={name}>
            {`${name} (${short(documents)})`}
          </option>
        ))}
      </select>
    </label>
  );
}
