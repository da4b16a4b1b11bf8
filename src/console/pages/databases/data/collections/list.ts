/** Elements of a list by index. An element that has moved since is neither changed nor removed. */
import { CallError } from '../../../../api/call.js';
import { wordOf } from '../../../../api/kv.js';
import { type CollectionKind, type CollectionMember, done, PAGE_MEMBERS, type Place } from './collection.js';

export const LIST_ELEMENTS: CollectionKind = {
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
