/** The replies of a database in cluster mode, compared with a real cluster of two nodes that have the same slots. */
import { expect } from 'chai';
import { firstSlotOf, HASH_SLOTS } from '../../src/domain/kv/index.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { REDIS_BINARIES, type RedisServer, redisVersion, startRedis } from '../support/redis-server.js';
import { CLUSTER_PASSWORD, RespEndpointHarness } from '../support/resp-endpoint.js';
import { KEY_OF_PARTITION, OTHER_NODE, SELF_NODE, TwoRespNodes } from '../support/two-resp-nodes.js';

const [MINE, THEIRS] = KEY_OF_PARTITION;
const FIRST_OF_OTHER = firstSlotOf(1, 3);

/** All on one connection, in this order. */
const COMMANDS: readonly string[] = [
  `SET ${MINE} v`,
  `SET ${THEIRS} v`,
  `GET ${THEIRS}`,
  `MGET ${MINE} ${THEIRS}`,
  `MSET {${MINE}}a 1 {${MINE}}b 2`,
  `BLPOP ${THEIRS} 1`,
  `WATCH ${THEIRS}`,
  `WATCH ${MINE} ${THEIRS}`,
  'MULTI',
  `INCR ${MINE}c`,
  'DISCARD',
  'MULTI',
  `SET ${MINE} v`,
  `SET ${THEIRS} v`,
  'EXEC',
  'DBSIZE',
  `KEYS ${MINE}`,
  'SCAN 0 MATCH nothing',
  'READONLY',
  'READWRITE',
  'ASKING',
  `CLUSTER KEYSLOT ${THEIRS}`,
  'CLUSTER MYID',
  'CLUSTER SLOTS',
  'CLUSTER NODES',
  'CLUSTER INFO',
  'FLUSHALL',
];

/** Ids and addresses as names, and numbers that only a gossiping cluster has as 0. */
function plain(reply: string, ids: readonly string[], addresses: readonly string[]): string {
  let text = reply;
  for (const [index, id] of ids.entries()) text = text.replaceAll(id, `id-${index}`);
  for (const [index, address] of addresses.entries()) {
    const [host = '', port = ''] = address.split(':');
    text = text
      .replaceAll(address, `address-${index}`)
      .replaceAll(`$${host.length}\r\n${host}\r\n:${port}`, `node-${index}`);
  }
  return (
    text
      .replace(/^\$\d+\r\n(?=id-\d |cluster_)/, '$text\r\n')
      .replaceAll(/@\d+ /g, '@bus ')
      .replaceAll(/ - \d+ \d+ \d+ connected/g, ' - times connected')
      .replaceAll(/(cluster_(?:current_epoch|my_epoch|stats_messages\w*)):\d+/g, '$1:0')
      .replaceAll(/(?<=\r\n)cluster_stats_messages_(?!sent|received)\w+:0\r\n/g, '')
      // Of versions that move slots by themselves.
      .replaceAll(/(?<=\r\n)cluster_slot_migration_\w+:\d+\r\n/g, '')
      .split('\n')
      .sort()
      .join('\n')
  );
}

for (const binary of new Set(Object.values(REDIS_BINARIES))) {
  const version = redisVersion(binary);
  (version === undefined ? describe.skip : describe)(`a database in cluster mode and Redis ${version}`, function () {
    this.timeout(30_000);
    let servers: RedisServer[];
    let ports: number[];
    before(async () => {
      ports = [await freePort(), await freePort()];
      servers = await Promise.all(
        ports.map((port) => startRedis(binary, ['--cluster-enabled', 'yes', '--port', String(port)])),
      );
      const [one, other] = servers as [RedisServer, RedisServer];
      await one.client.call(['CLUSTER', 'ADDSLOTSRANGE', '0', String(FIRST_OF_OTHER - 1)]);
      await other.client.call(['CLUSTER', 'ADDSLOTSRANGE', String(FIRST_OF_OTHER), String(HASH_SLOTS - 1)]);
      await other.client.call(['CLUSTER', 'SET-CONFIG-EPOCH', '2']);
      await one.client.call(['CLUSTER', 'MEET', '127.0.0.1', String(ports[1])]);
      await eventually(
        async () => {
          for (const { client } of servers) {
            expect(await client.call(['CLUSTER', 'INFO']))
              .to.contain('cluster_state:ok')
              .and.contain('cluster_size:2');
          }
        },
        { timeoutMs: 20_000 },
      );
    });
    after(() => Promise.all((servers ?? []).map((server) => server.stop())));

    it('answer the same to commands on own and on foreign slots, and to CLUSTER', async () => {
      const face = await new RespEndpointHarness({ nodes: new TwoRespNodes() }).start();
      const ours = await face.client(2, CLUSTER_PASSWORD);
      const [one, other] = servers as [RedisServer, RedisServer];
      const idOf = async ({ client }: RedisServer) => (await client.call(['CLUSTER', 'MYID'])).slice(-42, -2);
      const theirIds = [await idOf(one), await idOf(other)];
      const differences: string[] = [];
      try {
        for (const line of COMMANDS) {
          const words = line.split(' ');
          const theirs = plain(
            await one.client.call(words),
            theirIds,
            ports.map((port) => `127.0.0.1:${port}`),
          );
          const own = plain(
            await ours.call(...words),
            [SELF_NODE.id, OTHER_NODE.id],
            [SELF_NODE, OTHER_NODE].map(({ host, port }) => `${host}:${port}`),
          );
          if (own !== theirs) differences.push(`${line}\n  ours   ${own}\n  theirs ${theirs}`);
        }
      } finally {
        await face.stop();
      }
      expect(differences.join('\n')).to.equal('');
    });
  });
}
