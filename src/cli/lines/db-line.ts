/** The words of `millrace db`. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb, wholeOption } from '../parser.js';

const MAX_COMMAND_BYTES = () => wholeOption('--max-command-bytes <n>', 'the longest command or request body');
const MAX_REQUESTS = () => wholeOption('--max-requests-per-day <n>', 'commands a UTC day; 0: no limit');

/** A database is named by its id, its name, or the UUID that the management API has for it. */
export function dbLine(run: RunVerb): Command {
  const db = group('db', 'databases: made, listed, limited, suspended, deleted');
  dataVerb(db, 'create', 'makes a database, and prints its tokens and its password, once', run)
    .requiredOption('--name <name>', 'what it is called')
    .addOption(wholeOption('--partitions <n>', 'how many shards it may be spread over (1)'))
    .addOption(MAX_COMMAND_BYTES())
    .addOption(MAX_REQUESTS())
    .option('--account <id>', 'whose it is; the first account when it is not given');
  dataVerb(db, 'list', 'lists databases, their limits and what they were used for today', run).option(
    '--show-secrets',
    'with tokens and passwords',
  );
  dataVerb(db, 'limits <database>', 'sets limits', run).addOption(MAX_COMMAND_BYTES()).addOption(MAX_REQUESTS());
  dataVerb(db, 'reset-password <database>', 'makes new tokens and a new password; the old ones open nothing', run);
  dataVerb(db, 'suspend <database>', 'lets nobody in until it is activated; its data stays', run);
  dataVerb(db, 'activate <database>', 'lets clients in again', run);
  dataVerb(db, 'delete <database>', 'removes a database and its data, for good', run).option('--yes', 'it is meant');
  return db;
}
