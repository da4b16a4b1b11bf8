/** Fields of a hash, with their expiry. */
import { wordOf } from '../../../../api/kv.js';
import { type CollectionKind, done, pairs, scanned } from './collection.js';

export const HASH_FIELDS: CollectionKind = {
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
