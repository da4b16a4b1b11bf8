/** Values of an array by index. An index is a text, because it may have more digits than a number holds. */
import { CallError } from '../../../../api/call.js';
import { raw, wordOf } from '../../../../api/kv.js';
import type { Words } from '../../../../api/kv-bytes.js';
import type { RawReply } from '../../../../api/resp.js';
import { type CollectionKind, done, PAGE_MEMBERS } from './collection.js';

const LAST_INDEX = '18446744073709551614';

export const ARRAY_VALUES: CollectionKind = {
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
