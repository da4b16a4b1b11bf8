/** `millrace role`, `audit-log` and `audit-export`: roles, the audit log and its export, over the management API of the running installation. */
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';
import { table } from './table.js';

export interface RoleCommandDeps {
  readonly mgmt: Pick<Api, 'ask'>;
  write(text: string): void;
}

interface RoleView {
  readonly name: string;
  readonly built_in: boolean;
  readonly rights: readonly string[];
}

interface AssignmentView {
  readonly assignment_id: string;
  readonly role: string;
  readonly email: string;
  readonly provider: string;
  readonly group: string;
  readonly resource_id: string;
}

interface ExportView {
  /** Empty: no export. */
  readonly url: string;
  readonly lag_seconds: number;
  readonly position?: number;
  readonly undelivered_seconds: number;
  readonly problem?: string;
}

type Verb = (asked: ParsedArguments, deps: RoleCommandDeps) => Promise<void>;

/** @param verb one of `lines/tree.ts`. @returns the exit code. @throws UsageError, RefusedAnswer */
export async function roleCommand(verb: string, asked: ParsedArguments, deps: RoleCommandDeps): Promise<0> {
  await (VERBS[verb] as Verb)(asked, deps);
  return 0;
}

const VERBS: Readonly<Record<string, Verb>> = {
  async list(asked, { mgmt, write }) {
    const roles = (await mgmt.ask('GET', '/v2/roles')) as RoleView[];
    const rows = roles.map(({ name, built_in, rights }) => [name, built_in ? 'built in' : 'own', rights.join(' ')]);
    write(shown(asked, roles, () => table(['ROLE', 'KIND', 'RIGHTS'], rows)));
  },

  async create(asked, { mgmt, write }) {
    const { rights = '', description } = asked.options;
    const body = { name: asked.words[0], rights: rights.split(','), ...(description !== undefined && { description }) };
    const role = (await mgmt.ask('POST', '/v2/roles', body)) as RoleView;
    write(shown(asked, role, () => `${role.name}: ${role.rights.join(' ')}\n`));
  },

  async delete(asked, { mgmt, write }) {
    const [name = ''] = asked.words;
    if (!asked.flags.has('yes')) throw new UsageError('people and keys lose the role with it: confirm with --yes');
    await mgmt.ask('DELETE', `/v2/roles/${encodeURIComponent(name)}`);
    write(shown(asked, { name, deleted: true }, () => `${name} deleted\n`));
  },

  async given(asked, { mgmt, write }) {
    const all = (await mgmt.ask('GET', '/v2/role-assignments')) as AssignmentView[];
    const rows = all.map((one) => [one.assignment_id, one.role, subjectOf(one), one.resource_id || 'the account']);
    write(shown(asked, all, () => table(['ID', 'ROLE', 'TO', 'FOR'], rows)));
  },

  async give(asked, { mgmt, write }) {
    const { to = '', for: resource } = asked.options;
    const colon = to.indexOf(':');
    const subject = colon < 0 ? { email: to } : { provider: to.slice(0, colon), group: to.slice(colon + 1) };
    const body = { role: asked.words[0], ...subject, ...(resource !== undefined && { resource_id: resource }) };
    const one = (await mgmt.ask('POST', '/v2/role-assignments', body)) as AssignmentView;
    write(shown(asked, one, () => `${one.assignment_id}: ${subjectOf(one)} has the role ${one.role}\n`));
  },

  async take(asked, { mgmt, write }) {
    const [id = ''] = asked.words;
    await mgmt.ask('DELETE', `/v2/role-assignments/${encodeURIComponent(id)}`);
    write(shown(asked, { assignment_id: id, deleted: true }, () => `${id} taken away\n`));
  },

  /** JSON lines, oldest first, so that a later export goes on after the last line. */
  async 'audit-log'({ options: { from, to, after = '' } }, { mgmt, write }) {
    const range = Object.entries({ from: secondsOf('--from', from), to: secondsOf('--to', to) });
    const given = range.flatMap(([name, seconds]) =>
      seconds === undefined ? [] : [[name, String(seconds)] as [string, string]],
    );
    const entries = (await mgmt.ask('GET', `/v2/auditlogs?${new URLSearchParams(given)}`)) as { log_id: string }[];
    // Ids grow with time.
    const wanted = entries.filter(({ log_id }) => log_id > after.toLowerCase()).reverse();
    write(wanted.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  },

  async 'audit-export'(asked, { mgmt, write }) {
    const path = '/v2/auditlogs/export';
    const [url] = asked.words;
    if (asked.flags.has('remove')) {
      if (url !== undefined) throw new UsageError('audit-export takes a URL or --remove, not both');
      await mgmt.ask('DELETE', path);
      write(shown(asked, { deleted: true }, () => 'the audit log is no longer exported\n'));
      return;
    }
    const body = url === undefined ? [] : [{ url }];
    const found = (await mgmt.ask(url === undefined ? 'GET' : 'POST', path, ...body)) as ExportView;
    write(shown(asked, found, () => exportText(found)));
  },
};

function exportText(found: ExportView): string {
  if (found.url === '') return 'the audit log is not exported\n';
  const rows = [
    ['address', found.url],
    ['accepted up to position', String(found.position)],
    ['not accepted for', `${found.lag_seconds} s`],
    ['not delivered for', `${found.undelivered_seconds} s`],
    ['last error', found.problem ?? 'none'],
  ];
  return rows.map(([name = '', value]) => `${name.padEnd(25)}${value}\n`).join('');
}

/** @throws UsageError */
function secondsOf(option: string, instant: string | undefined): number | undefined {
  if (instant === undefined) return undefined;
  const atMs = Date.parse(instant);
  if (Number.isNaN(atMs))
    throw new UsageError(`${option} accepts an instant like 2026-05-01T12:00:00Z, not "${instant}"`);
  return Math.floor(atMs / 1000);
}

function subjectOf({ email, provider, group }: AssignmentView): string {
  return email === '' ? `${provider}:${group}` : email;
}
