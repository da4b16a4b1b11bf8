/**
 * People of identity providers, with the roles that their groups give them. They are separate from
 * members of teams: the provider decides about them, and an empty list of roles removes the person.
 */
import type { AccountId } from '../../kernel/index.js';
import { absent, listOf, looseText, openRecord, type RecordType, type TypeOf } from '../../kernel/schema/index.js';
import { accountId } from './ids.js';

const personRole = openRecord({
  account: accountId,
  /** A built-in role, or an own one of the account. */
  role: looseText(),
  /** The id of the only resource, as it is shown. */
  on: absent(looseText()),
});
export type PersonRole = TypeOf<typeof personRole>;

export const providerPersonFields = {
  /** In lower case; one person for each address. */
  email: looseText(),
  /** The name of the provider in the settings. */
  provider: looseText(),
  /** The provider's id of the person, which is never given to another one. */
  subject: looseText(),
  /** Of all accounts; several of one account are added together. */
  roles: listOf(personRole),
};
export type ProviderPerson = RecordType<typeof providerPersonFields> & { readonly sinceMs: number };

export class ProviderPeople {
  readonly byEmail = new Map<string, ProviderPerson>();
  /** E-mails by provider and subject. */
  readonly #bySubject = new Map<string, string>();

  /** Only `evolve` calls this. A person without roles is removed. */
  put(person: ProviderPerson): void {
    const before = this.byEmail.get(person.email);
    if (before !== undefined) this.#bySubject.delete(subjectKey(before));
    if (person.roles.length === 0) {
      this.byEmail.delete(person.email);
      return;
    }
    this.byEmail.set(person.email, { ...person, sinceMs: before?.sinceMs ?? person.sinceMs });
    this.#bySubject.set(subjectKey(person), person.email);
  }

  withSubject(person: Pick<ProviderPerson, 'provider' | 'subject'>): ProviderPerson | undefined {
    const email = this.#bySubject.get(subjectKey(person));
    return email === undefined ? undefined : this.byEmail.get(email);
  }

  rolesOf(email: string, account: AccountId): readonly PersonRole[] {
    return this.byEmail.get(email)?.roles.filter((role) => role.account === account) ?? [];
  }
}

function subjectKey({ provider, subject }: Pick<ProviderPerson, 'provider' | 'subject'>): string {
  return `${provider} ${subject}`;
}
