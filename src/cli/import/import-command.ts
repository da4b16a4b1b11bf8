/**
 * `millrace import`: the keys of a running Redis or of an RDB file into a database that is served, over the native
 * protocol.
 * Exit codes: 0 all of it is there, 1 something is not (each is listed), or it failed, 2 asked wrongly.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import { NodeRandom, NodeTimers } from '../../adapters/node/index.js';
import { MAX_RECORD_BYTES } from '../../domain/kv/index.js';
import { wholeOf } from '../command-line.js';
import { type Asked, FAILED, type Output, UsageError } from '../parser.js';
import { ProgressLine } from '../progress-line.js';
import { FileBytes } from './file-bytes.js';
import { ImportReport } from './import-report.js';
import { ImportState } from './import-state.js';
import { KeyWriter } from './key-writer.js';
import { PayloadReader } from './payload-reader.js';
import { isRdb } from './rdb/rdb-file.js';
import { RdbSource } from './rdb/rdb-source.js';
import { RedisSource } from './redis-source.js';
import { RespLink, respAddress, withoutPassword } from './resp-link.js';
import type { KeySource, SourceBounds } from './source.js';
import { compareSides, type TakeOverDeps, takeOver } from './take-over.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const DEFAULT_BATCH_KEYS = 500;
/** Replies of one batch are in memory on both sides. */
const MOST_BATCH_KEYS = 10_000;
/** Values of one batch; a single one may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024;

interface Question {
  readonly from: string;
  readonly to: string;
  readonly database: number | undefined;
  readonly statePath: string | undefined;
  readonly batchKeys: number;
  readonly keysPerSecond: number;
  readonly replaces: boolean;
  readonly writes: boolean;
  readonly compares: boolean;
}

/** @returns the exit code. @throws UsageError, and what reading and connecting throw */
export async function importCommand(asked: Asked, output: Output): Promise<number> {
  const question = questionOf(asked);
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of SIGNALS) process.once(signal, end);
  const progress = new ProgressLine(process.stderr, () => performance.now());
  const isJson = asked.flags.has('json');
  const report = new ImportReport({ isJson, progress, nowMs: Date.now, write: (text) => output.write(text) });
  const opened: RespLink[] = [];
  try {
    const destination = await linkTo(question.to, undefined, opened);
    const source = await sourceOf(question, opened);
    const payloads = new PayloadReader(new NodeRandom(), Date.now);
    const timers = new NodeTimers();
    const { keysPerSecond } = question;
    await run(question, {
      source,
      destination,
      payloads,
      report,
      timers,
      keysPerSecond,
      signal: stop.signal,
      nowMs: Date.now,
    });
    return report.isClean ? 0 : FAILED;
  } finally {
    progress.clear();
    for (const signal of SIGNALS) process.off(signal, end);
    for (const link of opened) link.close();
  }
}

async function run(question: Question, deps: TakeOverDeps): Promise<void> {
  const { destination, payloads, report, source, nowMs } = deps;
  const { replaces, statePath } = question;
  const state = new ImportState(statePath, source.identity, nowMs);
  if (question.writes) await takeOver(deps, new KeyWriter(destination, payloads, report, { replaces, nowMs }), state);
  if (!question.compares) return report.end({}, '');
  const digests = await compareSides(deps);
  report.end(
    digests,
    `digest of the source      ${digests.source}\ndigest of the destination ${digests.destination}\n`,
  );
}

function questionOf(asked: Asked): Question {
  const { words, options, flags } = asked;
  const { to = '', state } = options;
  const [from = ''] = words;
  const batchKeys = wholeOf(asked, 'batch') ?? DEFAULT_BATCH_KEYS;
  if (batchKeys < 1 || batchKeys > MOST_BATCH_KEYS) throw new UsageError(`--batch is 1 to ${MOST_BATCH_KEYS} keys`);
  if (flags.has('only-compare') && flags.has('unverified')) {
    throw new UsageError('--only-compare or --unverified, not both');
  }
  respAddress(to);
  return {
    from,
    to,
    database: wholeOf(asked, 'database') ?? (isUrl(from) ? respAddress(from).database : undefined),
    statePath: state,
    batchKeys,
    keysPerSecond: wholeOf(asked, 'rate') ?? 0,
    replaces: flags.has('replace'),
    writes: !flags.has('only-compare'),
    compares: !flags.has('unverified'),
  };
}

function isUrl(from: string): boolean {
  return from.includes('://');
}

async function linkTo(url: string, database: number | undefined, opened: RespLink[]): Promise<RespLink> {
  const address = respAddress(url);
  const link = await RespLink.open({ ...address, database: database ?? address.database });
  opened.push(link);
  return link;
}

async function sourceOf({ from, database, batchKeys }: Question, opened: RespLink[]): Promise<KeySource> {
  const bounds: SourceBounds = { batchKeys, batchBytes: BATCH_BYTES, mostValueBytes: MAX_RECORD_BYTES };
  if (isUrl(from)) return RedisSource.open(await linkTo(from, database, opened), bounds, database);
  if (statSync(from, { throwIfNoEntry: false }) === undefined) {
    throw new UsageError(`${withoutPassword(from)} is neither a file nor a redis:// URL`);
  }
  if (!isRdb(firstBytes(from))) throw new UsageError(`${from} is no RDB file`);
  return new RdbSource(from, bounds, database);
}

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const input = new FileBytes(file);
    return Buffer.from(input.peek() === undefined ? [] : input.run(5));
  } finally {
    closeSync(file);
  }
}
