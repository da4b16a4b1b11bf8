/** A partition of a database for comparing two moments: its keys, the effects that touch them, and their values. */
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
import { type ByteString, bufferOver } from '../kernel/index.js';

export class KvKeyedFold extends KvFold implements KeyedFold {
  *touches(effects: Uint8Array): Iterable<Touch> {
    const bytes = bufferOver(effects);
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

  /** The keys visible at that time, and the bytes of their names and values. */
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

/** The keys an effect touches; undefined for an unknown command. */
export function touchOf(words: readonly ByteString[]): Touch | undefined {
  const spec = findCommand(words);
  return spec && { command: spec.name, keys: emptiesAll(spec) ? 'all' : keysOf(spec, words) };
}

/**
 * KE1 (an expired key is invisible) and KE6 (a collection in which every part has expired counts as an expired key).
 */
function hasExpired(value: Value, expireAtMs: number | undefined, atMs: number): boolean {
  if (expireAtMs !== undefined && expireAtMs <= atMs) return true;
  return typeof value !== 'string' && value.fieldExpiry?.isAllExpired(atMs) === true;
}

/** FLUSHALL and similar commands, which write all keys without naming any. */
function emptiesAll(spec: CommandSpec): boolean {
  return isWrite(spec) && spec.keys.kind === 'none' && spec.family !== 'function';
}
