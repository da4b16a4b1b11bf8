/** Selects the queue, if there are several. */
import { usePageQuery } from '../../api/query.js';
import type { QueueView } from '../../api/queues.js';

export function QueueChoice({ all, shown }: QueueView) {
  const [, set] = usePageQuery();
  if (all.length < 2) return null;
  return (
    <select aria-label="Queue" value={shown.id} onChange={({ currentTarget }) => set({ queue: currentTarget.value })}>
      {all.map(({ id, customer_id }) => (
        <option key={id} value={id}>
          {customer_id} · {id.slice(0, 8)}
        </option>
      ))}
    </select>
  );
}
