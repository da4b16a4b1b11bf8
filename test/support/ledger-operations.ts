/**
 * What the writer of a ledger did and heard, a line each: the intent before a request, the outcome after
 * it. A line is in the file, synced, before the next step is taken.
 *
 *  LOP1 an intent without an outcome is an operation of unknown outcome
 *  LOP2 `failed` is only what the server said, in words, it had not done, or what never reached a server
 */

/** One change of one key. */
export type Effect =
  /** A key that is written once, ever. */
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  /** A key that its one worker writes again and again. */
  | { readonly type: 'register'; readonly key: string; readonly value: string }
  /** INCR by one. */
  | { readonly type: 'add'; readonly key: string };

export interface Intent {
  readonly id: number;
  readonly effects: readonly Effect[];
  /** All of them or none. */
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

/** Values of this many characters are pages of one letter: a ledger says how many and does not hold them. */
const PADDED = /^(.*)~x(\d+)$/;

/** The value as it is sent, from how it is written down. */
export function spelledOut(value: string): string {
  const match = PADDED.exec(value);
  return match === null ? value : `${match[1]}${'x'.repeat(Number(match[2]))}`;
}

/** @param text of the file; a last line that is not whole yet is left out */
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
