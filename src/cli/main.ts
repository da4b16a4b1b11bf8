#!/usr/bin/env node
/** The command line. `serve` is the process itself; everything else talks to one, or to its NATS. */
import 'reflect-metadata';
import { VERSION } from '../composition/index.js';
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
  db create|list|limits|reset-password|suspend|activate|delete
  account create|list|show|suspend|activate|limits|reset-tokens
  journal verify|export|tail|replay|diff --database <name or id> | --account <id>
  journal verify --all [--against FILE], journal checkpoint --to FILE
  backup create|verify|restore  copies a whole installation, proves the copy, fills an empty one from it
  tools                       finds or fetches the nats-server to embed, and prints its path
  version`;

const [command, ...rest] = process.argv.slice(2);
process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`millrace: ${describeError(error)}\n`);
  return 1;
});

async function run(): Promise<number> {
  const write = (text: string) => {
    process.stdout.write(text);
  };
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
