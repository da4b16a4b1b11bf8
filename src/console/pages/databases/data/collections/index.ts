/** The types whose values are members, page by page. */
import { CallError } from '../../../../api/call.js';
import { raw, wordOf } from '../../../../api/kv.js';
import type { Words } from '../../../../api/kv-bytes.js';
import type { RawReply } from '../../../../api/resp.js';
import {
  type CollectionKind,
  type CollectionMember,
  done,
  type MemberPage,
  PAGE_MEMBERS,
  type Place,
  pairs,
  scanned,
} from './collection.js';

/** Elements by index. An element that has moved since is neither changed nor removed. */
const LIST_ELEMENTS: CollectionKind = {
  parts: ['index', 'value'],
  nameLabel: 'Element',
  filterLabel: 'From index',
  hasOrder: false,
  isNameFixed: true,

  async load({ id, key, cursor, filter }) {
    const from = Number(cursor || filter) || 0;
    const [items] = await done(id, [['LRANGE', key, from, from < 0 ? -1 : from + PAGE_MEMBERS - 1]]);
    const values = (items as readonly string[]).slice(0, PAGE_MEMBERS);
    const members = values.map((value, at) => ({ id: String(from + at), index: from + at, value }));
    return { members, next: from < 0 || members.length < PAGE_MEMBERS ? undefined : String(from + PAGE_MEMBERS) };
  },

  async save(place, before, { value, isAtHead }) {
    const { id, key } = place;
    if (before === undefined) {
      await done(id, [[isAtHead ? 'LPUSH' : 'RPUSH', key, wordOf(value)]]);
      return;
    }
    await mustBeThere(place, before);
    await done(id, [['LSET', key, before.index ?? 0, wordOf(value)]]);
  },

  async remove(place, member) {
    const { id, key } = place;
    await mustBeThere(place, member);
    const mark = `deleted:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
    await done(id, [
      ['LSET', key, member.index ?? 0, mark],
      ['LREM', key, 1, mark],
    ]);
  },
};

async function mustBeThere({ id, key }: Place, { index = 0, value }: CollectionMember): Promise<void> {
  const [now] = await done(id, [['LINDEX', key, index]]);
  if (now !== value) throw new CallError(409, 'The list has changed: reload it.');
}

/** Fields, with their expiry. */
const HASH_FIELDS: CollectionKind = {
  parts: ['name', 'value', 'ttl'],
  nameLabel: 'Field',
  filterLabel: 'Pattern of fields',
  hasOrder: false,
  isNameFixed: true,

  async load(ask) {
    const { items, next } = await scanned('HSCAN', ask);
    const fields = pairs(items);
    if (fields.length === 0) return { members: [], next };
    const names = fields.map(([name]) => wordOf(name));
    const [ttls] = await done(ask.id, [['HPTTL', ask.key, 'FIELDS', names.length, ...names]]);
    const times = Array.isArray(ttls) ? ttls : [];
    const members = fields.map(([name, value], at) => {
      const ttl = Number(times[at] ?? -1);
      return { id: name, name, value, ttlMs: ttl < 0 ? null : ttl };
    });
    return { members, next };
  },

  async save({ id, key }, before, { name, value, ttl }) {
    const field = wordOf(name);
    const end = ttl === '' ? [] : [['HEXPIRE', key, ttl, 'FIELDS', 1, field]];
    const stays = ttl === '' && before?.ttlMs != null ? [['HPERSIST', key, 'FIELDS', 1, field]] : [];
    await done(id, [['HSET', key, field, wordOf(value)], ...end, ...stays]);
  },

  async remove({ id, key }, { name = '' }) {
    await done(id, [['HDEL', key, wordOf(name)]]);
  },
};

/** Editing a member's text replaces it by another member. */
const SET_MEMBERS: CollectionKind = {
  parts: ['name'],
  nameLabel: 'Member',
  filterLabel: 'Pattern of members',
  hasOrder: false,
  isNameFixed: false,

  async load(ask) {
    const { items, next } = await scanned('SSCAN', ask);
    return { members: items.map((name) => ({ id: name, name })), next };
  },

  async save({ id, key }, before, { name }) {
    const added = ['SADD', key, wordOf(name)];
    const isOther = before?.name !== undefined && before.name !== name;
    await done(id, isOther ? [added, ['SREM', key, wordOf(before.name)]] : [added]);
  },

  async remove({ id, key }, { name = '' }) {
    await done(id, [['SREM', key, wordOf(name)]]);
  },
};

/** Members by score; matches of a pattern have no order. */
const SCORED_MEMBERS: CollectionKind = {
  parts: ['score', 'name'],
  nameLabel: 'Member',
  filterLabel: 'Pattern of members',
  hasOrder: true,
  isNameFixed: false,

  async load(ask) {
    if (ask.filter !== '') {
      const { items, next } = await scanned('ZSCAN', ask);
      return { members: membersOf(items), next };
    }
    const from = Number(ask.cursor);
    const order = ask.isReversed ? ['REV'] : [];
    const [items] = await done(ask.id, [['ZRANGE', ask.key, from, from + PAGE_MEMBERS - 1, ...order, 'WITHSCORES']]);
    const members = membersOf(items as readonly string[]);
    return { members, next: members.length < PAGE_MEMBERS ? undefined : String(from + PAGE_MEMBERS) };
  },

  async save({ id, key }, before, { name, score }) {
    const added = ['ZADD', key, score, wordOf(name)];
    const isOther = before?.name !== undefined && before.name !== name;
    await done(id, isOther ? [added, ['ZREM', key, wordOf(before.name)]] : [added]);
  },

  async remove({ id, key }, { name = '' }) {
    await done(id, [['ZREM', key, wordOf(name)]]);
  },
};

function membersOf(items: readonly string[]): MemberPage['members'] {
  return pairs(items).map(([name, score]) => ({ id: name, name, score }));
}

/** The last index of an array: a text, because an index may have more digits than a number holds. */
const LAST_INDEX = '18446744073709551614';

const ARRAY_VALUES: CollectionKind = {
  parts: ['name', 'value'],
  nameLabel: 'Index',
  filterLabel: 'From index',
  hasOrder: true,
  isNameFixed: true,

  async load({ id, key, cursor, filter, isReversed }) {
    const first = filter || (isReversed ? LAST_INDEX : '0');
    const ends = [cursor || first, isReversed ? '0' : LAST_INDEX];
    const slots = await slotsOf(id, ['ARSCAN', key, ...ends, 'LIMIT', PAGE_MEMBERS]);
    const members = slots.map(([index, value]) => ({ id: index, name: index, value }));
    const last = members.at(-1)?.id;
    if (last === undefined || members.length < PAGE_MEMBERS || last === ends[1]) return { members, next: undefined };
    return { members, next: String(BigInt(last) + (isReversed ? -1n : 1n)) };
  },

  async save({ id, key }, _, { name, value }) {
    await done(id, [name === '' ? ['ARINSERT', key, wordOf(value)] : ['ARSET', key, name, wordOf(value)]]);
  },

  async remove({ id, key }, { name = '' }) {
    await done(id, [['ARDEL', key, name]]);
  },
};

/** Index and value of each slot, with all digits of the index. @throws CallError */
async function slotsOf(id: string, words: Words): Promise<readonly (readonly [index: string, value: string])[]> {
  const reply = await raw(id, words);
  if (reply.kind === 'error') throw new CallError(400, reply.text);
  const slots = reply.kind === 'array' ? reply.items : [];
  return slots.map((slot) => {
    const [index, value] = slot.kind === 'array' ? slot.items : [];
    return [textOfPart(index), textOfPart(value)] as const;
  });
}

function textOfPart(part: RawReply | undefined): string {
  if (part?.kind === 'integer') return part.digits;
  return part?.kind === 'bulk' ? part.text : '';
}

export const COLLECTIONS: Readonly<Record<'hash' | 'list' | 'set' | 'zset' | 'array', CollectionKind>> = {
  hash: HASH_FIELDS,
  list: LIST_ELEMENTS,
  set: SET_MEMBERS,
  zset: SCORED_MEMBERS,
  array: ARRAY_VALUES,
};
