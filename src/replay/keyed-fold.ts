/** A partition of a database as the comparison of two moments sees it: keys, what touches them, what they hold. */
import { KvFold } from '../actors/kv-shard/index.js';
import { RespCommandReader } from '../codec/resp/index.js';
import {
  type CommandSpec,
  findCommand,
  isWrite,
  KeyspaceDigest,
  keysOf,
  rebuildingCommands,
  type Value,
} from '../domain/kv/index.js';
import type { KeyedFold, KeyLook, Touch } from '../journal/index.js';
import type { ByteString } from '../kernel/index.js';

export class KvKeyedFold extends KvFold implements KeyedFold {
  *touches(effects: Uint8Array): Iterable<Touch> {
    const bytes = Buffer.from(effects.buffer, effects.byteOffset, effects.byteLength);
    for (const words of new RespCommandReader(bytes)) {
      const touch = touchOf(words);
      if (touch !== undefined) yield touch;
    }
  }

  look(key: ByteString, atMs: number, withValue: boolean): KeyLook | undefined {
    const { keyspace } = this.engine;
    const value = keyspace.stored(key);
    const expireAtMs = keyspace.expiryOf(key);
    if (value === undefined || hasExpired(value, expireAtMs, atMs)) return undefined;
    const digest = new KeyspaceDigest();
    digest.add(key, value, expireAtMs);
    const look = { type: typeof value === 'string' ? 'string' : value.kind, digest: digest.toString(), expireAtMs };
    return withValue ? { ...look, value: [...rebuildingCommands(key, value, expireAtMs)] } : look;
  }

  *keys(): Iterable<ByteString> {
    for (const [key] of this.engine.keyspace.entries()) yield key;
  }

  *expiredBetween(fromMs: number, toMs: number): Iterable<ByteString> {
    for (const [key, value, expireAtMs] of this.engine.keyspace.entries()) {
      if (!hasExpired(value, expireAtMs, fromMs) && hasExpired(value, expireAtMs, toMs)) yield key;
    }
  }

  /** Keys that are visible at that instant, and the bytes of their names and values. */
  visibleAt(atMs: number): { keys: number; bytes: number } {
    let keys = 0;
    let bytes = 0;
    for (const [key, value, expireAtMs] of this.engine.keyspace.entries()) {
      if (hasExpired(value, expireAtMs, atMs)) continue;
      keys += 1;
      bytes += key.length + (typeof value === 'string' ? value.length : value.bytes);
    }
    return { keys, bytes };
  }
}

/** What an effect touches; undefined for one that nobody knows. */
export function touchOf(words: readonly ByteString[]): Touch | undefined {
  const spec = findCommand(words);
  return spec && { command: spec.name, keys: emptiesAll(spec) ? 'all' : keysOf(spec, words) };
}

/** KE1 and KE6 of the keyspace. */
function hasExpired(value: Value, expireAtMs: number | undefined, atMs: number): boolean {
  if (expireAtMs !== undefined && expireAtMs <= atMs) return true;
  return typeof value !== 'string' && value.perishing?.isAllExpired(atMs) === true;
}

/** FLUSHALL and the like: they write every key there is, and name none. */
function emptiesAll(spec: CommandSpec): boolean {
  return isWrite(spec) && spec.keys.kind === 'none' && spec.family !== 'function';
}
