/** The words of `millrace import`. */
import type { Command } from 'commander';
import { dataVerb, type RunVerb, wholeOption } from '../parser.js';

const ABOUT = `
source: redis://[user:password@]host:port[/database] of a running Redis (rediss:// over TLS), an RDB file, or an
append-only file or directory, which needs an empty database
what is there already stays, unless --replace is given; the same command again goes on where it was interrupted`;

export function addImportLine(parent: Command, run: RunVerb): void {
  dataVerb(parent, 'import <source>', 'takes over what is in a Redis or in a file of one, and compares both sides', run)
    .requiredOption('--to <url>', 'the database, as redis://default:password@host:port')
    .addOption(wholeOption('--database <n>', 'which database of the source (0)'))
    .option('--replace', 'keys that are there already get the value of the source')
    .option('--unverified', 'both sides are not compared at the end')
    .option('--only-compare', 'nothing is written')
    .option('--state <file>', 'keeps how far it is, for the next attempt')
    .addOption(wholeOption('--batch <keys>', 'so many keys at a time (500)'))
    .addOption(wholeOption('--rate <keys>', 'at most so many keys a second'))
    .addHelpText('after', ABOUT);
}
