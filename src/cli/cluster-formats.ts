/**
 * Raises the stored-format level (`kernel/format-level.ts`) to that of this program.
 *
 *  CFO1 the level is not raised while a recently seen process reads a lower one, or while the processes are not known
 *  CFO2 the layout is raised first, which refuses older processes at their start; then the processes are checked
 *       again, so that one that started before is seen (LFO2); then the journal, after which records of the new level
 *       may be written
 *  CFO3 an interrupted upgrade is completed by repeating the command
 */
import { CANNOT_BE_ASKED } from '../actors/cluster/index.js';
import type { ControlClient } from '../actors/control/index.js';
import { SESSION_UNCHANGED_MS } from '../actors/runtime/index.js';
import { type AccountId, FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../kernel/index.js';
import type { ClusterStatus, ProcessStatus } from '../ports/index.js';
import { askFor, noted, RefusedCommand } from './command-line.js';

export interface FormatRaising {
  readonly client: ControlClient;
  /** The operator, for the log. */
  readonly by: string;
  /** Raises the level in the layout. */
  raiseLayout(level: number): Promise<void>;
  /** The first account: its audit log records actions on the whole installation. */
  account(): Promise<AccountId | undefined>;
}

/** @throws Refused, with the processes that are too old */
export async function raiseFormats(
  now: ClusterStatus,
  lookAgain: () => Promise<ClusterStatus>,
  { client, by, raiseLayout, account }: FormatRaising,
): Promise<void> {
  const level = FORMAT_LEVEL;
  refuseOlder(now, level);
  const operators = await account();
  if (operators === undefined) throw new RefusedCommand('the installation has no data yet: start a process first');
  await raiseLayout(level);
  refuseOlder(await lookAgain(), level);
  const command = { type: 'RaiseFormat', level, by } as const;
  await askFor(client, noted(operators, 'raiseFormat', `level ${level}`, command), 'FormatIs');
}

const FORGOTTEN_MINUTES = SESSION_UNCHANGED_MS / 60_000;

/**
 * Refuses if an older process is alive (CFO1). One that was last seen longer ago has ended, even if its record
 * exists.
 */
function refuseOlder({ processes, alarms }: ClusterStatus, level: number): void {
  const unknown = alarms.find((alarm) => alarm.includes(CANNOT_BE_ASKED));
  if (unknown !== undefined)
    throw new RefusedCommand(`it is not known whether these processes read format level ${level}: ${unknown}`);
  const older = processes.filter(
    ({ readsFormat = FIRST_FORMAT_LEVEL, silentForMs = 0 }) =>
      readsFormat < level && silentForMs < SESSION_UNCHANGED_MS,
  );
  if (older.length === 0) return;
  const names = older.map(described).join('; ');
  throw new RefusedCommand(`format level ${level} is not read by ${names}: upgrade or stop these processes`);
}

function described(one: ProcessStatus): string {
  const { process, state, version, host, pid, readsFormat = FIRST_FORMAT_LEVEL, silentForMs } = one;
  const reads = `reads up to level ${readsFormat}`;
  if (version !== undefined) return `${process} (version ${version}, ${host}:${pid}, ${reads})`;
  const seen = silentForMs === undefined ? '' : `, last seen ${Math.floor(silentForMs / 1000)} s ago`;
  const forgotten = `a silent process is considered for ${FORGOTTEN_MINUTES} minutes`;
  return `${process} (${state}${seen}, as far as is known ${reads}; ${forgotten})`;
}
