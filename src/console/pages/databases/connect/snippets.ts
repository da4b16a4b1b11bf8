/** Example code for each client, with the published package names. */
import type { Snippet } from '../../../parts/snippets.js';
import type { DatabaseAddresses } from './addresses.js';

const NPM_REST = '@upstash/redis';
const PYTHON_REST = 'upstash-redis';
/** The prefix of the environment variables that both packages read. */
const ENV = `${PYTHON_REST.replaceAll('-', '_').toUpperCase()}_REST`;
const ALIAS =
  'It spells some headers in its own way: the server has to be started with `MILLRACE_WIRE_ALIAS` (docs/wire-aliases.md).';

export function snippetsFor(addresses: DatabaseAddresses): readonly Snippet[] {
  return [...overRest(addresses), ...overTheProtocol(addresses), environment(addresses)];
}

function overRest({ restUrl, token }: DatabaseAddresses): readonly Snippet[] {
  return [
    {
      id: 'curl',
      label: 'curl',
      note: 'A command in the path, or as JSON in the body.',
      text: `curl -H 'Authorization: Bearer ${token}' ${restUrl}/set/greeting/hello
curl -H 'Authorization: Bearer ${token}' ${restUrl} -d '["GET","greeting"]'
curl -H 'Authorization: Bearer ${token}' ${restUrl}/pipeline -d '[["INCR","visits"],["TTL","greeting"]]'`,
    },
    {
      id: 'rest',
      label: NPM_REST,
      note: `npm install ${NPM_REST}. ${ALIAS}`,
      text: `import { Redis } from '${NPM_REST}';

const redis = new Redis({
  url: '${restUrl}',
  token: '${token}',
});

await redis.set('greeting', 'hello');
console.log(await redis.get('greeting'));`,
    },
    {
      id: 'python-rest',
      label: PYTHON_REST,
      note: `pip install ${PYTHON_REST}. ${ALIAS}`,
      text: `from ${PYTHON_REST.replace('-', '_')} import Redis

redis = Redis(url="${restUrl}", token="${token}")

redis.set("greeting", "hello")
print(redis.get("greeting"))`,
    },
  ];
}

function overTheProtocol({ host, port, nativeUrl, isTls, password }: DatabaseAddresses): readonly Snippet[] {
  return [
    {
      id: 'redis-cli',
      label: 'redis-cli',
      note: 'The password in the environment stays out of the list of processes.',
      text: `REDISCLI_AUTH='${password}' redis-cli ${isTls ? '--tls ' : ''}-h ${host} -p ${port} PING`,
    },
    {
      id: 'redis',
      label: 'redis (Node.js)',
      note: 'npm install redis',
      text: `import { createClient } from 'redis';

const client = createClient({ url: '${nativeUrl}' });
client.on('error', (error) => console.error(error));
await client.connect();

await client.set('greeting', 'hello');
console.log(await client.get('greeting'));`,
    },
    {
      id: 'ioredis',
      label: 'ioredis',
      note: 'npm install ioredis',
      text: `import { Redis } from 'ioredis';

const redis = new Redis('${nativeUrl}');

await redis.set('greeting', 'hello');
console.log(await redis.get('greeting'));`,
    },
    {
      id: 'python',
      label: 'redis (Python)',
      note: 'pip install redis',
      text: `import redis

client = redis.from_url("${nativeUrl}", decode_responses=True)

client.set("greeting", "hello")
print(client.get("greeting"))`,
    },
  ];
}

function environment({ restUrl, token, nativeUrl, password }: DatabaseAddresses): Snippet {
  return {
    id: 'env',
    label: 'Environment',
    note: 'Variables that clients read: `Redis.fromEnv()` the first two, redis-cli the last one.',
    text: `${ENV}_URL="${restUrl}"
${ENV}_TOKEN="${token}"
REDIS_URL="${nativeUrl}"
REDISCLI_AUTH="${password}"`,
  };
}
