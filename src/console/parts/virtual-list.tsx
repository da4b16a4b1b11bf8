/** A list of any length that renders only visible rows. All rows have the same height. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The same as in `.virtual-list li`. */
const ROW_PX = 36;
/** Rows rendered beyond the edges, so that scrolling shows no gap. */
const MORE_ROWS = 12;

export interface VirtualListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
  drawn(row: Row): ComponentChildren;
  /** Called near the end, to load more rows. */
  onNearEnd?: (() => void) | undefined;
}

export function VirtualList<Row>({ label, rows, keyOf, drawn, onNearEnd }: VirtualListProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sized = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    sized.observe(element);
    return () => sized.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top.value / ROW_PX) - MORE_ROWS);
  const end = Math.ceil((top.value + height.value) / ROW_PX) + MORE_ROWS;
  const isNearEnd = end >= rows.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);
  return (
    <div
      ref={box}
      class="virtual-list"
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
      }}
    >
      <ul aria-label={label} style={{ height: `${rows.length * ROW_PX}px` }}>
        {rows.slice(first, end).map((row, at) => (
          <li
            key={keyOf(row)}
            aria-setsize={rows.length}
            aria-posinset={first + at + 1}
            style={{ top: `${(first + at) * ROW_PX}px` }}
          >
            {drawn(row)}
          </li>
        ))}
      </ul>
    </div>
  );
}
