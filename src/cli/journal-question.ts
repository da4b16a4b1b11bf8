/** The command line of `millrace journal` as what is asked, or what is wrong with it. */
import { parseArgs } from 'node:util';
import type { ExportRange } from '../journal/index.js';
import { describeError } from '../kernel/index.js';
import { MOMENT_PROBLEM, type Moment, momentOf } from '../messages/index.js';
import { UsageError } from './command-line.js';

export const JOURNAL_USAGE = `usage: millrace journal verify <whose> | --all | --against <file> [--signed-by <fingerprint>]
       millrace journal export <whose> [--from <moment>] [--to <moment>] [--format ndjson|resp]
       millrace journal tail   <whose>
       millrace journal replay <whose> --at <moment> [--serve <port> [--host <address>]]
       millrace journal diff   --database <name or id> --from <moment> --to <moment> [--format text|ndjson] [--values]
       millrace journal checkpoint --to <file>
Whose is --database <name, id or UUID>, or --account <id or UUID> for its queue, which has no RESP and is not served.
A moment is a position (120) or an instant (2026-05-01T12:00:00Z).`;

export interface Whose {
  readonly of: 'database' | 'account';
  readonly name: string;
}

export type JournalQuestion =
  | { readonly verb: 'verify'; readonly whose: Whose }
  | {
      readonly verb: 'verify-all';
      /** Path of a checkpoint. */
      readonly against: string | undefined;
      /** Fingerprint that its key must have. */
      readonly signedBy: string | undefined;
    }
  | { readonly verb: 'export'; readonly whose: Whose; readonly range: ExportRange; readonly format: 'ndjson' | 'resp' }
  | { readonly verb: 'tail'; readonly whose: Whose }
  | {
      readonly verb: 'replay';
      readonly whose: Whose;
      readonly at: Moment;
      /** Undefined: a summary is all that is wanted. */
      readonly serve: { readonly host: string; readonly port: number } | undefined;
    }
  | {
      readonly verb: 'diff';
      readonly whose: Whose;
      readonly from: Moment;
      readonly to: Moment;
      readonly format: 'text' | 'ndjson';
      readonly withValues: boolean;
    }
  | { readonly verb: 'checkpoint'; readonly file: string };

export type QuestionOf<Verb extends JournalQuestion['verb']> = Extract<JournalQuestion, { readonly verb: Verb }>;

/** Whoever can reach this machine from outside has no business in its past. */
const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;

type OptionName = keyof ReturnType<typeof parsed>['values'];

/** Options of each verb, beside those that say whose journal is meant. */
const OPTIONS_OF: Readonly<Record<string, readonly OptionName[]>> = {
  verify: ['all', 'against', 'signed-by'],
  export: ['from', 'to', 'format'],
  tail: [],
  replay: ['at', 'serve', 'host'],
  diff: ['from', 'to', 'format', 'values'],
  checkpoint: ['to'],
};

/** @throws UsageError */
export function parseQuestion(argv: readonly string[]): JournalQuestion {
  const { values, positionals } = parsed(argv);
  const [verb = '', ...rest] = positionals;
  const allowed = OPTIONS_OF[verb];
  if (allowed === undefined) throw new UsageError(`not a journal command: ${verb}`);
  if (rest.length > 0) throw new UsageError(`too many words: ${rest.join(' ')}`);
  const given = Object.keys(values) as OptionName[];
  const misplaced = given.find((name) => name !== 'database' && name !== 'account' && !allowed.includes(name));
  if (misplaced !== undefined) throw new UsageError(`--${misplaced} does not belong to ${verb}`);
  if (verb === 'checkpoint') return { verb, file: required('to', values.to) };
  if (verb === 'verify' && (values.all === true || values.against !== undefined)) return verifyAll(values);
  const whose = whoseOf(values);
  switch (verb) {
    case 'verify':
      if (values['signed-by'] !== undefined) throw new UsageError('--signed-by goes with --against');
      return { verb, whose };
    case 'tail':
      return { verb, whose };
    case 'export': {
      const { format = 'ndjson', from, to } = values;
      if (format !== 'ndjson' && format !== 'resp') throw new UsageError(`--format is ndjson or resp, not ${format}`);
      if (format === 'resp' && whose.of === 'account') {
        throw new UsageError('a queue has no RESP form: leave --format out');
      }
      const range = {
        from: from === undefined ? undefined : momentIn('from', from),
        to: to === undefined ? undefined : momentIn('to', to),
      };
      return { verb, whose, range, format };
    }
    case 'replay':
      return { verb, whose, at: momentIn('at', required('at', values.at)), serve: serveOf(whose, values) };
    default: {
      if (whose.of === 'account') throw new UsageError('only databases have keys to compare: name one with --database');
      const { format = 'text', values: withValues = false } = values;
      if (format !== 'text' && format !== 'ndjson') throw new UsageError(`--format is text or ndjson, not ${format}`);
      const from = momentIn('from', required('from', values.from));
      const to = momentIn('to', required('to', values.to));
      if (from.kind === to.kind && amountOf(from) > amountOf(to)) throw new UsageError('--from lies behind --to');
      return { verb: 'diff', whose, from, to, format, withValues };
    }
  }
}

function verifyAll(values: ReturnType<typeof parsed>['values']): JournalQuestion {
  if (values.database !== undefined || values.account !== undefined) {
    throw new UsageError('--all and --against are about the whole installation: leave --database and --account out');
  }
  const { against, 'signed-by': signedBy } = values;
  if (signedBy !== undefined && against === undefined) throw new UsageError('--signed-by goes with --against');
  return { verb: 'verify-all', against, signedBy };
}

function serveOf(
  whose: Whose,
  { serve, host }: ReturnType<typeof parsed>['values'],
): { host: string; port: number } | undefined {
  if (serve === undefined) {
    if (host !== undefined) throw new UsageError('--host goes with --serve');
    return undefined;
  }
  if (whose.of === 'account') throw new UsageError('a queue is not served: leave --serve out for its summary');
  const port = /^\d{1,5}$/.test(serve) ? Number(serve) : Number.NaN;
  if (!(port <= MAX_PORT)) throw new UsageError(`--serve is a port, not ${serve}`);
  return { host: host ?? LOOPBACK, port };
}

function whoseOf({ database, account }: { database?: string; account?: string }): Whose {
  if (database !== undefined && account !== undefined) throw new UsageError('--database or --account, not both');
  const of = account === undefined ? 'database' : 'account';
  return { of, name: required(of, account ?? database) };
}

function required(option: string, text: string | undefined): string {
  if (text === undefined || text === '') throw new UsageError(`--${option} is missing`);
  return text;
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        database: { type: 'string' },
        account: { type: 'string' },
        all: { type: 'boolean' },
        against: { type: 'string' },
        'signed-by': { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        at: { type: 'string' },
        format: { type: 'string' },
        values: { type: 'boolean' },
        serve: { type: 'string' },
        host: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

function momentIn(option: string, text: string): Moment {
  const moment = momentOf(text);
  if (moment === undefined) throw new UsageError(`--${option} ${MOMENT_PROBLEM}, not ${text}`);
  return moment;
}

function amountOf(moment: Moment): number {
  return moment.kind === 'position' ? moment.position : moment.atMs;
}
