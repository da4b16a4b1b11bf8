/** Parts of a page that are shown in turn; which one is in the address. */
import { useLocation } from 'preact-iso/router';
import { queryText } from '../api/call.js';
import { short } from './format.js';

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number | undefined;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** Its word in the address. */
  readonly name?: string;
}

/** Which tab is shown: the first one where the address has none of them. */
export function useTab(tabs: readonly Tab[], name = 'tab'): string {
  const { query } = useLocation();
  return tabs.find(({ id }) => id === query[name])?.id ?? tabs[0]?.id ?? '';
}

/** Filters of one tab are none of the other's: a link to a tab has nothing else in it. */
export function Tabs({ label, tabs, name = 'tab' }: TabsProps) {
  const { path } = useLocation();
  const current = useTab(tabs, name);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text, count }) => (
        <a key={id} href={path + queryText({ [name]: id })} aria-current={id === current ? 'page' : undefined}>
          {text}
          {count !== undefined && <span class="count">{short(count)}</span>}
        </a>
      ))}
    </nav>
  );
}
