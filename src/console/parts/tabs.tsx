/** Parts of a page that are shown in turn; which one is in the address. */
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/call.js';
import { short } from './format.js';

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** How many there are, or what else is to stand behind the label. */
  readonly count?: number | string | undefined;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Its word in the address. */
  readonly name?: string;
  /** Other words of the address that stay when another tab is opened. */
  readonly keep?: readonly string[];
}

/** Of the tab before, so much stays in sight. */
const INDENT_PX = 48;

/** Which tab is shown: the first one where the address has none of them. */
export function useTab(tabs: readonly Tab[], name = 'tab'): string {
  const { query } = useLocation();
  return tabs.find(({ id }) => id === query[name])?.id ?? tabs[0]?.id ?? '';
}

/** Filters of one tab are none of the other's: a link to a tab has the account in it, what is to stay, and nothing else. */
export function Tabs({ label, tabs, name = 'tab', keep = [] }: TabsProps) {
  const { path, query } = useLocation();
  const kept = Object.fromEntries(['queue', ...keep].map((word) => [word, query[word]]));
  const current = useTab(tabs, name);
  const bar = useRef<HTMLElement>(null);
  // Where not all fit, the one that is shown is in sight.
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
