/** Creates keys of every type with one pipeline over REST. */
import type { Api } from './api.js';

const USERS = 200;
const PLACES: readonly (readonly [longitude: string, latitude: string, name: string])[] = [
  ['13.40', '52.52', 'Berlin'],
  ['2.35', '48.86', 'Paris'],
  ['-0.13', '51.51', 'London'],
];

/** @returns the number of keys afterwards. @throws if one is refused */
export async function fillKeys(api: Api): Promise<number> {
  const commands: (readonly string[])[] = [
    ...Array.from({ length: USERS }, (_, at) => userCommand(at + 1)),
    ...Array.from({ length: USERS }, (_, at) => ['ZADD', 'scores', String((at * 37) % 1000), `user:${at + 1}`]),
    ...Array.from({ length: 50 }, (_, at) => ['SET', `session:${at + 1}`, `opened by user ${at + 1}`, 'EX', '3600']),
    ...Array.from({ length: 50 }, (_, at) => ['XADD', 'events', '*', 'kind', 'visit', 'user', String(at + 1)]),
    ['SET', 'greeting', 'hello'],
    ['SET', 'visits', '42'],
    ['SETBIT', 'seen', '7', '1'],
    ['PFADD', 'visitors', ...Array.from({ length: 100 }, (_, at) => `user:${at + 1}`)],
    ['RPUSH', 'jobs', 'one', 'two', 'three'],
    ['SADD', 'colours', 'red', 'green', 'blue'],
    ['GEOADD', 'places', ...PLACES.flat()],
    ['SEARCH.CREATE', 'films', 'ON', 'JSON', 'PREFIX', '1', 'doc:', 'SCHEMA', 'title', 'TEXT', 'year', 'U64', 'FAST'],
    ['ARMSET', 'readings', '0', '21.5', '1', '21.9', '60', '22.4'],
    ['JSON.SET', 'doc:1', '$', '{"title":"Star Wars","year":1977,"tags":["space","film"]}'],
    ['DBSIZE'],
  ];
  const answers = (await api.ask('POST', '/pipeline', commands)) as { result?: unknown; error?: string }[];
  const refused = answers.find(({ error }) => error !== undefined);
  if (refused !== undefined) throw new Error(refused.error);
  return Number(answers.at(-1)?.result);
}

function userCommand(id: number): readonly string[] {
  return [
    'HSET',
    `user:${id}`,
    'name',
    `User ${id}`,
    'year',
    String(1950 + (id % 60)),
    'email',
    `user${id}@example.com`,
  ];
}
