/** The words of `millrace journal`. What they mean together is judged by `journal-question.ts`. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb } from '../parser.js';

const WHOSE = `
whose journal: --database <name, id or UUID>, or --account <id or UUID> for its queue, which has no RESP and is not served
a moment is a position (120) or an instant (2026-05-01T12:00:00Z)`;

export function journalLine(run: RunVerb): Command {
  const journal = group('journal', 'histories: proven, taken out, watched, brought back, compared');
  const about = (words: string, summary: string) =>
    dataVerb(journal, words, summary, run)
      .option('--database <database>', 'whose history')
      .option('--account <account>', 'whose queue')
      .addHelpText('after', WHOSE);
  about('verify', 'proves that nothing was changed, lost or put in')
    .option('--all', 'the whole installation, its snapshots and marks too')
    .option('--against <file>', 'and a checkpoint that was taken earlier')
    .option('--signed-by <fingerprint>', 'the key that the checkpoint must be signed with');
  about('export', 'prints a history, as lines of JSON or as commands for redis-cli --pipe')
    .option('--from <moment>', 'since when')
    .option('--to <moment>', 'until when')
    .option('--format <format>', 'ndjson or resp (ndjson)');
  about('tail', 'prints what is stored from now on, as lines of JSON, until Ctrl-C');
  about('replay', 'sums up, or serves, what was there at a moment')
    .option('--at <moment>', 'when')
    .option('--serve <port>', 'lets clients ask it there, until Ctrl-C')
    .option('--host <address>', 'where it listens (127.0.0.1)');
  about('diff', 'prints which keys changed between two moments, and by which entries')
    .option('--from <moment>', 'since when')
    .option('--to <moment>', 'until when')
    .option('--format <format>', 'text or ndjson (text)')
    .option('--values', 'with what was in them');
  dataVerb(journal, 'checkpoint', 'writes what all shards have come to, signed, into a file', run).option(
    '--to <file>',
    'a file that is not there yet',
  );
  return journal;
}
