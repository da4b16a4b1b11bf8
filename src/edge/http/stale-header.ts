/** The header of an answer from a read model that lags: docs/operations/read-models.md. */
import type { Behind, MaybeBehind } from '../../ports/index.js';

const STALE_HEADER = 'Millrace-Stale';

/** `positions=12, seconds=3`; without seconds if unknown. No header for a current answer. */
export function staleHeader({ behind }: MaybeBehind): Readonly<Record<string, string>> {
  return behind === undefined ? {} : { [STALE_HEADER]: textOf(behind) };
}

/** The larger lag of two answers that are shown as one. */
export function furthest(one: Behind | undefined, other: Behind | undefined): Behind | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const ms = one.ms === undefined || other.ms === undefined ? undefined : Math.max(one.ms, other.ms);
  return { positions: Math.max(one.positions, other.positions), ms };
}

function textOf({ positions, ms }: Behind): string {
  return ms === undefined ? `positions=${positions}` : `positions=${positions}, seconds=${Math.ceil(ms / 1000)}`;
}
