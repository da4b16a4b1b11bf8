/** Members of a sorted set by score; matches of a pattern have no order. */
import { wordOf } from '../../../../api/kv.js';
import { type CollectionKind, done, type MemberPage, PAGE_MEMBERS, pairs, scanned } from './collection.js';

export const SCORED_MEMBERS: CollectionKind = {
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
