/** Branches, their differences, and undone writes, as the management API shows them. */
import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsOptional, IsString } from 'class-validator';
import type { BranchDatabase } from '../../../domain/control/index.js';
import type { BranchDifference, BranchSize, JsonKey, MergeOutcome, UndoOutcome } from '../../../ports/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { ListOf } from '../../http/shapes.js';
import type { ManagementCall } from '../management-call.js';
import { databaseAnswer } from './database-answer.js';

const CHANGES = ['created', 'changed', 'deleted', 'same'] as const;

export class BranchAnswer {
  @IsString() readonly branch_id!: string;
  @IsString() readonly name!: string;
  @IsString() readonly origin_id!: string;
  /** The moment of its first data. */
  @IsString() readonly at!: string;
  @IsString() readonly expires_at!: string;
  /** Messages that its commands publish are sent. */
  @IsBoolean() readonly live!: boolean;
  @IsString() readonly endpoint!: string;
  @IsInt() readonly port!: number;
  /** As in the answers about databases. */
  @IsOptional() @IsString() readonly password?: string;
  @IsOptional() @IsString() readonly rest_token?: string;
  @IsOptional() @IsString() readonly read_only_rest_token?: string;
  /** Bytes of the origin's snapshot that stay because of the branch, and of the copied later writes. */
  @IsInt() readonly retained_bytes!: number;
  @IsInt() readonly copied_bytes!: number;
}

export function branchAnswer(call: ManagementCall, database: BranchDatabase, size: BranchSize): BranchAnswer {
  const { endpoint, port, password, rest_token, read_only_rest_token } = databaseAnswer(call, database);
  const { branch } = database;
  return {
    branch_id: uuidOf(database.id),
    name: database.name,
    origin_id: uuidOf(branch.origin),
    at: new Date(branch.atMs).toISOString(),
    expires_at: new Date(branch.expiresAtMs).toISOString(),
    live: branch.isLive,
    endpoint,
    port,
    ...(password !== undefined && { password }),
    ...(rest_token !== undefined && { rest_token }),
    ...(read_only_rest_token !== undefined && { read_only_rest_token }),
    retained_bytes: size.referredBytes,
    copied_bytes: size.copiedBytes,
  };
}

/** A key; `key_base64` for one that is not UTF-8. */
class KeyAnswer {
  @IsString() readonly key!: string;
  @IsOptional() @IsString() readonly key_base64?: string;
}

class DifferenceAnswer extends KeyAnswer {
  @IsString() readonly type!: string;
  /** The change in the branch, and in the origin, since the moment of the branch. */
  @IsIn(CHANGES) readonly branch!: string;
  @IsIn(CHANGES) readonly origin!: string;
  /** Both have changed it, to different values. */
  @IsBoolean() readonly conflict!: boolean;
}

export class BranchDiffAnswer {
  @ListOf(DifferenceAnswer) readonly differences!: readonly DifferenceAnswer[];
  /** There are more than the limit. */
  @IsBoolean() readonly more!: boolean;
}

export function differenceAnswer({ key, type, branch, origin, isConflict }: BranchDifference): DifferenceAnswer {
  return { ...keyAnswer(key), type, branch, origin, conflict: isConflict };
}

export class MergeAnswer {
  @IsBoolean() readonly merged!: boolean;
  @IsInt() readonly written!: number;
  @IsInt() readonly removed!: number;
  /** Keys that both have changed, to different values; at most 1,000 are listed. */
  @ListOf(KeyAnswer) readonly conflicts!: readonly KeyAnswer[];
  @IsInt() readonly conflict_count!: number;
}

/** Of the lists in an answer. */
const MOST_LISTED = 1000;

export function mergeAnswer({ isDone, written, removed, conflicts }: MergeOutcome): MergeAnswer {
  const listed = conflicts.slice(0, MOST_LISTED).map(keyAnswer);
  return { merged: isDone, written, removed, conflicts: listed, conflict_count: conflicts.length };
}

export class HeldMessagesAnswer {
  /** Messages that its commands have published and that were not sent. */
  @IsInt() readonly count!: number;
  /** Oldest first, as many as fit into an answer. */
  @IsArray() @IsObject({ each: true }) readonly messages!: readonly object[];
}

class UndoneKeyAnswer extends KeyAnswer {
  @IsIn(['restored', 'reverted', 'removed']) readonly change!: string;
  @IsString() readonly type!: string;
  /** The writes that are undone. */
  @IsInt() readonly writes!: number;
}

class UndoConflictAnswer extends KeyAnswer {
  /** The author of the later write; empty: the server, or not known. */
  @IsString() readonly author!: string;
  @IsString() readonly time!: string;
}

export class UndoAnswer {
  @IsBoolean() readonly undone!: boolean;
  /** At most 1,000 are listed. */
  @ListOf(UndoneKeyAnswer) readonly keys!: readonly UndoneKeyAnswer[];
  @IsInt() readonly key_count!: number;
  /** Keys that stay, because another author has written to them later; at most 1,000 are listed. */
  @ListOf(UndoConflictAnswer) readonly conflicts!: readonly UndoConflictAnswer[];
  @IsInt() readonly conflict_count!: number;
  /** Writes in the period of which the journal does not name an author; they count as another's. */
  @IsInt() readonly unknown_writes!: number;
}

export function undoAnswer({ isDone, keys, conflicts, unknownWrites }: UndoOutcome): UndoAnswer {
  return {
    undone: isDone,
    keys: keys.slice(0, MOST_LISTED).map(({ key, ...rest }) => ({ ...keyAnswer(key), ...rest })),
    key_count: keys.length,
    conflicts: conflicts.slice(0, MOST_LISTED).map(({ key, ...rest }) => ({ ...keyAnswer(key), ...rest })),
    conflict_count: conflicts.length,
    unknown_writes: unknownWrites,
  };
}

function keyAnswer(key: JsonKey): KeyAnswer {
  if (typeof key === 'string') return { key };
  return { key: Buffer.from(key.base64, 'base64').toString('utf8'), key_base64: key.base64 };
}
