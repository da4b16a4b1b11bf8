/**
 * `millrace journal verify|export|tail --database X`: a database's history, proven, taken out or watched; with
 * `--account X` that of an account's queue.
 * Exit codes: 0 fine, 1 damage was found or the journal could not be read, 2 it was asked wrongly.
 */

import { parseArgs } from 'node:util';
import { replayFold } from '../actors/kv-shard/index.js';
import { encodeCommand, RespCommandReader } from '../codec/resp/index.js';
import {
  type AuditPorts,
  auditOfPartition,
  DEFAULT_COMPACTION_LIMITS,
  type ExportRange,
  exportCommands,
  exportLines,
  exportState,
  type Moment,
  type ShardAudit,
  tailLines,
  verifyShard,
} from '../journal/index.js';
import { describeError, isMillraceError, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';

export interface PartitionPlaces {
  readonly partitions: readonly PartitionName[];
  readonly shards: readonly ShardName[];
}

export interface JournalCommandDeps extends AuditPorts {
  /** @throws NOT_FOUND. `shards[i]` holds `partitions[i]`. */
  resolveDatabase(nameOrId: string): Promise<PartitionPlaces>;
  /** Of the account's queue. @throws NOT_FOUND */
  resolveAccount(id: string): Promise<PartitionPlaces>;
  /** Standard output; resolves when there is room for more. */
  write(output: string | Uint8Array): Promise<void> | void;
  /** Standard error: one line. */
  writeError(line: string): void;
  /** Ends `tail`, and interrupts the others. */
  readonly signal: AbortSignal;
}

export const JOURNAL_USAGE = `usage: millrace journal verify <whose>
       millrace journal export <whose> [--from <moment>] [--to <moment>] [--format ndjson|resp]
       millrace journal tail   <whose>
Whose is --database <name or id>, or --account <id> for its queue, which has no RESP. A moment is a position (120) or an instant (2026-05-01T12:00:00Z).`;

/** Asked wrongly: the message is for whoever asked. */
class UsageError extends Error {}

interface Place {
  readonly partition: PartitionName;
  readonly shard: ShardName;
}

interface JournalQuestion {
  readonly verb: 'verify' | 'export' | 'tail';
  readonly of: 'database' | 'account';
  readonly name: string;
  readonly range: ExportRange;
  readonly format: 'ndjson' | 'resp';
}

/** @param argv  what follows `millrace journal`. @returns the exit code; never throws */
export async function journalCommand(argv: readonly string[], deps: JournalCommandDeps): Promise<0 | 1 | 2> {
  try {
    const question = parseQuestion(argv);
    const isOfDatabase = question.of === 'database';
    const { partitions, shards } = await (isOfDatabase
      ? deps.resolveDatabase(question.name)
      : deps.resolveAccount(question.name));
    const places = partitions.map((partition, i): Place => ({ partition, shard: shards[i] as ShardName }));
    refuseAmbiguousPositions(question.range, places);
    switch (question.verb) {
      case 'verify':
        return await verify(deps, places);
      case 'export':
        await (question.format === 'resp' ? exportResp : exportNdjson)(deps, places, question.range);
        return 0;
      case 'tail':
        await tail(deps, places);
        return 0;
    }
  } catch (error) {
    if (error instanceof UsageError) {
      deps.writeError(`${error.message}\n${JOURNAL_USAGE}`);
      return 2;
    }
    deps.writeError(`millrace journal: ${describeError(error)}`);
    return isMillraceError(error, 'INVALID') || isMillraceError(error, 'NOT_FOUND') ? 2 : 1;
  }
}

function parseQuestion(argv: readonly string[]): JournalQuestion {
  const { values, positionals } = parsed(argv);
  const [verb, ...rest] = positionals;
  if (verb !== 'verify' && verb !== 'export' && verb !== 'tail')
    throw new UsageError(`not a journal command: ${verb ?? ''}`);
  if (rest.length > 0) throw new UsageError(`too many words: ${rest.join(' ')}`);
  const { database, account, from, to, format = 'ndjson' } = values;
  if (database !== undefined && account !== undefined) throw new UsageError('--database or --account, not both');
  const of = account === undefined ? 'database' : 'account';
  const name = account ?? database;
  if (name === undefined || name === '') throw new UsageError(`--${of} is missing`);
  if (format !== 'ndjson' && format !== 'resp') throw new UsageError(`--format is ndjson or resp, not ${format}`);
  if (format === 'resp' && of === 'account') throw new UsageError('a queue has no RESP form: leave --format out');
  if (verb !== 'export') {
    const misplaced = (['from', 'to', 'format'] as const).find((name) => values[name] !== undefined);
    if (misplaced !== undefined) throw new UsageError(`--${misplaced} belongs to export`);
  }
  const range = { from: momentOf('from', from), to: momentOf('to', to) };
  return { verb, of, name, range, format };
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        database: { type: 'string' },
        account: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        format: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

/** A day or an instant of ISO 8601; an instant without a zone would mean another one on each machine. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function momentOf(option: string, text: string | undefined): Moment | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,15}$/.test(text)) return { kind: 'position', position: Number(text) };
  const atMs = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) {
    throw new UsageError(`--${option} is a position or an instant like 2026-05-01T12:00:00Z, not ${text}`);
  }
  return { kind: 'time', atMs };
}

function refuseAmbiguousPositions({ from, to }: ExportRange, places: readonly Place[]): void {
  if (byShard(places).size < 2 || (from?.kind !== 'position' && to?.kind !== 'position')) return;
  throw new UsageError('this database lies in several journals, each with positions of its own: name an instant');
}

async function verify(deps: JournalCommandDeps, places: readonly Place[]): Promise<0 | 1> {
  let isFine = true;
  for (const [shard, partitions] of byShard(places)) {
    const audit = await verifyShard(deps, shard, { signal: deps.signal });
    await deps.write(summaryOf(audit));
    for (const partition of partitions) {
      const { sections, lastIndex } = auditOfPartition(audit, partition);
      await deps.write(`${partition}: ${sections} sections, the last is ${lastIndex}\n`);
    }
    for (const { reason, position } of audit.findings) {
      isFine = false;
      await deps.write(`DAMAGED ${shard}${position === undefined ? '' : ` at position ${position}`}: ${reason}\n`);
    }
  }
  await deps.write(isFine ? 'ok\n' : 'damaged\n');
  return isFine ? 0 : 1;
}

const ANCHORS = {
  beginning: 'from its beginning',
  snapshot: 'from a snapshot on',
  trusted: 'its first entry taken at its word',
} as const;

function summaryOf({
  shard,
  entries,
  firstPosition,
  lastPosition,
  head,
  anchoredBy,
  manifestsOnChain,
}: ShardAudit): string {
  const hash = Buffer.from(head.hash).toString('hex');
  return (
    `${shard}: ${entries} entries at positions ${firstPosition}-${lastPosition}, ${ANCHORS[anchoredBy]}, ` +
    `${manifestsOnChain} snapshots on the chain; entry ${head.number} of epoch ${head.epoch} has hash ${hash}\n`
  );
}

async function exportNdjson(deps: JournalCommandDeps, places: readonly Place[], range: ExportRange): Promise<void> {
  for (const [shard, partitions] of byShard(places)) {
    await pour(deps, exportLines(deps, shard, new Set(partitions), range));
  }
}

async function exportResp(deps: JournalCommandDeps, places: readonly Place[], range: ExportRange): Promise<void> {
  const { segmentBytes } = DEFAULT_COMPACTION_LIMITS;
  for (const { shard, partition } of places) {
    // One partition: its history as it was. Several: a FLUSHALL of one must not empty the others.
    const output =
      places.length === 1
        ? exportCommands(deps, shard, partition, range)
        : exportState(deps, shard, partition, range, replayFold, segmentBytes);
    await pour(deps, withoutParameters(output));
  }
}

/** Parameters are of the server that keeps them: one that loads an export must not obey ours. */
async function* withoutParameters(output: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array | string> {
  for await (const piece of output) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (!bytes.includes('\r\nCONFIG\r\n')) {
      yield piece;
      continue;
    }
    let kept = '';
    for (const words of new RespCommandReader(bytes)) if (words[0] !== 'CONFIG') kept += encodeCommand(words);
    yield Buffer.from(kept, 'latin1');
  }
}

async function pour(deps: JournalCommandDeps, output: AsyncIterable<string | Uint8Array>): Promise<void> {
  for await (const piece of output) {
    if (deps.signal.aborted)
      throw new MillraceError('SHUTTING_DOWN', 'interrupted: what was written is not everything');
    await deps.write(piece);
  }
}

async function tail(deps: JournalCommandDeps, places: readonly Place[]): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const watching = [...byShard(places)].map(async ([shard, partitions]) => {
    // Whole lines, because those of several shards come as they like.
    for await (const line of tailLines(deps, shard, new Set(partitions), { signal })) await deps.write(line);
  });
  try {
    await Promise.all(watching);
  } finally {
    // One that failed must not leave the others listening.
    stop.abort();
    await Promise.allSettled(watching);
  }
}

function byShard(places: readonly Place[]): Map<ShardName, PartitionName[]> {
  const partitionsByShard = new Map<ShardName, PartitionName[]>();
  for (const { shard, partition } of places) {
    const known = partitionsByShard.get(shard);
    if (known === undefined) partitionsByShard.set(shard, [partition]);
    else known.push(partition);
  }
  return partitionsByShard;
}
