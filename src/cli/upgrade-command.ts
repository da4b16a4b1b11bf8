/**
 * `millrace upgrade --check`: whether this release reads the data of an installation, before it replaces an earlier one. It
 * changes no data. A nats-server is started for the command if no process runs.
 */
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../kernel/index.js';
import { type JournalCommandDeps, teller } from './journal-deps.js';
import { verifyAll } from './journal-verify.js';

/**
 * Compares the level, reads every entry and snapshot, and builds snapshots again from their entries.
 * @param level of the stored forms @returns 0: all data is readable; 1: it is not, or is damaged
 */
export async function checkUpgrade(
  deps: JournalCommandDeps,
  level: number = FIRST_FORMAT_LEVEL,
  asJson = false,
): Promise<0 | 1> {
  const tell = teller(deps, asJson);
  const isRaised = level >= FORMAT_LEVEL;
  const later = isRaised ? '' : '; after the upgrade "millrace cluster upgrade" raises it';
  await tell(
    { level, readsUpTo: FORMAT_LEVEL },
    `the data has format level ${level}, this release reads up to ${FORMAT_LEVEL}${later}\n`,
  );
  return verifyAll(deps, { verb: 'verify-all', against: undefined, signedBy: undefined, asJson });
}
