/** The tree of all commands. */
import { type Command, Option } from 'commander';
import { dataVerb, group, type RunVerb, verb, wholeOption } from '../parser.js';
import { logOption, openOption } from '../serve-line.js';
import { addDataLines } from './data-lines.js';

const WHOSE = `
subject: --database <name, id or UUID>, or --account <id or UUID> for its queue, without --format resp and --serve
a moment is a position (120) or an instant (2026-05-01T12:00:00Z)`;

const ABOUT = `
source: redis://[user:password@]host:port[/database] of a running Redis (rediss:// over TLS), an RDB file, or an
append-only file or directory, which needs an empty database
existing keys stay, unless --replace is given; with --state, the same command resumes an interrupted import`;

const LINES = `
source: the URL of an index, a file with a JSON object on each line, or - for standard input
lines: {"id", "vector", "sparseVector", "metadata", "data", "namespace"}, points {"id", "vector", "payload"}, or
records {"id", "values", "sparse_values", "metadata"}; a vector with the same id is replaced`;

const MAX_COMMAND_BYTES = () => wholeOption('--max-command-bytes <n>', 'the largest command or request body, in bytes');

const MAX_REQUESTS = () => wholeOption('--max-requests-per-day <n>', 'commands per UTC day; 0: no limit');

const WAIT = () => wholeOption('--wait <seconds>', 'the longest wait for the result, in seconds (120)');

const PROCESS = '\nPROCESS is a name as status shows it, or the first letters of one';

/** Functions that run the commands: of the process itself, and of each group. */
export type RunVerbs = Readonly<
  Record<
    | 'process'
    | 'data'
    | 'db'
    | 'account'
    | 'journal'
    | 'branch'
    | 'role'
    | 'usage'
    | 'vectors'
    | 'backup'
    | 'encryption'
    | 'cluster',
    RunVerb
  >
>;

const MCP = `
example, in the settings of such a program:
  {"mcpServers": {"millrace": {"command": "npx", "args": ["millrace", "mcp"]}}}`;

const END = `
settings are MILLRACE_* variables: docs/settings.md
exit codes: 0 done, 1 refused, failed or damaged, 2 wrong usage: docs/operations/command-line.md`;

export function commandTree(runs: RunVerbs): Command {
  const root = group('millrace', 'keys, queues, workflows and search on NATS JetStream').addHelpText('after', END);
  root.commandsGroup('run a process:');
  const serving = (name: string, summary: string) =>
    verb(root, name, summary, runs.process).addOption(logOption()).addOption(openOption());
  serving('serve', 'starts a process');
  serving('dev', 'starts a process for development: temporary data, and variables for published clients');
  serving('demo', 'like dev, with sample data, a receiver, schedules and runs of a workflow');
  addDataLines(root, runs.data);
  root.commandsGroup('operate an installation:');
  dataVerb(root, 'env', 'prints URLs and tokens of the running installation, for eval "$(millrace env)"', runs.process)
    .option('--dotenv', 'prints lines for a .env file')
    .option('--database <database>', 'the database (the first one of the account)')
    .option('--account <account>', "the account (the only person's)");
  addLoginLines(root, runs.process);
  addMcpLine(root, runs.process);
  addUsageLines(root, runs.usage);
  verb(
    root,
    'reload',
    'replaces the workers of the running process one by one, without an interruption',
    runs.process,
  ).option('--settings', 'with the MILLRACE_* variables of this command, instead of those of the process');
  dataVerb(root, 'doctor', 'checks the machine and the settings before a start', runs.process);
  dataVerb(
    root,
    'upgrade',
    'checks whether this release reads the data, before it replaces an earlier one',
    runs.process,
  ).option('--check', 'reads all entries and snapshots, and changes no data');
  dataVerb(root, 'config', 'prints the settings in effect, with secrets masked', runs.process);
  root.addCommand(dbLine(runs.db));
  root.addCommand(accountLine(runs.account));
  root.addCommand(journalLine(runs.journal));
  root.addCommand(roleLine(runs.role));
  dataVerb(root, 'audit-log', 'prints the audit log of the account as JSON lines, oldest first', runs.role)
    .option('--from <instant>', 'the first instant (2026-05-01T12:00:00Z)')
    .option('--to <instant>', 'the last instant')
    .option('--after <id>', 'only entries after this log_id, the last one of an earlier export');
  dataVerb(
    root,
    'audit-export [url]',
    'shows or sets the address that gets the audit log of the account',
    runs.role,
  ).option('--remove', 'ends the export');
  root.addCommand(branchLine(runs.branch));
  root.addCommand(vectorsLine(runs.vectors));
  addUndoLine(root, runs.branch);
  root.addCommand(backupLine(runs.backup));
  root.addCommand(encryptionLine(runs.encryption));
  root.addCommand(clusterLine(runs.cluster));
  addImportLine(root, runs.process);
  dataVerb(root, 'tools', 'finds or downloads the embedded nats-server, and prints its path', runs.process);
  verb(root, 'completion <shell>', 'prints a script that completes commands, for bash, zsh or fish', runs.process);
  dataVerb(root, 'version', 'prints the version', runs.process);
  verb(root, 'complete [words...]', 'answers the completion scripts', runs.process, { hidden: true });
  return root;
}

function addMcpLine(root: Command, run: RunVerb): void {
  verb(root, 'mcp', 'serves the API to programs that speak the Model Context Protocol, over stdin and stdout', run)
    .option('--allow-changes', 'offers operations that change data; without it only those that read')
    .option('--only <areas>', 'only these, separated by commas: kv, queue, search, vector, management, operators')
    .option('--account <account>', "the account (the only person's)")
    .addHelpText('after', MCP);
}

function addUsageLines(root: Command, run: RunVerb): void {
  dataVerb(root, 'usage', 'shows the use of each database, queue and index of the account in a month', run)
    .option('--month <month>', 'the month in UTC, like 2026-11 (the present one)')
    .option('--csv', 'prints a table for spreadsheets, with a column for each label');
  dataVerb(
    root,
    'labels [words...]',
    'lists labels, or sets those of a database, queue or index; an empty value removes one',
    run,
  ).usage('[options] [database|queue|index ID NAME=VALUE ...]');
}

function addLoginLines(root: Command, run: RunVerb): void {
  dataVerb(
    root,
    'login <url>',
    'signs in at the management API with an identity provider: a code is confirmed in any browser',
    run,
  ).option('--provider <name>', 'the identity provider (the only one)');
  dataVerb(root, 'logout', 'ends the session of login', run);
}

function roleLine(run: RunVerb): Command {
  const role = group('role', 'make roles, and give them to people and groups');
  dataVerb(role, 'list', 'lists the built-in roles and those of the account, with their rights', run);
  dataVerb(role, 'create <name>', 'makes a role of the account', run)
    .requiredOption('--rights <rights>', 'its rights, separated by commas: docs/rights.md')
    .option('--description <text>', 'its purpose');
  dataVerb(role, 'delete <name>', 'deletes a role, with its assignments and keys', run).option(
    '--yes',
    'confirms the deletion',
  );
  dataVerb(role, 'given', 'lists the roles that people and groups have in addition to those of members', run);
  dataVerb(role, 'give <role>', 'gives a role', run)
    .requiredOption('--to <subject>', 'the e-mail of a person, or provider:group')
    .option('--for <id>', 'the only database, queue account or index (the whole account)');
  dataVerb(role, 'take <assignment>', 'takes a role away', run);
  return role;
}

function accountLine(run: RunVerb): Command {
  const account = group('account', 'create, list, suspend and limit accounts, and replace their tokens');
  dataVerb(account, 'create', 'creates an account and prints its tokens and keys once', run)
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--email <email>', 'the e-mail address of its person');
  dataVerb(account, 'list', 'lists accounts', run);
  dataVerb(account, 'show [account]', 'prints ids and limits', run).option(
    '--show-secrets',
    'also print tokens and keys',
  );
  dataVerb(account, 'suspend [account]', 'refuses all requests of the account until it is activated', run);
  dataVerb(account, 'activate [account]', 'accepts requests of a suspended account again', run);
  dataVerb(account, 'limits [words...]', 'sets limits of the queue of an account', run).usage(
    '[options] [account] LIMIT=N ...',
  );
  dataVerb(account, 'reset-tokens [account]', 'replaces the tokens of the queue; the old tokens are refused', run);
  return account;
}

/** The options of `millrace branch`. A database or branch is named by its name or id. */
function vectorsLine(run: RunVerb): Command {
  const vectors = group('vectors', 'copy vectors between indexes and lines of JSON');
  const namespace = [
    '--namespace <name>',
    'only this namespace; of an import from lines, the one that gets them',
  ] as const;
  dataVerb(vectors, 'import <source>', 'writes the vectors of another index, or of a file, into an index', run)
    .requiredOption('--to <url>', 'the URL of the index')
    .option('--token <token>', 'its token')
    .option('--source-token <token>', 'the token of the source, if it is the URL of an index')
    .option(...namespace)
    .addHelpText('after', LINES);
  dataVerb(vectors, 'export <url>', 'prints the vectors of an index as lines of JSON', run)
    .option('--token <token>', 'its token')
    .option(...namespace)
    .option('--format <format>', 'vectors, points or records (vectors)');
  return vectors;
}

function branchLine(run: RunVerb): Command {
  const branch = group('branch', 'make, compare, merge and discard branches of databases');
  const keys = ['--keys <pattern>', 'only keys of this pattern'] as const;
  dataVerb(branch, 'create <name>', 'makes a database that begins with the data of another, and prints its token', run)
    .option('--of <database>', 'the origin (the only database)')
    .option('--at <moment>', 'the moment of the data: 2026-05-01T12:00:00Z (now)')
    .option('--live', 'send the messages that its commands publish, instead of holding them')
    .option('--expires <duration>', 'the time until it is deleted: 30m, 12h, 7d (1d)');
  dataVerb(branch, 'list', 'lists the branches of a database, with the bytes that they keep', run).option(
    '--of <database>',
    'the origin (the only database)',
  );
  dataVerb(branch, 'show <branch>', 'prints moment, end, token and size of a branch', run);
  dataVerb(branch, 'diff <branch>', 'lists the keys that a branch has changed', run)
    .addOption(new Option('--against <state>', 'the origin then, or now (then)').choices(['then', 'now']))
    .option(...keys)
    .addOption(wholeOption('--limit <n>', 'at most so many keys (1000)'));
  dataVerb(branch, 'merge <branch>', 'writes changed keys into the origin, in one transaction', run)
    .option(...keys)
    .addOption(new Option('--prefer <side>', 'the side that wins a conflict').choices(['branch', 'origin']))
    .option('--dry-run', 'write no key');
  dataVerb(branch, 'messages <branch>', 'prints the messages that a branch holds', run);
  dataVerb(branch, 'discard <branch>', 'deletes a branch with its data', run).option('--yes', 'confirms the deletion');
  return branch;
}

function addUndoLine(root: Command, run: RunVerb): void {
  dataVerb(root, 'undo', 'undoes the writes of one author in a period, except where others wrote later', run)
    .option('--database <database>', 'the database (the only one)')
    .requiredOption('--by <author>', 'a user, an address, <user>@<address>, or a token of the database')
    .requiredOption('--from <moment>', 'the beginning of the period: 2026-05-01T12:00:00Z')
    .requiredOption('--to <moment>', 'the end of the period')
    .option('--keys <pattern>', 'only keys of this pattern')
    .option('--dry-run', 'write no key');
}

/** The options of `millrace backup`. */
function backupLine(run: RunVerb): Command {
  const backup = group('backup', 'copy an installation, verify the copy, and restore it');
  const at = ['--at <moment>', 'a moment of a continuous backup: 2026-05-01T12:00:00Z (the last one)'] as const;
  dataVerb(backup, 'create', 'copies the installation into a directory or a bucket', run)
    .requiredOption('--to <place>', 'an empty directory, or one of an interrupted attempt; or s3://bucket/prefix')
    .option('--key-to <file>', 'the file that the key is copied to; the backup does not contain it');
  dataVerb(backup, 'list [place]', 'lists the backups of MILLRACE_BACKUP_TO or another place, with their moments', run);
  dataVerb(backup, 'verify <place>', 'verifies a copy; the installation need not run', run).option(...at);
  dataVerb(backup, 'restore', 'restores a copy into an empty installation', run)
    .requiredOption('--from <place>', 'the copy: a directory, or s3://bucket/prefix')
    .option(...at)
    .option('--key-from <file>', 'the copy of the key file, which is copied to MILLRACE_SEAL_KEY_FILE')
    .option('--without-key', 'restore without a key file: sealed secrets cannot be read');
  return backup;
}

function encryptionLine(run: RunVerb): Command {
  const encryption = group('encryption', 'list and change the keys that open the encrypted data directory');
  dataVerb(encryption, 'list', 'prints the ids of the keys that open it', run);
  dataVerb(encryption, 'rotate', 'lets MILLRACE_ENCRYPTION_NEXT_KEY open it too, also while it is served', run);
  dataVerb(encryption, 'retire', 'lets only MILLRACE_ENCRYPTION_KEY open it from now on', run);
  return encryption;
}

/** The options of `millrace cluster`. */
function clusterLine(run: RunVerb): Command {
  const cluster = group('cluster', 'prepare external NATS servers, show processes and shards, and place shards');
  dataVerb(cluster, 'init', 'creates the streams on the NATS servers of MILLRACE_NATS_URL', run);
  dataVerb(cluster, 'verify', 'compares the streams with their settings at creation', run);
  dataVerb(cluster, 'users <dir>', 'writes configuration files with a NATS user and its rights for each role', run);
  dataVerb(cluster, 'adopt-key', 'adopts the seal key of this machine when the former key is lost', run);
  dataVerb(cluster, 'status', 'shows processes, shards, NATS servers and streams, with alarms', run);
  dataVerb(cluster, 'drain <process>', 'moves all shards away from a process, which still answers clients', run)
    .addOption(WAIT())
    .addHelpText('after', PROCESS);
  dataVerb(cluster, 'undrain <process>', 'lets a drained process own shards again', run).addHelpText('after', PROCESS);
  dataVerb(
    cluster,
    'move <shard> <process>',
    'moves a shard to a process, or back to automatic placement with: anywhere',
    run,
  )
    .addOption(WAIT())
    .addHelpText('after', PROCESS);
  dataVerb(
    cluster,
    'upgrade',
    'allows the storage formats of this release; older programs are refused from then on',
    run,
  );
  return cluster;
}

/** A database is named by its id, its name, or its UUID in the management API. */
const PARTITIONS = `
example:
  millrace db partitions orders 4 --yes --wait`;

function dbLine(run: RunVerb): Command {
  const db = group('db', 'create, list, limit, suspend and delete databases');
  dataVerb(db, 'create', 'creates a database and prints its tokens and password once', run)
    .requiredOption('--name <name>', 'its name')
    .addOption(wholeOption('--partitions <n>', 'the number of partitions (1)'))
    .option('--cluster', 'cluster clients of Redis are sent to the owners of its slots')
    .addOption(MAX_COMMAND_BYTES())
    .addOption(MAX_REQUESTS())
    .option('--account <id>', 'the account that owns the database (the first account)');
  dataVerb(db, 'list', 'lists databases with their limits and usage of today', run).option(
    '--show-secrets',
    'also print tokens and passwords',
  );
  dataVerb(db, 'limits <database>', 'sets limits', run).addOption(MAX_COMMAND_BYTES()).addOption(MAX_REQUESTS());
  dataVerb(db, 'partitions <database> [number]', 'changes the number of partitions while the database serves', run)
    .option('--yes', 'confirms that commands on several keys will need keys of one hash slot')
    .option('--wait', 'waits until the change has ended, and shows its progress')
    .option('--cancel', 'cancels the change that is under way')
    .addHelpText('after', PARTITIONS);
  dataVerb(db, 'reset-password <database>', 'replaces the tokens and the password; the old ones are refused', run);
  dataVerb(db, 'suspend <database>', 'refuses all clients until the database is activated; its data stays', run);
  dataVerb(db, 'activate <database>', 'accepts clients of a suspended database again', run);
  dataVerb(db, 'delete <database>', 'deletes a database and its data; this cannot be undone', run).option(
    '--yes',
    'confirms the deletion',
  );
  return db;
}

/** The options of `millrace import`. */
function addImportLine(parent: Command, run: RunVerb): void {
  dataVerb(parent, 'import <source>', 'imports the keys of a Redis server or file, and compares both sides', run)
    .requiredOption('--to <url>', 'the destination, as redis://default:password@host:port')
    .addOption(wholeOption('--database <n>', 'the number of the source database (0)'))
    .option('--replace', 'overwrites existing keys with the value of the source')
    .option('--unverified', 'skips the comparison at the end')
    .option('--only-compare', 'only compares, writes no keys')
    .option('--state <file>', 'a file for the progress, from which the next attempt resumes')
    .addOption(wholeOption('--batch <keys>', 'keys per batch (500)'))
    .addOption(wholeOption('--rate <keys>', 'the highest number of keys per second'))
    .addHelpText('after', ABOUT);
}

/** The options of `millrace journal`. `journal-question.ts` checks their combinations. */
function journalLine(run: RunVerb): Command {
  const journal = group('journal', 'verify, export, follow, replay and compare journals');
  const about = (words: string, summary: string) =>
    dataVerb(journal, words, summary, run)
      .option('--database <database>', 'the database')
      .option('--account <account>', 'the account, for its queue')
      .addHelpText('after', WHOSE);
  about('verify', 'verifies that no entry was changed, lost or inserted')
    .option('--all', 'all journals, with their snapshots and marks')
    .option('--against <file>', 'all journals, against an earlier checkpoint')
    .option('--signed-by <fingerprint>', 'the key that the checkpoint must be signed with');
  about('export', 'prints a journal as lines of JSON, or as commands for redis-cli --pipe')
    .option('--from <moment>', 'the first moment')
    .option('--to <moment>', 'the last moment')
    .option('--format <format>', 'ndjson or resp (ndjson)');
  about('tail', 'prints new entries as lines of JSON, until Ctrl-C');
  about('replay', 'rebuilds the state at a moment, and prints a summary or serves it')
    .option('--at <moment>', 'the moment')
    .option('--serve <port>', 'serves the state on this port until Ctrl-C')
    .option('--host <address>', 'the address of the port (127.0.0.1)');
  about('diff', 'prints the keys that changed between two moments, and the entries that changed them')
    .option('--from <moment>', 'the first moment')
    .option('--to <moment>', 'the last moment')
    .option('--format <format>', 'text or ndjson (text)')
    .option('--values', 'with the values of the keys');
  dataVerb(journal, 'checkpoint', 'writes a signed statement about the journals of all shards', run).option(
    '--to <file>',
    'a new file',
  );
  return journal;
}
