/**
 * The keys by which a branch differs from its first state, or from its origin now.
 *
 *  BRC1 the comparison contains every write that was acknowledged before it began
 *  BRC2 an expired key counts as absent in all states
 *
 * Memory is one partition in two states, and a record for each differing key, at most `MAX_KEYS`.
 */
import { compileGlob } from '../domain/kv/index.js';
import { type KeyLook, loadBranch, readBranch, ShardReplay, wordJson } from '../journal/index.js';
import { type ByteString, type DatabaseId, MillraceError, type PartitionName } from '../kernel/index.js';
import type { AuditTask } from '../ports/index.js';
import { kvPartition, shardOf } from '../protocol/index.js';
import type { ReplayPorts } from './database.js';
import { keyedKvFold } from './folds/index.js';
import type { KvKeyedFold } from './keyed-fold.js';

type Task = Extract<AuditTask, { readonly kind: 'branch' }>;

export interface ComparisonPorts extends ReplayPorts {
  readonly kvShards: number;
}

/** About a hundred megabytes with short values. */
const MAX_KEYS = 200_000;

type Change = 'created' | 'changed' | 'deleted' | 'same';

interface Differing {
  readonly key: ByteString;
  readonly before: KeyLook | undefined;
  readonly now: KeyLook | undefined;
}

/** One text for each differing key, in order of partition, then of key. */
export async function* branchComparison(ports: ComparisonPorts, task: Task): AsyncIterable<string> {
  const { origin, originFirst, isAgainstNow } = task;
  const { database: branch, partitions } = task.of;
  const nowMs = ports.clock.nowMs();
  for (let index = 0; index < partitions; index += 1) {
    const isWanted = task.keys === undefined ? () => true : compileGlob(task.keys);
    const compared = { isWanted, withValues: task.withValues, nowMs };
    if (isAgainstNow) {
      const theirs = await stateNow(ports, kvPartition(origin, originFirst + index));
      const ours = await branchNow(ports, branch, index);
      for (const differing of differences(theirs, ours, compared))
        yield lineOf(originFirst + index, differing, undefined);
      continue;
    }
    const before = await firstState(ports, branch, index);
    const differing = differences(before, await branchNow(ports, branch, index), compared);
    if (differing.length === 0) continue;
    const theirs = await stateNow(ports, kvPartition(origin, originFirst + index));
    for (const one of differing) yield lineOf(originFirst + index, one, { look: theirs.look(one.key, nowMs, false) });
  }
}

interface Compared {
  readonly isWanted: (key: ByteString) => boolean;
  readonly withValues: boolean;
  readonly nowMs: number;
}

/** @throws INVALID when there are more than `MAX_KEYS` */
function differences(before: KvKeyedFold, after: KvKeyedFold, { isWanted, withValues, nowMs }: Compared): Differing[] {
  const found: Differing[] = [];
  const look = (key: ByteString) => {
    if (!isWanted(key) || isSameText(before, after, key)) return;
    const old = before.look(key, nowMs, false);
    const now = after.look(key, nowMs, withValues);
    if (old?.digest === now?.digest) return;
    found.push({ key, before: old, now });
    if (found.length <= MAX_KEYS) return;
    throw new MillraceError('INVALID', `more than ${MAX_KEYS} keys differ: give a pattern that selects fewer`);
  };
  for (const key of before.keys()) look(key);
  for (const key of after.keys()) if (before.engine.keyspace.stored(key) === undefined) look(key);
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Most keys are equal strings, for which no digest is needed. */
function isSameText({ engine: { keyspace: before } }: KvKeyedFold, { engine }: KvKeyedFold, key: ByteString): boolean {
  const value = before.stored(key);
  const { keyspace: after } = engine;
  return typeof value === 'string' && value === after.stored(key) && before.expiryOf(key) === after.expiryOf(key);
}

/** @param partition the number of the origin's. @param theirs the key in the origin now; undefined: the comparison is with the origin now */
function lineOf(
  partition: number,
  { key, before, now }: Differing,
  theirs: { readonly look: KeyLook | undefined } | undefined,
): string {
  const origin = theirs === undefined ? 'same' : changeOf(before, theirs.look);
  const isSame = theirs !== undefined && theirs.look?.digest === now?.digest;
  const seen = (theirs === undefined ? before : theirs.look)?.digest ?? '';
  const commands = (now?.value ?? []).map((words) => `[${words.map(wordJson).join(',')}]`).join(',');
  const type = (now ?? before)?.type ?? '';
  const facts = {
    partition,
    type,
    branch: changeOf(before, now),
    origin,
    isSame,
    isConflict: origin !== 'same' && !isSame,
    seen,
  };
  return `{"key":${wordJson(key)},${JSON.stringify(facts).slice(1, -1)},"commands":[${commands}]}`;
}

function changeOf(before: KeyLook | undefined, after: KeyLook | undefined): Change {
  if (before?.digest === after?.digest) return 'same';
  if (before === undefined) return 'created';
  return after === undefined ? 'deleted' : 'changed';
}

/** @throws NOT_FOUND */
async function firstState(ports: ComparisonPorts, branch: DatabaseId, index: number): Promise<KvKeyedFold> {
  const [state] = (await readBranch(ports.objects, branch, index))?.partitions ?? [];
  if (state === undefined) throw new MillraceError('NOT_FOUND', 'the first data of the branch is gone');
  const fold = newFold(ports);
  await loadBranch(ports, state, fold, Number.POSITIVE_INFINITY, async () => {});
  return fold;
}

/** A branch that no request has used has its first state. */
async function branchNow(ports: ComparisonPorts, branch: DatabaseId, index: number): Promise<KvKeyedFold> {
  return (await storedNow(ports, kvPartition(branch, index))) ?? firstState(ports, branch, index);
}

async function stateNow(ports: ComparisonPorts, partition: PartitionName): Promise<KvKeyedFold> {
  return (await storedNow(ports, partition)) ?? newFold(ports);
}

/** Undefined: the partition has no entry. */
async function storedNow(ports: ComparisonPorts, partition: PartitionName): Promise<KvKeyedFold | undefined> {
  const shard = shardOf('kv', partition, ports.kvShards);
  const { last } = await ports.journal.tail(shard);
  const replayed = { shard, partitions: [partition], foldFactory: () => newFold(ports) };
  const replay = await ShardReplay.open(ports, replayed, { kind: 'position', position: last });
  await replay.close();
  return replay.link(partition).number === 0 ? undefined : replay.folds.get(partition);
}

function newFold(ports: ComparisonPorts): KvKeyedFold {
  return keyedKvFold(ports.random, () => ports.clock.nowMs());
}
