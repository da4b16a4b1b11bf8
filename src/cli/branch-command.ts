/** `millrace branch` and `millrace undo`: calls of the management API of the running installation. */
import { RefusedCommand } from './command-line.js';
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';
import { table } from './table.js';

export interface BranchCommandDeps {
  readonly mgmt: Api;
  write(text: string): void;
}

type Verb = (asked: ParsedArguments, deps: BranchCommandDeps) => Promise<void>;

interface BranchView {
  readonly branch_id: string;
  readonly name: string;
  readonly at: string;
  readonly expires_at: string;
  readonly live: boolean;
  readonly retained_bytes: number;
  readonly copied_bytes: number;
  readonly endpoint: string;
  readonly rest_token?: string;
}
interface Key {
  readonly key: string;
}
interface Difference extends Key {
  readonly type: string;
  readonly branch: string;
  readonly origin: string;
  readonly conflict: boolean;
}

/** @param verb one of `lines/tree.ts`. @returns the exit code. @throws UsageError, RefusedCommand, RefusedAnswer */
export async function branchCommand(verb: string, asked: ParsedArguments, deps: BranchCommandDeps): Promise<0> {
  await (VERBS[verb] as Verb)(asked, deps);
  return 0;
}

const VERBS: Readonly<Record<string, Verb>> = {
  async create(asked, deps) {
    const { at, expires } = asked.options;
    const path = `/v2/kv/database/${await idOf(asked.options.of, deps)}/branches`;
    const body = {
      name: asked.words[0],
      ...(at !== undefined && { at }),
      ...(asked.flags.has('live') && { live: true }),
      ...(expires !== undefined && { expires_in: secondsOf(expires) }),
    };
    const branch = (await deps.mgmt.ask('POST', path, body)) as BranchView;
    const { branch_id, rest_token = '', expires_at } = branch;
    deps.write(
      shown(asked, branch, () => `${branch_id} ${branch.name}\ntoken ${rest_token}\nit is deleted at ${expires_at}\n`),
    );
  },

  async list(asked, deps) {
    const path = `/v2/kv/database/${await idOf(asked.options.of, deps)}/branches`;
    const branches = (await deps.mgmt.ask('GET', path)) as BranchView[];
    const rows = branches.map((one) => [
      one.name,
      one.branch_id,
      one.at,
      one.expires_at,
      one.live ? 'sends' : 'holds',
      String(one.retained_bytes),
      String(one.copied_bytes),
    ]);
    const columns = ['NAME', 'ID', 'AT', 'EXPIRES', 'MESSAGES', 'RETAINED', 'COPIED'];
    deps.write(shown(asked, branches, () => table(columns, rows)));
  },

  async show(asked, deps) {
    const id = await branchIn(asked, deps);
    const branch = (await deps.mgmt.ask('GET', `/v2/kv/branch/${id}`)) as BranchView;
    const rows = () => Object.entries(branch).map(([name, value]) => [name, String(value)]);
    deps.write(shown(asked, branch, () => table(['FACT', 'VALUE'], rows())));
  },

  async diff(asked, deps) {
    const { against, keys, limit } = asked.options;
    const query = new URLSearchParams(Object.entries({ against, keys, limit }).filter(isGiven)).toString();
    const answer = await deps.mgmt.ask('GET', `/v2/kv/branch/${await branchIn(asked, deps)}/diff?${query}`);
    const { differences, more } = answer as { differences: Difference[]; more: boolean };
    const rows = differences.map(({ key, type, branch, origin, conflict }) => [
      branch,
      origin === 'same' ? '' : `origin ${origin}`,
      conflict ? 'conflict' : '',
      type,
      key,
    ]);
    const end = more ? 'there are more: give a larger --limit, or a pattern with --keys\n' : '';
    deps.write(shown(asked, answer, () => table(['BRANCH', 'ORIGIN', 'CONFLICT', 'TYPE', 'KEY'], rows) + end));
  },

  async merge(asked, deps) {
    const { keys, prefer } = asked.options;
    const body = {
      ...(keys !== undefined && { keys }),
      ...(prefer !== undefined && { prefer }),
      ...(asked.flags.has('dry-run') && { dry_run: true }),
    };
    const answer = await deps.mgmt.ask('POST', `/v2/kv/branch/${await branchIn(asked, deps)}/merge`, body);
    const { merged, written, removed, conflicts, conflict_count } = answer as {
      merged: boolean;
      written: number;
      removed: number;
      conflicts: Key[];
      conflict_count: number;
    };
    const counts = `written: ${written}, removed: ${removed}, conflicts: ${conflict_count}`;
    const did = merged ? counts : `not merged; ${counts}`;
    deps.write(shown(asked, answer, () => `${did}\n${conflicts.map(({ key }) => `conflict ${key}\n`).join('')}`));
    if (!merged && !asked.flags.has('dry-run')) {
      throw new RefusedCommand('both sides have changed these keys: choose with --prefer branch or --prefer origin');
    }
  },

  async messages(asked, deps) {
    const answer = await deps.mgmt.ask('GET', `/v2/kv/branch/${await branchIn(asked, deps)}/messages`);
    const { count, messages } = answer as { count: number; messages: object[] };
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
    deps.write(shown(asked, answer, () => `${count} held messages\n${lines}`));
  },

  async discard(asked, deps) {
    if (!asked.flags.has('yes')) throw new UsageError('a discarded branch cannot be restored: confirm with --yes');
    const id = await branchIn(asked, deps);
    await deps.mgmt.ask('DELETE', `/v2/kv/branch/${id}`);
    deps.write(shown(asked, { branch_id: id, discarded: true }, () => `${id} discarded\n`));
  },

  async undo(asked, deps) {
    const { database, by, from, to, keys } = asked.options;
    const path = `/v2/kv/database/${await idOf(database, deps)}/undo`;
    const isDryRun = asked.flags.has('dry-run');
    const body = { by, from, to, ...(keys !== undefined && { keys }), ...(isDryRun && { dry_run: true }) };
    const answer = await deps.mgmt.ask('POST', path, body);
    const found = answer as {
      keys: (Key & { change: string; writes: number })[];
      key_count: number;
      conflicts: (Key & { author: string; time: string })[];
      conflict_count: number;
      unknown_writes: number;
    };
    const done = `${isDryRun ? 'keys to undo' : 'keys undone'}: ${found.key_count}, conflicts: ${found.conflict_count}\n`;
    const unknown = found.unknown_writes === 0 ? '' : `writes without a known author: ${found.unknown_writes}\n`;
    const lines = [
      ...found.keys.map(({ key, change, writes }) => `${change} ${key} (writes: ${writes})\n`),
      ...found.conflicts.map(
        ({ key, author, time }) => `conflict ${key}: ${author || 'the server'} wrote it at ${time}\n`,
      ),
    ];
    deps.write(shown(asked, answer, () => done + unknown + lines.join('')));
  },
};

function isGiven(pair: [string, string | undefined]): pair is [string, string] {
  return pair[1] !== undefined;
}

function branchIn({ words: [name] }: ParsedArguments, deps: BranchCommandDeps): Promise<string> {
  return idOf(name, deps);
}

/** The id of a database or branch by id or name; without a name the only database that is no branch. @throws RefusedCommand */
async function idOf(idOrName: string | undefined, { mgmt }: BranchCommandDeps): Promise<string> {
  const all = (await mgmt.ask('GET', '/v2/kv/databases')) as {
    database_id: string;
    database_name: string;
    branch_of?: string;
  }[];
  const isMeant = (one: (typeof all)[number]) =>
    idOrName === undefined ? one.branch_of === undefined : [one.database_id, one.database_name].includes(idOrName);
  const [first, second] = all.filter(isMeant);
  if (first === undefined) throw new RefusedCommand(`there is no database ${idOrName ?? 'yet'}`);
  if (second === undefined) return first.database_id;
  throw new RefusedCommand(
    idOrName === undefined
      ? 'there are several databases: name one'
      : `several databases are named ${idOrName}: give an id`,
  );
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90s`, `30m`, `12h`, `2d`. @throws UsageError */
function secondsOf(duration: string): number {
  const match = /^(\d{1,9})([smhd])$/.exec(duration);
  if (match === null) throw new UsageError(`--expires accepts a duration like 30m, 12h or 2d, not "${duration}"`);
  return Number(match[1]) * (UNITS[match[2] ?? ''] ?? 1);
}
