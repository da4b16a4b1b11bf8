/**
 * Sessions of the console that somebody signed out of before their time was over. What is over needs no remembering, so
 * there are as many as are signed out of within the time that a session lasts.
 */
import { integer, looseText, type RecordType } from '../../kernel/schema/index.js';
import { MAX_SIGNED_OUT } from './limits.js';

export const signedOutFields = {
  session: looseText(),
  /** Its text is worth nothing from here on anyway. */
  untilMs: integer,
};
export type SignedOutSession = RecordType<typeof signedOutFields>;

export class SignedOutSessions {
  /** In the order in which they were signed out of. */
  readonly #untilMs = new Map<string, number>();

  has(session: string): boolean {
    return this.#untilMs.has(session);
  }

  /** Forgets those that are over at `atMs`, and the first ones beyond `MAX_SIGNED_OUT`. */
  add({ session, untilMs }: SignedOutSession, atMs: number): void {
    this.#untilMs.set(session, untilMs);
    for (const [first, until] of this.#untilMs) {
      if (until > atMs && this.#untilMs.size <= MAX_SIGNED_OUT) break;
      this.#untilMs.delete(first);
    }
  }

  *all(): Iterable<SignedOutSession> {
    for (const [session, untilMs] of this.#untilMs) yield { session, untilMs };
  }
}
