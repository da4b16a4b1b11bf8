/**
 * The record of a ledger's writer, one line per step: the intent before a request, and the outcome after it. Each
 * line is synced to disk before the next step.
 *
 *  LOP1 an intent without an outcome is an operation of unknown outcome
 *  LOP2 `failed` means that the server said so, or that the request did not reach a server
 */

/** A change of one key. */
export type Effect =
  /** A key that is written only once. */
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  /** A key that one worker writes repeatedly. */
  | { readonly type: 'register'; readonly key: string; readonly value: string }
  /** INCR by one. */
  | { readonly type: 'add'; readonly key: string };

export interface Intent {
  readonly id: number;
  readonly effects: readonly Effect[];
  /** True if all effects or none are applied. */
  readonly isAtomic: boolean;
}

export type EffectOutcome = { readonly result: unknown } | { readonly error: string };

export type LedgerLine =
  | ({ readonly is: 'intent' } & Intent)
  | { readonly is: 'acked'; readonly id: number; readonly outcomes: readonly EffectOutcome[] }
  | { readonly is: 'failed' | 'unknown'; readonly id: number; readonly why: string };

export type LedgerOperation = Intent &
  (
    | { readonly is: 'acked'; readonly outcomes: readonly EffectOutcome[] }
    | { readonly is: 'failed' | 'unknown'; readonly why: string }
  );

/** Large values are one repeated letter; the ledger contains only the number of characters. */
const PADDED = /^(.*)~x(\d+)$/;

/** The full value for its form in the ledger. */
export function expanded(value: string): string {
  const match = PADDED.exec(value);
  return match === null ? value : `${match[1]}${'x'.repeat(Number(match[2]))}`;
}

/** @param text the content of the file; an incomplete last line is ignored */
export function parseLedger(text: string): LedgerOperation[] {
  const intents = new Map<number, Intent>();
  const operations = new Map<number, LedgerOperation>();
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line === '') continue;
    const entry = JSON.parse(line) as LedgerLine;
    if (entry.is === 'intent') {
      const { id, effects, isAtomic } = entry;
      intents.set(id, entry);
      operations.set(id, { id, effects, isAtomic, is: 'unknown', why: 'no answer yet' });
      continue;
    }
    const { id, effects, isAtomic } = intents.get(entry.id) as Intent;
    operations.set(
      id,
      entry.is === 'acked'
        ? { id, effects, isAtomic, is: entry.is, outcomes: entry.outcomes }
        : { id, effects, isAtomic, is: entry.is, why: entry.why },
    );
  }
  return [...operations.values()];
}
