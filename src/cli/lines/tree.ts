/** Every command there is. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb, verb } from '../parser.js';
import { logOption } from '../serve-line.js';
import { accountLine } from './account-line.js';
import { backupLine } from './backup-line.js';
import { clusterLine } from './cluster-line.js';
import { dbLine } from './db-line.js';
import { addImportLine } from './import-line.js';
import { journalLine } from './journal-line.js';

/** What the commands do: those of the process itself, and of each group. */
export type RunVerbs = Readonly<Record<'process' | 'db' | 'account' | 'journal' | 'backup' | 'cluster', RunVerb>>;

const END = `
settings are MILLRACE_* variables: docs/settings.md
exit codes: 0 done, 1 refused, failed or damaged, 2 asked wrongly: docs/operations/command-line.md`;

export function commandTree(runs: RunVerbs): Command {
  const root = group('millrace', 'keys, queues, workflows and search on NATS JetStream').addHelpText('after', END);
  const serving = (name: string, summary: string) => verb(root, name, summary, runs.process).addOption(logOption());
  serving('serve', 'starts this process');
  serving('dev', 'starts one for trying out: data that is thrown away, and what published clients read');
  serving('demo', 'the same with sample data, a receiver, schedules and runs of a workflow');
  dataVerb(root, 'doctor', 'looks for what usually keeps a start from working', runs.process);
  dataVerb(root, 'config', 'prints the effective settings, secrets masked', runs.process);
  root.addCommand(dbLine(runs.db));
  root.addCommand(accountLine(runs.account));
  root.addCommand(journalLine(runs.journal));
  root.addCommand(backupLine(runs.backup));
  root.addCommand(clusterLine(runs.cluster));
  addImportLine(root, runs.process);
  dataVerb(root, 'tools', 'finds or fetches the nats-server to embed, and prints its path', runs.process);
  verb(root, 'completion <shell>', 'prints a script that completes commands, for bash, zsh or fish', runs.process);
  dataVerb(root, 'version', 'prints the version', runs.process);
  verb(root, 'complete [words...]', 'what the scripts of completion ask', runs.process, { hidden: true });
  return root;
}
