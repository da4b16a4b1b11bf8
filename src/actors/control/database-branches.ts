/**
 * Branches of databases: their first data, their differences, merging changes into the origin; and undoing the
 * writes of one author, which replaces keys in the same way.
 *
 *  DBR1 keys are replaced only while they have the values that the decision rests on; all keys of a partition in one
 *       entry, or none. A repetition after an unknown outcome finds them replaced, and changes no key
 */
import { decodeOutboxRecord } from '../../codec/queue/index.js';
import { ErrorReply, HELD_MESSAGES, type KeyReplacement, replacementWords } from '../../domain/kv/index.js';
import {
  type BranchRequest,
  branchObject,
  positionBefore,
  type ReferredState,
  readBranch,
  referInPlace,
  removeReferences,
} from '../../journal/index.js';
import {
  type ByteString,
  bufferOfBytes,
  bytesOfText,
  type DatabaseId,
  MillraceError,
  type PartitionName,
  shownBytes,
} from '../../kernel/index.js';
import type {
  BranchDifference,
  Branches,
  BranchOrigin,
  BranchSelection,
  BranchSize,
  Clock,
  ComparedBranch,
  Journal,
  JournalAudit,
  JsonKey,
  KvGateway,
  Log,
  MergeOrder,
  MergeOutcome,
  ObjectStore,
  UndoConflict,
  UndoneKey,
  UndoOrder,
  UndoOutcome,
} from '../../ports/index.js';
import { kvPartition, kvPartitions, shardOf } from '../../protocol/index.js';

export interface DatabaseBranchesPorts {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly objects: ObjectStore;
  readonly log: Log;
  readonly gateway: KvGateway;
  readonly audit: JournalAudit;
  /** Copies entries, in a separate process. @throws MillraceError */
  refer(request: BranchRequest): Promise<ReferredState>;
  /** The user of a token of this database; undefined: it is no token. */
  userOfToken(database: DatabaseId, token: string): string | undefined;
}

export interface DatabaseBranchesOptions {
  readonly kvShards: number;
  readonly maxPartitionBytes: number;
}

/** Another write may change a key while a merge or an undo is decided. */
const TRIES = 3;
/** One replacement is one entry, which its owner holds in memory several times. */
const MAX_KEYS = 200_000;
const MAX_BYTES = 64 * 1024 * 1024;

interface ComparedKey extends BranchDifference {
  readonly partition: number;
  readonly isSame: boolean;
  readonly seen: string;
  readonly commands: readonly (readonly JsonKey[])[];
}

type UndoLine =
  | { readonly unknownEffects: number }
  | { readonly key: JsonKey; readonly partition: number; readonly conflict: Omit<UndoConflict, 'key'> }
  | (UndoneKey & Pick<ComparedKey, 'partition' | 'seen' | 'commands'>);

/** Keys to be replaced, by partition, and their number. */
class Replaced {
  readonly byPartition = new Map<number, KeyReplacement[]>();
  written = 0;
  removed = 0;
  #bytes = 0;

  /** @throws INVALID when one entry cannot hold them */
  add({ key, partition, seen, commands }: Pick<ComparedKey, 'key' | 'partition' | 'seen' | 'commands'>): void {
    const words = commands.map((command) => command.map(bytesOfShown));
    const bytes = words.flat().reduce((sum, word) => sum + word.length, 0);
    this.#bytes += bytes;
    if (words.length > 0) this.written += 1;
    else this.removed += 1;
    if (this.written + this.removed > MAX_KEYS || this.#bytes > MAX_BYTES) {
      const message = `more than ${MAX_KEYS} keys or ${MAX_BYTES} bytes would be written: give a pattern that selects fewer`;
      throw new MillraceError('INVALID', message);
    }
    const replacement = { key: bytesOfShown(key), seen, commands: words };
    const known = this.byPartition.get(partition);
    if (known === undefined) this.byPartition.set(partition, [replacement]);
    else known.push(replacement);
  }
}

export class DatabaseBranches implements Branches {
  constructor(
    private readonly ports: DatabaseBranchesPorts,
    private readonly options: DatabaseBranchesOptions,
  ) {}

  async refer(branch: DatabaseId, origin: BranchOrigin, atMs: number | undefined): Promise<number> {
    const { kvShards, maxPartitionBytes } = this.options;
    if (atMs !== undefined) await this.#refuseBefore(origin, atMs);
    const names = kvPartitions(origin.id, origin);
    const shards = names.map((partition) => shardOf('kv', partition, kvShards));
    try {
      const request = { branch, partitions: names, shards, atMs, maxPartitionBytes };
      const referred = (await referInPlace(this.ports, request)) ?? (await this.ports.refer(request));
      return referred.atMs;
    } catch (error) {
      await this.forget(branch);
      throw error;
    }
  }

  /** @throws INVALID for a moment at which another layout had the data, or is not known not to have had it */
  async #refuseBefore({ former }: BranchOrigin, atMs: number): Promise<void> {
    for (const { shard, position } of former?.ends ?? []) {
      if ((await positionBefore(this.ports.journal, shard, atMs + 1)) >= position) continue;
      const message = `the number of partitions was changed after ${new Date(atMs).toISOString()}: give a later moment`;
      throw new MillraceError('INVALID', message);
    }
  }

  forget(branch: DatabaseId): Promise<void> {
    return removeReferences(this.ports.objects, branch);
  }

  async size(branch: DatabaseId, partitions: number): Promise<BranchSize> {
    let referredBytes = 0;
    let copiedBytes = 0;
    for (let index = 0; index < partitions; index += 1) {
      const manifest = await readBranch(this.ports.objects, branch, index);
      const tail = branchObject(branch, index, 'tail');
      for (const { object, bytes } of manifest?.partitions[0]?.segments ?? []) {
        if (object === tail) copiedBytes += bytes;
        else referredBytes += bytes;
      }
    }
    return { referredBytes, copiedBytes };
  }

  async *differences(
    branch: ComparedBranch,
    { isAgainstNow, ...selection }: BranchSelection & { readonly isAgainstNow: boolean },
  ): AsyncIterable<BranchDifference> {
    for await (const { key, type, branch: own, origin, isConflict } of this.#compared(
      branch,
      selection,
      isAgainstNow,
      false,
    )) {
      yield { key, type, branch: own, origin, isConflict };
    }
  }

  async merge(branch: ComparedBranch, order: MergeOrder): Promise<MergeOutcome> {
    for (let tries = 1; ; tries += 1) {
      const conflicts: JsonKey[] = [];
      const replaced = new Replaced();
      for await (const one of this.#compared(branch, order, false, true)) {
        if (one.isConflict) conflicts.push(one.key);
        const isTaken = !one.isSame && (!one.isConflict || order.prefer === 'branch');
        if (isTaken) replaced.add(one);
      }
      const { written, removed } = replaced;
      const isRefused = conflicts.length > 0 && order.prefer === undefined;
      if (isRefused || order.isDryRun) return { isDone: false, written, removed, conflicts };
      const changed = await this.#replace(branch.origin, replaced, order.by);
      if (changed.length === 0) return { isDone: true, written, removed, conflicts };
      if (tries === TRIES) return { isDone: false, written: 0, removed: 0, conflicts: changed };
    }
  }

  async undo(order: UndoOrder): Promise<UndoOutcome> {
    for (let tries = 1; ; tries += 1) {
      const conflicts: UndoConflict[] = [];
      const keys: UndoneKey[] = [];
      const replaced = new Replaced();
      let unknownWrites = 0;
      for await (const line of this.#undoLines(order)) {
        if ('unknownEffects' in line) unknownWrites = line.unknownEffects;
        else if ('conflict' in line) conflicts.push({ key: line.key, ...line.conflict });
        else {
          const { key, change, type, writes } = line;
          keys.push({ key, change, type, writes });
          replaced.add(line);
        }
      }
      const found = { keys, conflicts, unknownWrites };
      if (order.isDryRun) return { isDone: false, ...found };
      const changed = await this.#replace(order.database, replaced, order.by);
      if (changed.length === 0) return { isDone: true, ...found };
      if (tries === TRIES) {
        throw new MillraceError('CONFLICT', 'the keys change too often to be undone now: repeat the undo');
      }
    }
  }

  async held(branch: DatabaseId, partitions: number) {
    const messages: object[] = [];
    let count = 0;
    for (let index = 0; index < partitions; index += 1) {
      const [waiting, ...records] = await this.#ask(branch, index, [HELD_MESSAGES], undefined);
      count += Number(waiting);
      for (const record of records) messages.push(decodeOutboxRecord(bufferOfBytes(record as ByteString)).call);
    }
    return { count, messages };
  }

  async *#compared(
    { branch, partitions, ...origin }: ComparedBranch,
    { keys, signal }: BranchSelection,
    isAgainstNow: boolean,
    withValues: boolean,
  ): AsyncIterable<ComparedKey> {
    const of = { kind: 'database', database: branch, partitions } as const;
    const task = { kind: 'branch', of, ...origin, isAgainstNow, keys, withValues } as const;
    for await (const line of this.ports.audit.run(task, signal)) yield JSON.parse(line) as ComparedKey;
  }

  async *#undoLines({
    database,
    partitions,
    firstPartition,
    of: author,
    fromMs,
    toMs,
    keys,
    signal,
  }: UndoOrder): AsyncIterable<UndoLine> {
    const by = this.ports.userOfToken(database, author) ?? author;
    const of = { kind: 'database', database, partitions, firstPartition } as const;
    const task = { kind: 'undo', of, by, fromMs, toMs, keys } as const;
    for await (const line of this.ports.audit.run(task, signal)) yield JSON.parse(line) as UndoLine;
  }

  /** @returns the keys that have changed since then; those partitions are as before (DBR1) */
  async #replace(database: DatabaseId, { byPartition }: Replaced, by: string): Promise<JsonKey[]> {
    const changed: JsonKey[] = [];
    for (const [index, replacements] of byPartition) {
      const keys = await this.#ask(database, index, replacementWords(replacements), by);
      for (const key of keys) changed.push(shownBytes(key as ByteString));
    }
    return changed;
  }

  async #ask(
    database: DatabaseId,
    index: number,
    words: readonly ByteString[],
    by: string | undefined,
  ): Promise<readonly unknown[]> {
    const partition: PartitionName = kvPartition(database, index);
    const bytes = words.reduce((sum, word) => sum + word.length, 0);
    const request = { database, partition, mode: 'single', commands: [words], bytes, by } as const;
    const { replies } = await this.ports.gateway.execute(request);
    const [reply] = replies;
    if (Array.isArray(reply)) return reply;
    const reason = reply instanceof ErrorReply ? reply.text : JSON.stringify(reply);
    throw new MillraceError('CONFLICT', `the database refused to replace its keys: ${reason}`);
  }
}

function bytesOfShown(shown: JsonKey): ByteString {
  return typeof shown === 'string' ? bytesOfText(shown) : Buffer.from(shown.base64, 'base64').toString('latin1');
}
