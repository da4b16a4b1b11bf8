/** Errors with a text of the REST API; the texts of Redis for the same errors are in the cases of test/spec/kv. */
import { expect } from 'chai';
import { KvEndpointHarness } from '../../support/kv-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const OF_CONNECTIONS =
  'AUTH HELLO QUIT RESET SELECT CLIENT MULTI EXEC DISCARD WATCH UNWATCH SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE MONITOR';
const BLOCKING = 'BLPOP BRPOP BLMOVE BLMPOP BRPOPLPUSH BZPOPMIN BZPOPMAX BZMPOP';
const REFUSED = 'SHUTDOWN DEBUG MIGRATE REPLICAOF SAVE BGSAVE MOVE SWAPDB';
const UNKNOWN = 'NOPE constructor __proto__';

const notAvailable = (name: string): string => `ERR Command is not available: '${name.toUpperCase()}'`;
const notOverRest = (name: string): string =>
  `ERR Command "${name}" is not allowed in REST or it has a special context path`;

const ROWS: readonly (readonly [command: readonly string[], text: string])[] = [
  ...OF_CONNECTIONS.split(' ').flatMap((name) => [
    [[name], notOverRest(name)] as const,
    [[name, 'a'], notOverRest(name)] as const,
  ]),
  ...BLOCKING.split(' ').map((name) => [[name, 'a', '0'], notAvailable(name)] as const),
  ...REFUSED.split(' ').map((name) => [[name, 'a'], notAvailable(name)] as const),
  ...UNKNOWN.split(' ').map((name) => [[name, 'a'], notAvailable(name)] as const),
  [['OBJECT', 'FOO'], notAvailable('OBJECT FOO')],
  [['SLOWLOG', 'a'], notAvailable('SLOWLOG a')],
  [['client', 'list'], notOverRest('CLIENT')],
  [['SET', 'k', 'v', 'EX', 'x'], 'ERR value is not an int or out of range'],
  [['\xff'], "ERR Command is not available: '\xff'"],
];

describe('edge/kv: the REST texts of errors', () => {
  const face = standOfAllTests(() => new KvEndpointHarness().start());

  for (const [command, text] of ROWS) {
    it(`answer ${command.join(' ')} with: ${text}`, async () => {
      const answer = await face.post('/', JSON.stringify(command));
      expect(JSON.parse(answer.text)).to.deep.equal({ error: text });
      expect(answer.status).to.equal(400);
    });
  }
});
