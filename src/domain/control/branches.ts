/**
 * Rules of branches: databases that begin with the data of another one, and have an end.
 *
 *  BRA1 a branch belongs to the account of its origin, has the origin's partitions, and is of no other branch
 *  BRA2 no branch is made below format level BRANCHES_FORMAT_LEVEL, because earlier programs would show it empty
 */
import { type AccountId, BRANCHES_FORMAT_LEVEL, type DatabaseId, FIRST_FORMAT_LEVEL } from '../../kernel/index.js';
import { layoutIsChanging } from './database-rules.js';
import { type Decision, rejected } from './decision.js';
import { MAX_BRANCH_MS, MAX_DATABASE_BRANCHES, MIN_BRANCH_MS } from './limits.js';
import { type Branch, type Database, isChangingLayout, type NewDatabase } from './records.js';
import type { ControlState } from './state.js';

/** A database that is a branch. */
export type BranchDatabase = Database & { readonly branch: Branch };

export function isBranch(database: Database | undefined): database is BranchDatabase {
  return database?.branch !== undefined;
}

/** The branches of a database, oldest first. */
export function branchesOf(state: ControlState, account: AccountId, origin: DatabaseId): BranchDatabase[] {
  return state
    .databasesOf(account)
    .filter(isBranch)
    .filter(({ branch }) => branch.origin === origin);
}

export function refuseBranch(
  { branch, partitions, name }: NewDatabase,
  account: AccountId,
  state: ControlState,
  nowMs: number,
): Decision | undefined {
  if (branch === undefined) return undefined;
  if ((state.format?.level ?? FIRST_FORMAT_LEVEL) < BRANCHES_FORMAT_LEVEL) {
    return rejected('CONFLICTS', `branches need format level ${BRANCHES_FORMAT_LEVEL}: run millrace cluster upgrade`);
  }
  const origin = state.live(branch.origin);
  if (origin === undefined || origin.account !== account) {
    return rejected('UNKNOWN_DATABASE', `there is no database ${branch.origin}`);
  }
  if (isChangingLayout(origin)) return layoutIsChanging(origin);
  if (isBranch(origin)) return rejected('CONFLICTS', `${origin.name} is a branch, of which no branch can be made`);
  if (origin.partitions !== partitions) {
    return rejected('BAD_PARTITIONS', `a branch of ${origin.name} has ${origin.partitions} partitions`);
  }
  if (state.named(account, name) !== undefined) {
    return rejected('NAME_TAKEN', `there is a database named ${name} already`);
  }
  const lifeMs = branch.expiresAtMs - nowMs;
  // The clocks of the caller and of this process may differ by a minute.
  if (lifeMs < MIN_BRANCH_MS / 2 || lifeMs > MAX_BRANCH_MS + MIN_BRANCH_MS) {
    return rejected(
      'BAD_VALUE',
      `a branch exists for ${MIN_BRANCH_MS / 1000} seconds to ${MAX_BRANCH_MS / 86_400_000} days`,
    );
  }
  if (branchesOf(state, account, origin.id).length >= MAX_DATABASE_BRANCHES) {
    return rejected('TOO_MANY', `a database has at most ${MAX_DATABASE_BRANCHES} branches`);
  }
  return undefined;
}
