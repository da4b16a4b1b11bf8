/**
 * Own roles of accounts, and assignments of roles to people and to groups of identity providers. Roles of members
 * and of keys are in their own records.
 */
import type { AccountId } from '../../kernel/index.js';
import { absent, integer, listOf, looseText, openRecord, type TypeOf, wordOf } from '../../kernel/schema/index.js';
import { accountId } from './ids.js';
import { Owned } from './owned.js';

export const ownRole = openRecord({
  account: accountId,
  /** Unique in the account, and not the name of a built-in role. */
  name: looseText(),
  description: looseText(),
  /** Texts, so that a right of a later version is kept. */
  rights: listOf(looseText()),
});
export type OwnRole = TypeOf<typeof ownRole>;

export const roleAssignment = openRecord({
  id: looseText(),
  account: accountId,
  /** A person by e-mail in lower case, or a group as `<provider>:<group>`. */
  kind: wordOf('person', 'group'),
  subject: looseText(),
  role: looseText(),
  /** The id of the only resource, as it is shown. */
  on: absent(looseText()),
  createdAtMs: integer,
});
export type RoleAssignment = TypeOf<typeof roleAssignment>;

export class RoleRecords {
  readonly #roles = new Map<AccountId, Map<string, OwnRole>>();
  readonly assignments = new Map<string, RoleAssignment>();
  readonly #byAccount = new Owned<AccountId, string>();
  readonly #byPerson = new Owned<string, string>();

  get roleCount(): number {
    let count = 0;
    for (const roles of this.#roles.values()) count += roles.size;
    return count;
  }

  /** Only `evolve` calls this and the other changes. */
  put(role: OwnRole): void {
    const roles = this.#roles.get(role.account) ?? new Map<string, OwnRole>();
    this.#roles.set(role.account, roles.set(role.name, role));
  }

  /** Also removes its assignments. */
  delete(account: AccountId, name: string): void {
    const roles = this.#roles.get(account);
    roles?.delete(name);
    if (roles?.size === 0) this.#roles.delete(account);
    for (const { id, role } of this.assignmentsOf(account)) if (role === name) this.unassign(id);
  }

  assign(one: RoleAssignment): void {
    this.assignments.set(one.id, one);
    this.#byAccount.add(one.account, one.id);
    if (one.kind === 'person') this.#byPerson.add(one.subject, one.id);
  }

  unassign(id: string): void {
    const one = this.assignments.get(id);
    if (one === undefined) return;
    this.assignments.delete(id);
    this.#byAccount.remove(one.account, id);
    this.#byPerson.remove(one.subject, id);
  }

  /** After the end of an account. */
  dropOf(account: AccountId): void {
    this.#roles.delete(account);
    for (const { id } of this.assignmentsOf(account)) this.unassign(id);
  }

  named(account: AccountId, name: string): OwnRole | undefined {
    return this.#roles.get(account)?.get(name);
  }

  /** By name. */
  of(account: AccountId): OwnRole[] {
    return [...(this.#roles.get(account)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Oldest first. */
  assignmentsOf(account: AccountId): RoleAssignment[] {
    return inOrder([...this.#byAccount.of(account)].flatMap((id) => this.assignments.get(id) ?? []));
  }

  /** The assignments to a person in all accounts. */
  assignmentsTo(email: string): RoleAssignment[] {
    return [...this.#byPerson.of(email)].flatMap((id) => this.assignments.get(id) ?? []);
  }

  /** Accounts in order of their ids, for snapshots. */
  all(): OwnRole[] {
    return [...this.#roles.keys()].sort().flatMap((account) => this.of(account));
  }
}

/** Oldest first. */
export function inOrder(assignments: readonly RoleAssignment[]): RoleAssignment[] {
  return [...assignments].sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}
