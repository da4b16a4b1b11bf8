/**
 * Console sessions that were signed out before they expired. Expired ones are forgotten, so their number is bounded
 * by the sign-outs within the lifetime of a session.
 */
import { integer, looseText, type RecordType } from '../../kernel/schema/index.js';
import { MAX_SIGNED_OUT } from './limits.js';

export const signedOutFields = {
  session: looseText(),
  /** The session expires at this time anyway. */
  untilMs: integer,
};
export type SignedOutSession = RecordType<typeof signedOutFields>;

export class SignedOutSessions {
  /** In order of sign-out. */
  readonly #untilMs = new Map<string, number>();

  has(session: string): boolean {
    return this.#untilMs.has(session);
  }

  /** Also forgets sessions that have expired at `atMs`, and the oldest ones above `MAX_SIGNED_OUT`. */
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
