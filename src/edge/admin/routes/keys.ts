/** The current keys of a database as lists and trees. */
import { queryParameter, wordOf } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { adminAnswer } from '../admin-schemas.js';
import { DatabaseKeys, KEY_TYPES, type KeyFilter } from '../database-keys.js';

const PARAMETERS = [
  queryParameter('type', 'Only keys of that type.', wordOf(KEY_TYPES)),
  queryParameter('cursor', 'The cursor of the page before; left out: the first page.'),
  queryParameter('count', 'The approximate number of keys of a page.', { type: 'integer', minimum: 1 }),
];
export const DATABASE_KEY_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/databases/:id/keys', {
    summary: 'Shows keys of a database with type, time to live, size and length.',
    permission: 'databases:use',
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
    permission: 'databases:use',
    parameters: [
      queryParameter('prefix', 'The prefix of the keys, with its separator; empty by default.'),
      queryParameter('prefix_base64', 'The same, as base64.'),
      queryParameter('separator', 'The separator after names of folders; a colon by default.'),
      ...PARAMETERS,
    ],
    answer: adminAnswer('KeyFolders'),
    handle: (call) =>
      look(call, (keys, filter) => {
        const separator = call.keyBytes('separator') ?? ':';
        if (separator === '') throw invalid('separator: must not be empty');
        return keys.folders(call.keyBytes('prefix') ?? '', separator, filter);
      }),
  }),
];

async function look(call: AdminCall, asked: (keys: DatabaseKeys, filter: Omit<KeyFilter, 'match'>) => Promise<object>) {
  const { parts, looks } = call.endpoint;
  const place = await call.database();
  const [type, cursor] = [call.query.get('type') ?? undefined, call.query.get('cursor') ?? '0'];
  if (type !== undefined && !KEY_TYPES.includes(type)) throw invalid(`type: must be one of ${KEY_TYPES.join(', ')}`);
  if (!/^\d{1,20}$/.test(cursor)) throw invalid('cursor: must be the cursor of an earlier response');
  const filter = { type, cursor, count: call.limit(undefined, 'count') };
  const giveBack = looks.take(call.grant.account);
  try {
    call.json(JSON.stringify(await asked(new DatabaseKeys(parts.gateway, parts.clock, place), filter)));
  } finally {
    giveBack();
  }
}
