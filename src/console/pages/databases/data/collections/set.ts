/** Members of a set. Editing a member's text replaces it by another member. */
import { wordOf } from '../../../../api/kv.js';
import { type CollectionKind, done, scanned } from './collection.js';

export const SET_MEMBERS: CollectionKind = {
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
