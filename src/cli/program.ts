/** The command line. `serve` is the process itself; everything else talks to one, or to its NATS. */
import './early-threads.js';
import 'reflect-metadata';
import { VERSION } from '../adapters/node/index.js';
import { describeError } from '../kernel/index.js';
import { runAccountCommand, runDbCommand, runJournalCommand } from './admin-commands.js';
import { backupCommand } from './backup-command.js';
import { clusterCommand } from './cluster-command.js';
import { configCommand } from './config-command.js';
import { serveCommand } from './serve-command.js';
import { toolsCommand } from './tools-command.js';

const USAGE = `usage: millrace <command>
  serve                       starts this process; settings come from MILLRACE_* variables (docs/settings.md)
  config                      prints the effective settings, secrets masked
  cluster init|verify         creates, or compares, the streams on the NATS of MILLRACE_NATS_URL
  cluster users DIR           makes a user of the nats-servers for each role, and the configuration of their rights
  cluster status              shows processes, shards, NATS servers and streams, and what is wrong with them
  cluster drain|undrain|move  says which process shall own nothing, or a shard, and waits until it is so
  cluster adopt-key           takes this machine's seal key as the installation's, when the former is lost
  db create|list|limits|reset-password|suspend|activate|delete
  account create|list|show|suspend|activate|limits|reset-tokens
  journal verify|export|tail|replay|diff --database <name or id> | --account <id>
  journal verify --all [--against FILE], journal checkpoint --to FILE
  backup create|verify|restore  copies a whole installation, proves the copy, fills an empty one from it
  tools                       finds or fetches the nats-server to embed, and prints its path
  version
exit codes: 0 done, 1 refused, failed or damaged, 2 asked wrongly (docs/operations/command-line.md)`;

/** docs/operations/command-line.md has all codes. */
const FAILED = 1;

const [command, ...rest] = process.argv.slice(2);
// A process that serves shows the whole stack, which is wanted there.
if (command !== 'serve') {
  process.on('uncaughtException', (error) => {
    failed(error);
    process.exit(FAILED);
  });
}
const code = await run().catch((error: unknown) => {
  failed(error);
  return FAILED;
});
// What a command left open must not keep it from ending; what it has written goes out first.
process.exitCode = code;
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));

/** One line, whatever went wrong. */
function failed(error: unknown): void {
  process.stderr.write(`millrace: ${describeError(error).replaceAll(/\s*\n\s*/g, ' ')}\n`);
}

function write(text: string): void {
  process.stdout.write(text);
}

async function run(): Promise<number> {
  switch (command) {
    case 'serve':
      return serveCommand(process.env, write);
    case 'config':
      configCommand(process.env, write);
      return 0;
    case 'cluster':
      return clusterCommand(rest, process.env, write);
    case 'db':
      return runDbCommand(rest, process.env);
    case 'account':
      return runAccountCommand(rest, process.env);
    case 'journal':
      return runJournalCommand(rest, process.env);
    case 'backup':
      return backupCommand(rest, process.env, { write, writeError: (text) => void process.stderr.write(text) });
    case 'tools':
      return toolsCommand(process.env, write);
    case 'version':
      write(`${VERSION}\n`);
      return 0;
    case undefined:
    case 'help':
    case '--help':
      write(`${USAGE}\n`);
      return command === undefined ? 2 : 0;
    default:
      process.stderr.write(`millrace: there is no command "${command}"\n${USAGE}\n`);
      return 2;
  }
}
