/** Selects a part of an index; the selection is in the address. */
import { usePageQuery } from '../../api/query.js';
import { short } from '../../parts/format.js';
import { usePartName } from './content.js';
import { type IndexContent, type IndexPlane, shownPart } from './plane.js';

export interface PartChoiceProps {
  readonly plane: IndexPlane;
  readonly content: Partial<IndexContent>;
}

export function PartChoice({ plane, content }: PartChoiceProps) {
  const [, set] = usePageQuery();
  const current = usePartName(plane, content);
  const { parts = [] } = content;
  const isNew = !parts.some(({ name }) => name === current);
  return (
    <label class="field">
      <span>{plane.part === 'index' ? 'Index' : 'Namespace'}</span>
      <select
        value={current}
        onChange={({ currentTarget }) =>
          set({ index: currentTarget.value, cursor: undefined, doc: undefined, prefix: undefined })
        }
      >
        {isNew && <option value={current}>{shownPart(current)}</option>}
        {parts.map(({ name, items }) => (
          <option key={name} value={name}>
            {`${shownPart(name)} (${short(items)})`}
          </option>
        ))}
      </select>
    </label>
  );
}
