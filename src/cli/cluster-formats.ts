/**
 * Raising the level of the forms in which things are stored (`kernel/format-level.ts`) to that of this program.
 *
 *  CFO1 nothing is raised while a process that was seen lately reads less, or while nobody can say who was
 *  CFO2 the layout comes first, which refuses whoever starts from then on; then everybody is looked at again, so that one
 *       that was let in before is seen (LFO2); then the journal, upon which forms of the level may be written
 *  CFO3 what broke off anywhere is finished by asking again
 */
import { CANNOT_BE_ASKED } from '../actors/cluster/index.js';
import type { ControlClient } from '../actors/control/index.js';
import { SESSION_UNCHANGED_MS } from '../actors/runtime/index.js';
import { type AccountId, FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../kernel/index.js';
import type { ClusterStatus, ProcessStatus } from '../ports/index.js';
import { askFor, noted, RefusedCommand } from './command-line.js';

export interface FormatRaising {
  readonly client: ControlClient;
  /** A person reads it. */
  readonly by: string;
  /** In the layout. */
  raiseLayout(level: number): Promise<void>;
  /** The first one: its audit log has what operators do with the whole. */
  account(): Promise<AccountId | undefined>;
}

/** @throws Refused, naming who is too old */
export async function raiseFormats(
  now: ClusterStatus,
  lookAgain: () => Promise<ClusterStatus>,
  { client, by, raiseLayout, account }: FormatRaising,
): Promise<void> {
  const level = FORMAT_LEVEL;
  refuseOlder(now, level);
  const operators = await account();
  if (operators === undefined) throw new RefusedCommand('nothing is stored yet: start a process first');
  await raiseLayout(level);
  refuseOlder(await lookAgain(), level);
  const command = { type: 'RaiseFormat', level, by } as const;
  await askFor(client, noted(operators, 'raiseFormat', `level ${level}`, command), 'FormatIs');
}

const FORGOTTEN_MINUTES = SESSION_UNCHANGED_MS / 60_000;

/** CFO1 */
function refuseOlder({ processes, alarms }: ClusterStatus, level: number): void {
  const unknown = alarms.find((alarm) => alarm.includes(CANNOT_BE_ASKED));
  if (unknown !== undefined) throw new RefusedCommand(`nobody can say who reads format level ${level}: ${unknown}`);
  const older = processes.filter(({ readsFormat = FIRST_FORMAT_LEVEL }) => readsFormat < level);
  if (older.length === 0) return;
  const names = older.map(described).join('; ');
  throw new RefusedCommand(`format level ${level} is not read by ${names}: upgrade or end what runs`);
}

function described({ process, state, version, host, pid, readsFormat = FIRST_FORMAT_LEVEL }: ProcessStatus): string {
  const reads = `reads up to level ${readsFormat}`;
  if (version !== undefined) return `${process} (version ${version}, ${host}:${pid}, ${reads})`;
  return `${process} (${state}, as far as is known ${reads}; what has ended is forgotten after ${FORGOTTEN_MINUTES} minutes)`;
}
