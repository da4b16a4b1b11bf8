/**
 * Sessions of people, as they are listed. A session of a key is also valid without its record, which may be older than
 * records; a session of a provider is valid as long as it has one.
 *
 *  LSE1 the records of a person and of all people are bounded; the oldest are dropped first
 *  LSE2 an expired session is dropped with the next one that begins
 */
import { integer, looseText, openRecord, type TypeOf } from '../../kernel/schema/index.js';
import { accountId } from './ids.js';
import { MAX_PERSON_SESSIONS, MAX_SESSIONS } from './limits.js';
import { Owned } from './owned.js';

export const signInSessionFields = {
  /** It proves the session together with the key file: only its digest is shown. */
  name: looseText(),
  /** In lower case. */
  email: looseText(),
  account: accountId,
  /** '': begun with a key. */
  provider: looseText(),
  /** The name of the key; '' for a provider's session. */
  keyName: looseText(),
  /** Empty if unknown. */
  ip: looseText(),
  /** The client, as it names itself. */
  agent: looseText(),
  untilMs: integer,
  /** The provider's tokens, sealed; '' for a session of a key. */
  tokens: looseText(),
};
export const signInSession = openRecord({ ...signInSessionFields, beganAtMs: integer });
export type SignInSession = TypeOf<typeof signInSession>;

export class SignInSessions {
  /** In order of their beginning. */
  readonly byName = new Map<string, SignInSession>();
  readonly #byEmail = new Owned<string, string>();

  /** Only `evolve` calls this. */
  put(session: SignInSession): void {
    for (const first of this.byName.values()) {
      if (first.untilMs > session.beganAtMs && this.byName.size < MAX_SESSIONS) break;
      this.delete(first.name);
    }
    const own = [...this.#byEmail.of(session.email)];
    if (own.length >= MAX_PERSON_SESSIONS) this.delete(own[0] as string);
    this.byName.set(session.name, session);
    this.#byEmail.add(session.email, session.name);
  }

  setTokens(name: string, tokens: string): void {
    const session = this.byName.get(name);
    if (session !== undefined) this.byName.set(name, { ...session, tokens });
  }

  delete(name: string): void {
    const session = this.byName.get(name);
    if (session === undefined) return;
    this.byName.delete(name);
    this.#byEmail.remove(session.email, name);
  }

  /** Newest first. */
  of(email: string, nowMs: number): SignInSession[] {
    const own = [...this.#byEmail.of(email)].flatMap((name) => this.byName.get(name) ?? []);
    return own.filter(({ untilMs }) => untilMs > nowMs).reverse();
  }

  /** All sessions of the account's people, newest first. */
  inAccount(account: SignInSession['account'], nowMs: number): SignInSession[] {
    const all = [...this.byName.values()];
    return all.filter((session) => session.account === account && session.untilMs > nowMs).reverse();
  }
}
