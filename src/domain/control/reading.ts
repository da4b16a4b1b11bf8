/** Commands that change nothing, whatever they are answered. */
import type { ControlCommand } from './commands.js';

const READING: ReadonlySet<ControlCommand['type']> = new Set([
  'ListDatabases',
  'ListAccounts',
  'ListOwnDatabases',
  'GetDatabase',
  'GetAccount',
  'ListQueues',
  'ListTeams',
  'ListApiKeys',
  'ListSearchIndexes',
  'GetSearchIndex',
  'ListBackups',
  'GetBackup',
  'ListAudit',
]);

export function isReading({ type }: ControlCommand): boolean {
  return READING.has(type);
}
