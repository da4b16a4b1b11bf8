/** Parses the options of `millrace journal` into a question, or reports invalid combinations. */
import type { ExportRange } from '../journal/index.js';
import { MOMENT_PROBLEM, type Moment, momentOf } from '../protocol/index.js';
import { type ParsedArguments, UsageError } from './parser.js';

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
      /** The required fingerprint of its key. */
      readonly signedBy: string | undefined;
      readonly asJson: boolean;
    }
  | { readonly verb: 'export'; readonly whose: Whose; readonly range: ExportRange; readonly format: 'ndjson' | 'resp' }
  | { readonly verb: 'tail'; readonly whose: Whose }
  | {
      readonly verb: 'replay';
      readonly whose: Whose;
      readonly at: Moment;
      /** Undefined: only a summary. */
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

/** A replay is served only to clients on this machine. */
const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;

/** @param verb one of `lines/journal-line.ts`. @throws UsageError */
export function questionOf(verb: string, asked: ParsedArguments): JournalQuestion {
  const { options, flags } = asked;
  const asJson = flags.has('json');
  if (verb === 'checkpoint') return { verb, file: required('to', options.to), asJson };
  if (verb === 'verify' && (flags.has('all') || options.against !== undefined)) return verifyAll(asked);
  const whose = whoseOf(asked);
  switch (verb) {
    case 'verify':
      if (options['signed-by'] !== undefined) throw new UsageError('--signed-by needs --against');
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

function exportOf(whose: Whose, { options: { format = 'ndjson', from, to }, flags }: ParsedArguments): JournalQuestion {
  if (format !== 'ndjson' && format !== 'resp') throw new UsageError(`--format must be ndjson or resp, not ${format}`);
  if (format === 'resp' && whose.of === 'account') {
    throw new UsageError('a queue cannot be exported as RESP: leave --format out');
  }
  if (format === 'resp' && flags.has('json'))
    throw new UsageError('--json and --format resp exclude each other: give one of them');
  const range = {
    from: from === undefined ? undefined : momentIn('from', from),
    to: to === undefined ? undefined : momentIn('to', to),
  };
  return { verb: 'export', whose, range, format };
}

function diffOf(whose: Whose, { options, flags }: ParsedArguments): JournalQuestion {
  if (whose.of === 'account') throw new UsageError('only databases have keys to compare: give one with --database');
  const { format = flags.has('json') ? 'ndjson' : 'text' } = options;
  if (format !== 'text' && format !== 'ndjson') throw new UsageError(`--format must be text or ndjson, not ${format}`);
  if (format === 'text' && flags.has('json'))
    throw new UsageError('--json and --format text exclude each other: give one of them');
  const from = momentIn('from', required('from', options.from));
  const to = momentIn('to', required('to', options.to));
  if (from.kind === to.kind && amountOf(from) > amountOf(to)) throw new UsageError('--from is later than --to');
  return { verb: 'diff', whose, from, to, format, withValues: flags.has('values') };
}

function verifyAll({ options, flags }: ParsedArguments): JournalQuestion {
  if (options.database !== undefined || options.account !== undefined) {
    throw new UsageError('--all and --against cover the whole installation: leave --database and --account out');
  }
  const { against, 'signed-by': signedBy } = options;
  if (signedBy !== undefined && against === undefined) throw new UsageError('--signed-by needs --against');
  return { verb: 'verify-all', against, signedBy, asJson: flags.has('json') };
}

function serveOf(
  whose: Whose,
  { options: { serve, host } }: ParsedArguments,
): { host: string; port: number } | undefined {
  if (serve === undefined) {
    if (host !== undefined) throw new UsageError('--host needs --serve');
    return undefined;
  }
  if (whose.of === 'account')
    throw new UsageError('--serve is not available for a queue: leave it out to get a summary');
  const port = /^\d{1,5}$/.test(serve) ? Number(serve) : Number.NaN;
  if (!(port <= MAX_PORT)) throw new UsageError(`--serve must be a port, not ${serve}`);
  return { host: host ?? LOOPBACK, port };
}

function whoseOf({ options: { database, account } }: ParsedArguments): Whose {
  if (database !== undefined && account !== undefined)
    throw new UsageError('--database and --account exclude each other: give one of them');
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
