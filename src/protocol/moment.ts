/** A moment of a shard's past, as an operator names it. */

/** A position of a shard's journal, or an instant of its clock, inclusive. */
export type Moment =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'time'; readonly atMs: number };

/** A day or an instant of ISO 8601; an instant without a zone would depend on the machine. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** The expected form, for the error about another text. */
export const MOMENT_PROBLEM = 'must be a position or an instant like 2026-05-01T12:00:00Z';

/** @returns undefined for a text that is no moment */
export function momentOf(text: string): Moment | undefined {
  if (/^[1-9]\d{0,15}$/.test(text)) return { kind: 'position', position: Number(text) };
  const atMs = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : { kind: 'time', atMs };
}
