/** Branches of databases: made, listed, compared, merged, discarded; and undoing the writes of one author. */
import {
  type Branch,
  type BranchDatabase,
  type Database,
  DEFAULT_BRANCH_MS,
  DEFAULT_DATABASE_SETTINGS,
  isBranch,
  type NewDatabase,
} from '../../../domain/control/index.js';
import { bytesOfText, describeError } from '../../../kernel/index.js';
import type { Branches } from '../../../ports/index.js';
import { newDatabaseId, uuidOf } from '../../../protocol/index.js';
import { branchRefusalOf, MANAGEMENT_REFUSALS, notFound } from '../../error-map.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { RefusedRequest } from '../../http/refused.js';
import { mustBeAllowed } from '../../team-permissions.js';
import {
  BranchAnswer,
  BranchDiffAnswer,
  branchAnswer,
  differenceAnswer,
  HeldMessagesAnswer,
  MergeAnswer,
  mergeAnswer,
  UndoAnswer,
  undoAnswer,
} from '../answers/branch-answers.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { databaseIn, databasesOf } from '../owned.js';
import {
  BranchDiffQuery,
  CreateBranchRequest,
  instantIn,
  MergeBranchRequest,
  UndoRequest,
} from '../requests/branch-requests.js';

/** Reading the journal of a large database takes about a minute. */
const LONGEST_READING_MS = 300_000;
const USUAL_DIFFERENCES = 1000;

export const BRANCH_ROUTES: readonly ManagementRoute[] = [
  managementRoute('POST /v2/kv/database/:id/branches', {
    summary: 'Makes a branch: a separate database that begins with the data of this one at a moment.',
    permission: 'databases:change',
    body: CreateBranchRequest,
    example: { name: 'rehearsal', expires_in: 3600 },
    answer: one(BranchAnswer),
    async handle(call, { path, body }) {
      const origin = await databaseIn(call, path.id);
      const branches = branchesPort(call);
      const wanted = newBranchOf(call, origin, body);
      const asked = body.at === undefined ? undefined : instantIn(body.at);
      const atMs = await told(branches.refer(wanted.id, origin, asked));
      const database = { ...wanted, branch: { ...wanted.branch, atMs } };
      const about = { action: 'createBranch', entity: origin.name, secondary: wanted.name } as const;
      try {
        const reply = await call.change({ type: 'CreateDatabase', database }, 'OneDatabase', about);
        return shownBranch(call, known(reply.database));
      } catch (failure) {
        // With an unknown outcome the branch may exist, so only a refusal removes its data.
        if (failure instanceof RefusedRequest) await branches.forget(wanted.id);
        throw failure;
      }
    },
  }),

  managementRoute('GET /v2/kv/database/:id/branches', {
    summary: 'Lists the branches of a database, oldest first.',
    permission: 'databases:read',
    answer: listOf(BranchAnswer),
    async handle(call, { path }) {
      const { id } = await databaseIn(call, path.id);
      const found = (await databasesOf(call)).filter(isBranch);
      return Promise.all(found.filter(({ branch }) => branch.origin === id).map((each) => shownBranch(call, each)));
    },
  }),

  managementRoute('GET /v2/kv/branch/:id', {
    summary: 'Shows a branch.',
    permission: 'databases:read',
    answer: one(BranchAnswer),
    handle: async (call, { path }) => shownBranch(call, await branchIn(call, path.id)),
  }),

  managementRoute('GET /v2/kv/branch/:id/diff', {
    summary: 'Lists the keys by which a branch differs from its origin, then or now.',
    permission: 'databases:read',
    query: BranchDiffQuery,
    answer: one(BranchDiffAnswer),
    async handle(call, { path, query }) {
      const branch = await compared(call, await branchIn(call, path.id));
      const limit = Number(query.limit ?? USUAL_DIFFERENCES);
      const selection = { ...selectionOf(query), isAgainstNow: query.against === 'now' };
      const differences: ReturnType<typeof differenceAnswer>[] = [];
      await told(
        (async () => {
          for await (const one of branchesPort(call).differences(branch, selection)) {
            differences.push(differenceAnswer(one));
            if (differences.length > limit) break;
          }
        })(),
      );
      return { differences: differences.slice(0, limit), more: differences.length > limit };
    },
  }),

  managementRoute('POST /v2/kv/branch/:id/merge', {
    summary: 'Writes keys that the branch has changed into its origin, in one transaction for each partition.',
    permission: 'databases:change',
    body: MergeBranchRequest,
    example: { keys: 'user:*', dry_run: true },
    answer: one(MergeAnswer),
    async handle(call, { path, body }) {
      const { keys = '*', prefer, dry_run: isDryRun = false } = body;
      const branch = await branchIn(call, path.id);
      const branches = branchesPort(call);
      const origin = await originOf(call, branch);
      mustBeAllowed(call.grant, 'databases:change', uuidOf(origin.id));
      if (!isDryRun) {
        // Journaled first: the change to the data is in the log even if the merge is interrupted.
        const about = { action: 'mergeBranch', entity: origin.name, secondary: branch.name, third: keys } as const;
        await noted(call, origin, about);
      }
      const order = { ...selectionOf(body), prefer, isDryRun, by: call.author };
      return mergeAnswer(await told(branches.merge(comparedWith(origin, branch), order)));
    },
  }),

  managementRoute('GET /v2/kv/branch/:id/messages', {
    summary: 'Shows the messages that commands of a branch have published, and that are held.',
    permission: 'databases:read',
    answer: one(HeldMessagesAnswer),
    async handle(call, { path }) {
      const { id, partitions } = await branchIn(call, path.id);
      return told(branchesPort(call).held(id, partitions));
    },
  }),

  managementRoute('DELETE /v2/kv/branch/:id', {
    summary: 'Discards a branch with all that it holds.',
    permission: 'databases:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const { id, name, partitions } = await branchIn(call, path.id);
      const about = { action: 'discardBranch', entity: name } as const;
      await call.change({ type: 'DeleteDatabase', database: id }, 'OneDatabase', about);
      call.endpoint.parts.removal?.remove(id, partitions);
      try {
        await call.endpoint.parts.branches?.forget(id);
      } catch (failure) {
        // A later sweep removes them.
        call.endpoint.parts.log.warn('management.branch.remains', { branch: id, error: describeError(failure) });
      }
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/kv/database/:id/undo', {
    summary: 'Undoes the writes of one author in a period, on the keys that no other author has written to since.',
    permission: 'databases:change',
    body: UndoRequest,
    example: { by: 'default', from: '2026-05-01T12:00:00Z', to: '2026-05-01T13:00:00Z', dry_run: true },
    answer: one(UndoAnswer),
    async handle(call, { path, body }) {
      const { by, from, to, dry_run: isDryRun = false } = body;
      const database = await databaseIn(call, path.id);
      const branches = branchesPort(call);
      if (!isDryRun) {
        const about = { action: 'undoChanges', entity: database.name, secondary: from, third: to } as const;
        await noted(call, database, about);
      }
      const { id, partitions, firstPartition } = database;
      const period = { fromMs: instantIn(from), toMs: instantIn(to) };
      const layout = { partitions, firstPartition };
      const order = { database: id, ...layout, of: by, ...period, ...selectionOf(body), isDryRun, by: call.author };
      return undoAnswer(await told(branches.undo(order)));
    },
  }),
];

/** @throws Refused 503 */
function branchesPort({ endpoint }: ManagementCall): Branches {
  const { branches } = endpoint.parts;
  if (branches === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noBranches);
  return branches;
}

/** The texts of refusals about data are for the caller. @throws Refused */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (failure) {
    throw failure instanceof RefusedRequest ? failure : new RefusedRequest(branchRefusalOf(failure));
  }
}

function selectionOf({ keys }: { readonly keys: string | undefined }) {
  const signal = AbortSignal.timeout(LONGEST_READING_MS);
  return { keys: keys === undefined ? undefined : bytesOfText(keys), signal };
}

/** @throws Refused 404 */
async function branchIn(call: ManagementCall, uuid: string | undefined): Promise<BranchDatabase> {
  return known(await databaseIn(call, uuid));
}

function known(database: Database): BranchDatabase {
  if (!isBranch(database)) throw new RefusedRequest(notFound('branch'));
  return database;
}

/** @throws Refused 404 after the origin was deleted */
async function originOf(call: ManagementCall, { branch }: BranchDatabase): Promise<Database> {
  const command = { type: 'GetDatabase', account: call.account, database: branch.origin } as const;
  return (await call.ask(command, 'OneDatabase')).database;
}

async function noted(call: ManagementCall, { id: database }: Database, about: Parameters<ManagementCall['change']>[2]) {
  const command = { type: 'ChangeDatabase', account: call.account, database, change: {} } as const;
  await call.change(command, 'OneDatabase', about);
}

/** A deleted origin has no keys in any partition. */
async function compared(call: ManagementCall, branch: BranchDatabase) {
  const { databases } = await call.ask({ type: 'ListOwnDatabases', account: call.account }, 'Databases');
  const found = databases.find(({ database }) => database.id === branch.branch.origin);
  return comparedWith(found?.database ?? {}, branch);
}

function comparedWith(
  { firstPartition }: Pick<Database, 'firstPartition'>,
  { id, partitions, branch }: BranchDatabase,
) {
  return { branch: id, origin: branch.origin, originFirst: firstPartition ?? 0, partitions };
}

async function shownBranch(call: ManagementCall, database: BranchDatabase) {
  const none = { referredBytes: 0, copiedBytes: 0 };
  const size = await call.endpoint.parts.branches?.size(database.id, database.partitions);
  return branchAnswer(call, database, size ?? none);
}

function newBranchOf(
  call: ManagementCall,
  { id: origin, partitions, limits, isCluster, settings = DEFAULT_DATABASE_SETTINGS }: Database,
  { name, live: isLive = false, expires_in }: CreateBranchRequest,
): NewDatabase & { readonly branch: Branch } {
  const { parts, secrets } = call.endpoint;
  const expiresAtMs = call.nowMs + (expires_in === undefined ? DEFAULT_BRANCH_MS : expires_in * 1000);
  return {
    id: newDatabaseId(parts.random),
    name,
    account: call.account,
    partitions,
    ...(isCluster === true && { isCluster }),
    limits,
    secrets: secrets.ofDatabase(),
    settings: { ...settings, prometheusToken: undefined, hasDailyBackup: false, isSuspended: false },
    branch: { origin, atMs: call.nowMs, expiresAtMs, isLive },
  };
}
