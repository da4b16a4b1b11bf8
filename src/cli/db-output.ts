/** The output of `millrace db`: a table without secrets, lines with secrets on request, and JSON. */
import type { DatabaseCredentials } from '../actors/control/index.js';
import type { Database, DatabaseView } from '../domain/control/index.js';
import { table } from './table.js';

const COLUMNS = ['ID', 'NAME', 'ACCOUNT', 'PARTITIONS', 'MAX COMMAND', 'MAX A DAY', 'TODAY', 'CREATED'] as const;

export function databaseTable(databases: readonly DatabaseView[]): string {
  const rows = databases.map(({ database, today }) => [
    database.id,
    database.name,
    database.account,
    String(database.partitions),
    String(database.limits.maxCommandBytes),
    database.limits.maxRequestsPerDay === 0 ? 'no limit' : String(database.limits.maxRequestsPerDay),
    String(today.commands),
    new Date(database.createdAtMs).toISOString(),
  ]);
  return table(COLUMNS, rows);
}

export function secretLines(database: Database, credentials: DatabaseCredentials): string {
  return [
    `id               ${database.id}`,
    `name             ${database.name}`,
    `token            ${credentials.standardToken}`,
    `read-only token  ${credentials.readOnlyToken}`,
    `password         ${credentials.password}`,
    '',
  ].join('\n');
}

/** The output of `--json` for a database. */
export function databaseFacts({
  id,
  name,
  account,
  partitions,
  isCluster,
  limits,
  settings,
  createdAtMs,
  layoutChange,
}: Database) {
  const state = settings?.isSuspended === true ? 'suspended' : 'active';
  const change = layoutChange && {
    phase: layoutChange.phase,
    percent: layoutChange.percent,
    reason: layoutChange.reason,
  };
  const placing = { partitions, cluster: isCluster === true, ...(change && { layoutChange: change }) };
  return { id, name, account, state, ...placing, ...limits, createdAt: new Date(createdAtMs).toISOString() };
}

export function secretFacts(database: Database, { standardToken, readOnlyToken, password }: DatabaseCredentials) {
  return { ...databaseFacts(database), token: standardToken, readOnlyToken, password };
}
