/**
 * `millrace import`: copies the keys of a running Redis, an RDB file or an append-only file into a served database,
 * over RESP. Exit codes: 0 all imported, 1 some keys were not (each is listed) or an error, 2 wrong usage.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import { NodeRandom, NodeTimers } from '../../adapters/node/index.js';
import { MAX_RECORD_BYTES } from '../../domain/kv/index.js';
import { wholeOf } from '../command-line.js';
import { interruptible } from '../interruption.js';
import { FAILED, type Output, type ParsedArguments, UsageError } from '../parser.js';
import { ProgressLine } from '../progress-line.js';
import { isAof } from './aof/aof-file.js';
import { aofParts, isAofDirectory } from './aof/aof-parts.js';
import { AofReplay } from './aof/aof-replay.js';
import { FileBytes } from './file-bytes.js';
import { ImportReport } from './import-report.js';
import { ImportState } from './import-state.js';
import { KeyWriter } from './key-writer.js';
import { PayloadReader } from './payload-reader.js';
import { beginsLog, isRdb } from './rdb/rdb-file.js';
import { RdbSource } from './rdb/rdb-source.js';
import { RedisSource } from './redis-source.js';
import { RespLink, respAddress, withoutPassword } from './resp-link.js';
import type { KeySource, SourceBounds } from './source.js';
import { compareSides, Pace, type TakeOverDeps, takeOver } from './take-over.js';

const DEFAULT_BATCH_KEYS = 500;
/** Replies of one batch are held in memory on both sides. */
const MOST_BATCH_KEYS = 10_000;
/** Bytes of values in one batch; a single value may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024;

type Kind = 'server' | 'rdb' | 'log';

interface Question {
  readonly from: string;
  readonly kind: Kind;
  readonly to: string;
  readonly database: number | undefined;
  readonly statePath: string | undefined;
  readonly bounds: SourceBounds;
  readonly keysPerSecond: number;
  readonly replaces: boolean;
  readonly writes: boolean;
  readonly compares: boolean;
}

/** Common dependencies of all kinds of import. */
type Parts = Omit<TakeOverDeps, 'source'>;

/** @returns the exit code. @throws UsageError, errors of reading and connecting */
export async function importCommand(asked: ParsedArguments, output: Output): Promise<number> {
  const question = questionOf(asked);
  return interruptible((signal) => runImport(question, asked, output, signal));
}

async function runImport(
  question: Question,
  asked: ParsedArguments,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const progress = new ProgressLine(process.stderr, () => performance.now());
  const isJson = asked.flags.has('json');
  const report = new ImportReport({ isJson, progress, nowMs: Date.now, write: (text) => output.write(text) });
  const opened: RespLink[] = [];
  try {
    const destination = await linkTo(question.to, undefined, opened);
    const payloads = new PayloadReader(new NodeRandom(), Date.now);
    const { keysPerSecond } = question;
    const own = { timers: new NodeTimers(), signal, nowMs: Date.now };
    const parts: Parts = { destination, payloads, report, keysPerSecond, ...own };
    if (question.kind === 'log') await carryOut(question, parts);
    else await run(question, { ...parts, source: await sourceOf(question, opened) });
    return report.isClean ? 0 : FAILED;
  } finally {
    progress.clear();
    for (const link of opened) link.close();
  }
}

async function run(question: Question, deps: TakeOverDeps): Promise<void> {
  const { report, source, nowMs } = deps;
  const state = new ImportState(question.statePath, source.identity, nowMs);
  if (question.writes) await takeOver(deps, writerFor(question, deps), state);
  if (!question.compares) return report.end({}, '');
  const digests = await compareSides(deps);
  report.end(
    digests,
    `digest of the source      ${digests.source}\ndigest of the destination ${digests.destination}\n`,
  );
}

async function carryOut(question: Question, parts: Parts): Promise<void> {
  const { destination, report } = parts;
  const { bounds, database, from } = question;
  const pace = new Pace(parts);
  const writer = writerFor(question, parts);
  const replay = new AofReplay({ destination, writer, report, bounds, database, pace: (count) => pace.keep(count) });
  await replay.run(aofParts(from));
  report.end({}, '');
}

function writerFor({ replaces }: Question, { destination, payloads, report, nowMs }: Parts): KeyWriter {
  return new KeyWriter(destination, payloads, report, { replaces, nowMs });
}

function questionOf(asked: ParsedArguments): Question {
  const { words, options, flags } = asked;
  const { to = '', state } = options;
  const [from = ''] = words;
  const batchKeys = wholeOf(asked, 'batch') ?? DEFAULT_BATCH_KEYS;
  if (batchKeys < 1 || batchKeys > MOST_BATCH_KEYS)
    throw new UsageError(`--batch must be from 1 to ${MOST_BATCH_KEYS} keys`);
  if (flags.has('only-compare') && flags.has('unverified')) {
    throw new UsageError('--only-compare and --unverified exclude each other: give one of them');
  }
  respAddress(to);
  const kind = kindOf(from);
  const notOfLogs = [...(state === undefined ? [] : ['state']), ...flags].find((name) => NOT_OF_LOGS.has(name));
  if (kind === 'log' && notOfLogs !== undefined) {
    throw new UsageError(
      `--${notOfLogs} is not available for an append-only log: its commands run once, on an empty database`,
    );
  }
  return {
    from,
    kind,
    to,
    database: wholeOf(asked, 'database') ?? (kind === 'server' ? respAddress(from).database : undefined),
    statePath: state,
    bounds: { batchKeys, batchBytes: BATCH_BYTES, mostValueBytes: MAX_RECORD_BYTES },
    keysPerSecond: wholeOf(asked, 'rate') ?? 0,
    replaces: flags.has('replace'),
    writes: !flags.has('only-compare'),
    compares: !flags.has('unverified'),
  };
}

const NOT_OF_LOGS = new Set(['state', 'replace', 'only-compare']);

function kindOf(from: string): Kind {
  if (from.includes('://')) {
    respAddress(from);
    return 'server';
  }
  if (statSync(from, { throwIfNoEntry: false }) === undefined) {
    throw new UsageError(`${withoutPassword(from)} is neither a file nor a redis:// URL`);
  }
  if (isAofDirectory(from)) return 'log';
  const file = openSync(from, 'r');
  try {
    const input = new FileBytes(file);
    const ahead = input.ahead();
    if (isRdb(ahead)) return beginsLog(input) ? 'log' : 'rdb';
    if (isAof(ahead)) return 'log';
    throw new UsageError(`${from} is neither an RDB file nor an append-only file`);
  } finally {
    closeSync(file);
  }
}

async function linkTo(url: string, database: number | undefined, opened: RespLink[]): Promise<RespLink> {
  const address = respAddress(url);
  const link = await RespLink.open({ ...address, database: database ?? address.database });
  opened.push(link);
  return link;
}

async function sourceOf({ from, kind, database, bounds }: Question, opened: RespLink[]): Promise<KeySource> {
  if (kind === 'rdb') return new RdbSource(from, bounds, database);
  return RedisSource.open(await linkTo(from, database, opened), bounds, database);
}
