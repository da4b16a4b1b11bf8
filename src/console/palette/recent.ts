/** The results that this browser opened last, for an empty search. */
import type { Found } from './found-item.js';

const RECENT = 'millrace-recent';
const MAX_RECENT = 8;

type Recent = Required<Pick<Found, 'href' | 'label' | 'kind'>>;

export function recentFound(): readonly Recent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(RECENT) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecent) : [];
  } catch {
    return [];
  }
}

export function noteOpened({ href, label, kind }: Found): void {
  if (href === undefined) return;
  const others = recentFound().filter((one) => one.href !== href);
  localStorage.setItem(RECENT, JSON.stringify([{ href, label, kind }, ...others].slice(0, MAX_RECENT)));
}

/** Addresses of the console only: the list is data of the browser. */
function isRecent(one: Partial<Recent> | null): one is Recent {
  const isWhole = typeof one?.label === 'string' && typeof one.kind === 'string';
  return isWhole && typeof one?.href === 'string' && one.href.startsWith('/console/');
}
