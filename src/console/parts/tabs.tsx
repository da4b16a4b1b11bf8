/** Tabs of a page; the selected one is in the address. */
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/call.js';
import { short } from './format.js';

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** A number or text after the label. */
  readonly count?: number | string | undefined;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Its name in the address. */
  readonly name?: string;
  /** Other address parameters that stay when another tab is opened. */
  readonly keep?: readonly string[];
}

/** Pixels of the previous tab that stay visible. */
const INDENT_PX = 48;

/** The selected tab; the first one if the address has none. */
export function useTab(tabs: readonly Tab[], name = 'tab'): string {
  const { query } = useLocation();
  return tabs.find(({ id }) => id === query[name])?.id ?? tabs[0]?.id ?? '';
}

/** A link to a tab keeps only the account and `keep`, because each tab has its own filters. */
export function Tabs({ label, tabs, name = 'tab', keep = [] }: TabsProps) {
  const { path, query } = useLocation();
  const kept = Object.fromEntries(['queue', ...keep].map((word) => [word, query[word]]));
  const current = useTab(tabs, name);
  const bar = useRef<HTMLElement>(null);
  // Scrolls the selected tab into view.
  useEffect(() => {
    const shown = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current != null && shown != null)
      bar.current.scrollLeft = shown.offsetLeft - bar.current.offsetLeft - INDENT_PX;
  }, [current]);
  return (
    <nav ref={bar} class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text, count }) => (
        <a key={id} href={path + queryText({ ...kept, [name]: id })} aria-current={id === current ? 'page' : undefined}>
          {text}
          {count !== undefined && <span class="count">{typeof count === 'number' ? short(count) : count}</span>}
        </a>
      ))}
    </nav>
  );
}
