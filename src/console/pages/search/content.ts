/** The content of an index, asked for again every 15 seconds, and the part that its page shows. */
import { type Asked, useAsk } from '../../api/ask.js';
import { usePageQuery } from '../../api/query.js';
import type { IndexContent, IndexPlane } from './plane.js';

const EVERY_MS = 15_000;

/** @param id undefined: no request */
export function useContent(plane: IndexPlane, id: string | undefined): Asked<IndexContent> {
  return useAsk(
    id === undefined ? undefined : `content ${plane.href} ${id}`,
    (signal) => plane.content(id as string, signal),
    EVERY_MS,
  );
}

/** The part in the address, else the usual one, else the first. */
export function usePartName({ firstPart }: IndexPlane, { parts = [] }: Partial<IndexContent>): string {
  const [query] = usePageQuery();
  return query.index ?? (parts.find(({ name }) => name === firstPart) ?? parts[0])?.name ?? firstPart;
}
