/** What the words of `millrace journal` mean together, or what is wrong with them. */
import type { ExportRange } from '../journal/index.js';
import { MOMENT_PROBLEM, type Moment, momentOf } from '../messages/index.js';
import { type Asked, UsageError } from './parser.js';

export interface Whose {
  readonly of: 'database' | 'account';
  readonly name: string;
}

export type JournalQuestion =
  | { readonly verb: 'verify'; readonly whose: Whose; readonly asJson: boolean }
  | {
      readonly verb: 'verify-all';
      /** Path of a checkpoint. */
      readonly against: string | undefined;
      /** Fingerprint that its key must have. */
      readonly signedBy: string | undefined;
      readonly asJson: boolean;
    }
  | { readonly verb: 'export'; readonly whose: Whose; readonly range: ExportRange; readonly format: 'ndjson' | 'resp' }
  | { readonly verb: 'tail'; readonly whose: Whose }
  | {
      readonly verb: 'replay';
      readonly whose: Whose;
      readonly at: Moment;
      /** Undefined: a summary is all that is wanted. */
      readonly serve: { readonly host: string; readonly port: number } | undefined;
      readonly asJson: boolean;
    }
  | {
      readonly verb: 'diff';
      readonly whose: Whose;
      readonly from: Moment;
      readonly to: Moment;
      readonly format: 'text' | 'ndjson';
      readonly withValues: boolean;
    }
  | { readonly verb: 'checkpoint'; readonly file: string; readonly asJson: boolean };

export type QuestionOf<Verb extends JournalQuestion['verb']> = Extract<JournalQuestion, { readonly verb: Verb }>;

/** Whoever can reach this machine from outside has no business in its past. */
const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;

/** @param verb one of `lines/journal-line.ts`. @throws UsageError */
export function questionOf(verb: string, asked: Asked): JournalQuestion {
  const { options, flags } = asked;
  const asJson = flags.has('json');
  if (verb === 'checkpoint') return { verb, file: required('to', options.to), asJson };
  if (verb === 'verify' && (flags.has('all') || options.against !== undefined)) return verifyAll(asked);
  const whose = whoseOf(asked);
  switch (verb) {
    case 'verify':
      if (options['signed-by'] !== undefined) throw new UsageError('--signed-by goes with --against');
      return { verb, whose, asJson };
    case 'tail':
      return { verb, whose };
    case 'export':
      return exportOf(whose, asked);
    case 'replay':
      return { verb, whose, at: momentIn('at', required('at', options.at)), serve: serveOf(whose, asked), asJson };
    default:
      return diffOf(whose, asked);
  }
}

function exportOf(whose: Whose, { options: { format = 'ndjson', from, to }, flags }: Asked): JournalQuestion {
  if (format !== 'ndjson' && format !== 'resp') throw new UsageError(`--format is ndjson or resp, not ${format}`);
  if (format === 'resp' && whose.of === 'account') {
    throw new UsageError('a queue has no RESP form: leave --format out');
  }
  if (format === 'resp' && flags.has('json')) throw new UsageError('--json or --format resp, not both');
  const range = {
    from: from === undefined ? undefined : momentIn('from', from),
    to: to === undefined ? undefined : momentIn('to', to),
  };
  return { verb: 'export', whose, range, format };
}

function diffOf(whose: Whose, { options, flags }: Asked): JournalQuestion {
  if (whose.of === 'account') throw new UsageError('only databases have keys to compare: name one with --database');
  const { format = flags.has('json') ? 'ndjson' : 'text' } = options;
  if (format !== 'text' && format !== 'ndjson') throw new UsageError(`--format is text or ndjson, not ${format}`);
  if (format === 'text' && flags.has('json')) throw new UsageError('--json or --format text, not both');
  const from = momentIn('from', required('from', options.from));
  const to = momentIn('to', required('to', options.to));
  if (from.kind === to.kind && amountOf(from) > amountOf(to)) throw new UsageError('--from lies behind --to');
  return { verb: 'diff', whose, from, to, format, withValues: flags.has('values') };
}

function verifyAll({ options, flags }: Asked): JournalQuestion {
  if (options.database !== undefined || options.account !== undefined) {
    throw new UsageError('--all and --against are about the whole installation: leave --database and --account out');
  }
  const { against, 'signed-by': signedBy } = options;
  if (signedBy !== undefined && against === undefined) throw new UsageError('--signed-by goes with --against');
  return { verb: 'verify-all', against, signedBy, asJson: flags.has('json') };
}

function serveOf(whose: Whose, { options: { serve, host } }: Asked): { host: string; port: number } | undefined {
  if (serve === undefined) {
    if (host !== undefined) throw new UsageError('--host goes with --serve');
    return undefined;
  }
  if (whose.of === 'account') throw new UsageError('a queue is not served: leave --serve out for its summary');
  const port = /^\d{1,5}$/.test(serve) ? Number(serve) : Number.NaN;
  if (!(port <= MAX_PORT)) throw new UsageError(`--serve is a port, not ${serve}`);
  return { host: host ?? LOOPBACK, port };
}

function whoseOf({ options: { database, account } }: Asked): Whose {
  if (database !== undefined && account !== undefined) throw new UsageError('--database or --account, not both');
  const of = account === undefined ? 'database' : 'account';
  return { of, name: required(of, account ?? database) };
}

function required(option: string, text: string | undefined): string {
  if (text === undefined || text === '') throw new UsageError(`--${option} is missing`);
  return text;
}

function momentIn(option: string, text: string): Moment {
  const moment = momentOf(text);
  if (moment === undefined) throw new UsageError(`--${option} ${MOMENT_PROBLEM}, not ${text}`);
  return moment;
}

function amountOf(moment: Moment): number {
  return moment.kind === 'position' ? moment.position : moment.atMs;
}
