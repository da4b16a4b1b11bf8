/** Keys of a database as they are now, for lists and trees of them. */
import { queryParameter, wordOf } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { adminAnswer } from '../admin-schemas.js';
import { DatabaseKeys, KEY_TYPES, type KeyFilter } from '../database-keys.js';

const PARAMETERS = [
  queryParameter('type', 'Only keys of that type.', wordOf(KEY_TYPES)),
  queryParameter('cursor', 'From the answer before; left out: from the beginning.'),
  queryParameter('count', 'Keys of the answer, about.', { type: 'integer', minimum: 1 }),
];
export const DATABASE_KEY_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/databases/:id/keys', {
    summary: 'Shows keys of a database with type, time to live, size and length.',
    permission: 'databases',
    parameters: [
      queryParameter('match', 'A pattern, as SCAN has it.'),
      queryParameter('match_base64', 'The same, as base64.'),
      ...PARAMETERS,
    ],
    answer: adminAnswer('LiveKeys'),
    handle: (call) => look(call, (keys, filter) => keys.page({ ...filter, match: call.keyBytes('match') })),
  }),
  adminRoute('GET /v2/admin/databases/:id/folders', {
    summary: 'Shows what is directly below a prefix: keys, and folders of keys with their number.',
    permission: 'databases',
    parameters: [
      queryParameter('prefix', 'What the keys begin with, its separator included; left out: nothing.'),
      queryParameter('prefix_base64', 'The same, as base64.'),
      queryParameter('separator', 'What names end with that are folders; left out: a colon.'),
      ...PARAMETERS,
    ],
    answer: adminAnswer('KeyFolders'),
    handle: (call) =>
      look(call, (keys, filter) => {
        const separator = call.keyBytes('separator') ?? ':';
        if (separator === '') throw invalid('separator: may not be empty');
        return keys.folders(call.keyBytes('prefix') ?? '', separator, filter);
      }),
  }),
];

async function look(call: AdminCall, asked: (keys: DatabaseKeys, filter: Omit<KeyFilter, 'match'>) => Promise<object>) {
  const { parts, looks } = call.face;
  const place = await call.database();
  const [type, cursor] = [call.query.get('type') ?? undefined, call.query.get('cursor') ?? '0'];
  if (type !== undefined && !KEY_TYPES.includes(type)) throw invalid(`type: is one of ${KEY_TYPES.join(', ')}`);
  if (!/^\d{1,20}$/.test(cursor)) throw invalid('cursor: is one of an answer');
  const filter = { type, cursor, count: call.limit(undefined, 'count') };
  const giveBack = looks.take(call.grant.account);
  try {
    call.json(JSON.stringify(await asked(new DatabaseKeys(parts.gateway, parts.clock, place), filter)));
  } finally {
    giveBack();
  }
}
