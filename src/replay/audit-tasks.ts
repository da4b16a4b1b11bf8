/** The tasks of the audit's worker threads, each an iteration that yields JSON texts. */

import { hashSlot, partitionOfSlot } from '../domain/kv/index.js';
import {
  type AuditProgress,
  type AuditReport,
  auditOfPartition,
  exportLines,
  type Finding,
  type InstallationPorts,
  type KeyChange,
  type KeyLook,
  verifyInstallation,
  verifyShard,
  wordJson,
} from '../journal/index.js';
import { type ByteString, getOrCreate, MillraceError, type PartitionName, type ShardName } from '../kernel/index.js';
import type { AuditedPlace, AuditTask } from '../ports/index.js';
import { kvPartition, queuePartition, shardOf } from '../protocol/index.js';
import { branchComparison } from './branch-comparison.js';
import { diffDatabase, type PartitionsByShard, type ReplayPorts, replayDatabase } from './database.js';
import { touchOf } from './keyed-fold.js';
import { undoPlan } from './undo-plan.js';

export interface WalkPorts extends InstallationPorts, ReplayPorts {
  readonly kvShards: number;
  readonly queueShards: number;
}

type TaskOf<Kind extends AuditTask['kind']> = Extract<AuditTask, { readonly kind: Kind }>;

/** @throws as `JournalAudit.run` */
export function walk(ports: WalkPorts, task: AuditTask): AsyncIterable<string> {
  switch (task.kind) {
    case 'timeline':
      return timeline(ports, task);
    case 'state':
      return state(ports, task);
    case 'diff':
      return diff(ports, task);
    case 'branch':
      return branchComparison(ports, task);
    case 'undo':
      return undoPlan(ports, placesOf(ports, task.of), task);
    case 'verify':
      return task.of === undefined ? verifyAll(ports) : verifyPlace(ports, task.of);
  }
}

async function* timeline(ports: WalkPorts, task: TaskOf<'timeline'>): AsyncIterable<string> {
  const { limit, isNewestFirst = false } = task;
  if (isNewestFirst) {
    yield* newestFirst(entriesIn(ports, task), limit);
    return;
  }
  let left = limit;
  for await (const line of entriesIn(ports, task)) {
    yield line;
    left -= 1;
    if (left === 0) return;
  }
}

/** One shard after the other, because each has separate positions. */
async function* entriesIn(
  ports: WalkPorts,
  { of, from, to, key }: TaskOf<'timeline'>,
): AsyncGenerator<string, void, undefined> {
  const places = placesOf(ports, of, key);
  const wants = key === undefined ? undefined : (words: readonly ByteString[]) => touches(words, key);
  if (places.size > 1 && (from?.kind === 'position' || to?.kind === 'position')) throw ambiguous();
  for (const [shard, partitions] of places) {
    let line = '';
    for await (const piece of exportLines(ports, shard, new Set(partitions), { from, to, wants })) {
      line += piece;
      if (!piece.endsWith('\n')) continue;
      yield line.trimEnd();
      line = '';
    }
  }
}

/** More than an answer can hold, so that the answer's own bound decides. */
const MAX_NEWEST_CHARACTERS = 32 * 1024 * 1024;
const TIME = /"time":"([^"]+)"/;

/** The last entries of all shards, the newest first. At most twice as many are held, and a bounded number of bytes. */
async function* newestFirst(lines: AsyncIterable<string>, limit: number): AsyncIterable<string> {
  let held: { readonly time: string; readonly line: string }[] = [];
  let characters = 0;
  const keepLast = () => {
    // The sort is stable: entries of the same time keep the order of their journal.
    held.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    characters = 0;
    const before = held.findLastIndex(({ line }, at) => {
      characters += line.length;
      return at < held.length - 1 && (at < held.length - limit || characters > MAX_NEWEST_CHARACTERS / 2);
    });
    held = held.slice(before + 1);
    characters = held.reduce((sum, { line }) => sum + line.length, 0);
  };
  for await (const line of lines) {
    held.push({ time: TIME.exec(line)?.[1] ?? '', line });
    characters += line.length;
    if (held.length >= 2 * limit || characters > MAX_NEWEST_CHARACTERS) keepLast();
  }
  keepLast();
  for (const { line } of held.reverse()) yield line;
}

async function* state(ports: WalkPorts, task: TaskOf<'state'>): AsyncIterable<string> {
  const { of, at, after, limit, withValues, key: only } = task;
  const places = placesOf(ports, of, only);
  if (places.size > 1 && at.kind === 'position') throw ambiguous();
  const replayed = await replayDatabase(ports, places, at);
  const { atMs } = replayed;
  const folds = replayed.parts.map(({ fold }) => fold);
  const total = folds
    .map((fold) => fold.visibleAt(atMs))
    .reduce((a, b) => ({ keys: a.keys + b.keys, bytes: a.bytes + b.bytes }));
  const shards = replayed.shards.map(({ shard, head, entries }) => ({ shard, position: head.position, entries }));
  const parts = replayed.parts.map(({ partition, index, hash }) => ({ partition, index, hash: hexOf(hash) }));
  yield JSON.stringify({ time: new Date(atMs).toISOString(), ...total, shards, partitions: parts });
  let left = limit;
  const keys = folds.flatMap((fold) => (only === undefined ? [...fold.keys()] : [only]).map((key) => ({ key, fold })));
  keys.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const { key, fold } of keys) {
    if (left === 0) return;
    if (after !== undefined && key <= after) continue;
    const look = fold.look(key, atMs, withValues);
    if (look === undefined) continue;
    left -= 1;
    yield `{"key":${wordJson(key)},${lookJson(look).slice(1)}`;
  }
}

async function* diff(ports: WalkPorts, task: TaskOf<'diff'>): AsyncIterable<string> {
  const { of, from, to, limit, withValues } = task;
  const places = placesOf(ports, of);
  if (places.size > 1 && (from.kind === 'position' || to.kind === 'position')) throw ambiguous();
  let left = limit;
  for await (const [, found] of diffDatabase(ports, places, { from, to }, { withValues })) {
    for (const change of found.changes) {
      if (left === 0) return;
      left -= 1;
      yield changeJson(change);
    }
  }
}

async function* verifyPlace(ports: WalkPorts, of: AuditedPlace): AsyncIterable<string> {
  let isFine = true;
  for (const [shard, partitions] of placesOf(ports, of)) {
    yield* withProgress(async function* (onProgress) {
      const audit = await verifyShard(ports, shard, { onProgress });
      isFine &&= audit.findings.length === 0;
      const { entries, firstPosition, lastPosition, head } = audit;
      const ofPartitions = partitions.map((partition) => ({ partition, ...auditOfPartition(audit, partition) }));
      const hash = hexOf(head.hash);
      yield reportText(
        { shard, entries, firstPosition, lastPosition, number: head.number, hash, ofPartitions },
        audit.findings.map((finding) => withoutNeighbours(finding, partitions)),
      );
    });
  }
  yield JSON.stringify({ done: { isFine } });
}

/** A journal is shared: damage concerns all its tenants, but details about other tenants are hidden. */
function withoutNeighbours(finding: Finding, own: readonly PartitionName[]): Finding {
  const { partition, position } = finding;
  if (partition === undefined || own.includes(partition)) return finding;
  return { reason: 'another part of this journal is damaged', position };
}

async function* verifyAll(ports: WalkPorts): AsyncIterable<string> {
  let isFine = true;
  yield* withProgress(async function* (onProgress) {
    for await (const report of verifyInstallation(ports, { onProgress })) {
      isFine &&= report.findings.length === 0;
      yield reportText(summaryOf(report), report.findings);
    }
  });
  yield JSON.stringify({ done: { isFine } });
}

function summaryOf(report: AuditReport): object {
  switch (report.kind) {
    case 'missing':
      return { shard: report.shard };
    case 'log': {
      const { shard, records, firstPosition, lastPosition } = report.audit;
      return { shard, records, firstPosition, lastPosition };
    }
    case 'shard': {
      const { shard, entries, firstPosition, lastPosition, head } = report.audit;
      const { snapshots } = report.snapshots;
      return { shard, entries, firstPosition, lastPosition, number: head.number, hash: hexOf(head.hash), snapshots };
    }
  }
}

function reportText(summary: object, findings: readonly Finding[]): string {
  return JSON.stringify({ report: { ...summary, findings } });
}

/** Yields progress before the report that it belongs to. */
async function* withProgress(
  work: (onProgress: (progress: AuditProgress) => void) => AsyncIterable<string>,
): AsyncIterable<string> {
  const said: string[] = [];
  let wake: () => void = () => {};
  const items = work((progress) => {
    said.push(JSON.stringify({ progress }));
    wake();
  })[Symbol.asyncIterator]();
  let next = items.next();
  for (;;) {
    const isWoken = new Promise<'woken'>((resolve) => {
      wake = () => resolve('woken');
    });
    if (said.length === 0) await Promise.race([isWoken, next]);
    yield* said.splice(0);
    const item = await Promise.race([next, Promise.resolve('not yet' as const)]);
    if (item === 'not yet') continue;
    if (item.done === true) return;
    yield item.value;
    next = items.next();
  }
}

function touches(words: readonly ByteString[], key: ByteString): boolean {
  const keys = touchOf(words)?.keys ?? [];
  return keys === 'all' || keys.includes(key);
}

/** @param key limits the result to this key's partition */
function placesOf({ kvShards, queueShards }: WalkPorts, of: AuditedPlace, key?: ByteString): PartitionsByShard {
  const partitions =
    of.kind === 'database'
      ? indexesOf(of.partitions, key).map((index) => kvPartition(of.database, (of.firstPartition ?? 0) + index))
      : [queuePartition(of.account)];
  const places = new Map<ShardName, PartitionName[]>();
  for (const partition of partitions) {
    const shard = shardOf(
      of.kind === 'database' ? 'kv' : 'queue',
      partition,
      of.kind === 'database' ? kvShards : queueShards,
    );
    getOrCreate(places, shard, () => []).push(partition);
  }
  return places;
}

function indexesOf(partitions: number, key: ByteString | undefined): readonly number[] {
  return key === undefined ? [...Array(partitions).keys()] : [partitionOfSlot(hashSlot(key), partitions)];
}

function changeJson({ partition, key, change, before, after, hasExpired, entryCount, entries }: KeyChange): string {
  const listed = entries.map(({ atMs, ...entry }) => ({ ...entry, time: new Date(atMs).toISOString() }));
  const rest = JSON.stringify({ partition, change, hasExpired, entryCount, entries: listed });
  const looks = `"before":${lookJson(before)},"after":${lookJson(after)}`;
  return `{"key":${key === undefined ? 'null' : wordJson(key)},${looks},${rest.slice(1)}`;
}

function lookJson(look: KeyLook | undefined): string {
  if (look === undefined) return 'null';
  const { type, digest, value } = look;
  const commands = value?.map((words) => `[${words.map(wordJson).join(',')}]`).join(',');
  return `{"type":"${type}","digest":"${digest}"${commands === undefined ? '' : `,"commands":[${commands}]`}}`;
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

function ambiguous(): MillraceError {
  return new MillraceError(
    'INVALID',
    'this database has several journals, each with its own positions: give an instant instead',
  );
}
