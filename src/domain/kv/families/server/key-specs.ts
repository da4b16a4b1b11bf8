/** The positions and uses of a command's keys, in the form of COMMAND INFO and GETKEYSANDFLAGS. */

import { type AccessedKey, isWrite, type KeyAccess, type KeySearch, type KeySpec } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { DEFAULT_KEY_USE, keyUseOf } from '../../key-use.js';
import { MapReply, type Reply, SetReply, SimpleString } from '../../reply.js';

/** COMMAND GETKEYSANDFLAGS: `RO`, `access` … */
export function useOf(spec: CommandSpec, key: AccessedKey): Reply {
  return flags(keyUseOf(spec, key));
}

/** COMMAND INFO: one spec for each part of the row's keys. */
export function keySpecsOf(spec: CommandSpec): Reply {
  return new SetReply(specsOf(spec, spec.keys, isWrite(spec) ? 'both' : 'read', spec.keyUse ?? []));
}

function specsOf(spec: CommandSpec, keys: KeySpec, fallback: KeyAccess, uses: readonly string[]): Reply[] {
  switch (keys.kind) {
    case 'none':
      return [];
    case 'span': {
      const { first, last, step, access } = keys;
      const behind = last < 0 ? last : last - first;
      return [keySpec(uses[0] ?? DEFAULT_KEY_USE[access ?? fallback], index(first), range(behind, step, 0))];
    }
    case 'counted': {
      const { at, before, step, access } = keys;
      const found = before.map((position) => keySpec('OW update', index(position), range(0, 1, 0)));
      const use = uses[before.length] ?? DEFAULT_KEY_USE[access ?? (before.length > 0 ? 'read' : fallback)];
      found.push(keySpec(use, index(at), method('keynum', ['keynumidx', 0, 'firstkey', 1, 'keystep', step ?? 1])));
      return found;
    }
    case 'several':
      return keys.parts.flatMap((part, i) => specsOf(spec, part, fallback, uses.slice(i)));
    case 'found':
      return keys.searches.map(searched);
  }
}

function searched({ use, at, keyword, from, last, limit }: KeySearch): Reply {
  if (at === undefined && keyword === undefined) {
    return keySpec(use, method('unknown', []), method('unknown', []));
  }
  const begin =
    keyword === undefined ? index(at as number) : method('keyword', ['keyword', keyword, 'startfrom', from ?? 1]);
  return keySpec(use, begin, range(last ?? 0, 1, limit ?? 0));
}

function keySpec(use: string, begin: Reply, find: Reply): Reply {
  return new MapReply(['flags', flags(use), 'begin_search', begin, 'find_keys', find]);
}

function flags(use: string): Reply {
  return new SetReply(use.split(' ').map((flag) => new SimpleString(flag)));
}

const index = (position: number): Reply => method('index', ['index', position]);
const range = (last: number, step: number, limit: number): Reply =>
  method('range', ['lastkey', last, 'keystep', step, 'limit', limit]);

function method(type: string, spec: readonly Reply[]): Reply {
  return new MapReply(['type', type, 'spec', new MapReply(spec)]);
}
