/**
 * The record of a change, as deliveries and feeds have it: JSON of one key, its event and the commands of the change in
 * absolute form. Commands and values above a bound are replaced by their sizes.
 */
import type { Trigger } from '../../domain/control/index.js';
import { bytesOfValue, jsonOfValue, type KeyEffect, rebuildingCommands, type Value } from '../../domain/kv/index.js';
import { type ByteString, type ShardName, shownBytes } from '../../kernel/index.js';
import { uuidOf } from '../../protocol/index.js';

/** Bytes of a record's commands: a message of all plans has room for them, in base64 as well. */
const MAX_RECORD_COMMANDS_BYTES = 64 * 1024;
/** Bytes of a value before or after the change. */
const MAX_RECORD_VALUE_BYTES = 16 * 1024;

/** A value with the expiry of its key. */
export interface ValueLook {
  readonly value: Value;
  readonly expireAtMs: number | undefined;
}

export interface ChangedKey {
  readonly shard: ShardName;
  /** The last position of the entry. */
  readonly position: number;
  /** The number of the change in the entry, from 0; of a key of the snapshot, its number in the order of keys. */
  readonly index: number;
  readonly atMs: number;
  /** Undefined: the key as it was in the snapshot. */
  readonly effect: KeyEffect | undefined;
  readonly key: ByteString | undefined;
  /** Undefined: the key has no value, or values are not followed. */
  readonly before: ValueLook | undefined;
  readonly after: ValueLook | undefined;
}

/** Equal for every reading of the journal. */
export function changeId({ shard, position, index, effect }: ChangedKey): string {
  return `${shard}-${position}-${effect === undefined ? 'key-' : ''}${index}`;
}

export function changeRecord(trigger: Trigger, change: ChangedKey): string {
  const { key, effect, position, atMs, before, after } = change;
  const commands = effect === undefined ? snapshotCommands(change) : [effect.command];
  const looks = trigger.values.map((which) => [which, lookJson(which === 'before' ? before : after)] as const);
  return JSON.stringify({
    trigger: trigger.id,
    id: changeId(change),
    database: uuidOf(trigger.database),
    key: key === undefined ? null : shownBytes(key),
    event: effect?.event ?? 'snapshot',
    operation: effect?.command[0] ?? 'SNAPSHOT',
    ...commandsJson(commands),
    entry: position,
    time: new Date(atMs).toISOString(),
    ...Object.fromEntries(looks),
  });
}

function* snapshotCommands({ key, after }: ChangedKey): Iterable<readonly ByteString[]> {
  if (key !== undefined && after !== undefined) yield* rebuildingCommands(key, after.value, after.expireAtMs);
}

function commandsJson(commands: Iterable<readonly ByteString[]>): object {
  const shown: unknown[] = [];
  let bytes = 0;
  for (const words of commands) {
    for (const word of words) bytes += word.length;
    if (bytes <= MAX_RECORD_COMMANDS_BYTES) shown.push(words.map(shownBytes));
  }
  return bytes <= MAX_RECORD_COMMANDS_BYTES ? { commands: shown } : { commandBytes: bytes };
}

function lookJson(look: ValueLook | undefined): object | null {
  if (look === undefined) return null;
  const { value, expireAtMs } = look;
  const type = typeof value === 'string' ? 'string' : value.kind;
  const bytes = bytesOfValue(value);
  const shown = bytes <= MAX_RECORD_VALUE_BYTES ? jsonOfValue(value) : undefined;
  return {
    type,
    bytes,
    ...(expireAtMs !== undefined && { expireAt: expireAtMs }),
    ...(shown !== undefined && { value: shown }),
  };
}
