/** The content of an index, asked for again every 15 seconds, and the part that its page shows. */
import { type Asked, useAsk } from '../../api/ask.js';
import { usePageQuery } from '../../api/query.js';
import type { Held, IndexPlane } from './plane.js';

const EVERY_MS = 15_000;

/** @param id undefined: no request */
export function useHeld(plane: IndexPlane, id: string | undefined): Asked<Held> {
  return useAsk(
    id === undefined ? undefined : `held ${plane.href} ${id}`,
    (signal) => plane.held(id as string, signal),
    EVERY_MS,
  );
}

/** The part in the address, else the usual one, else the first. */
export function usePartName({ firstPart }: IndexPlane, { parts = [] }: Partial<Held>): string {
  const [query] = usePageQuery();
  return query.index ?? (parts.find(({ name }) => name === firstPart) ?? parts[0])?.name ?? firstPart;
}
