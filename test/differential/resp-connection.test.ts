/** The same bytes over a connection to the RESP endpoint and to real servers: the answers of connections. */
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { REDIS_BINARIES, redisVersion, startTcpRedis } from '../support/redis-server.js';
import { PASSWORD, RawClient, RespEndpointHarness } from '../support/resp-endpoint.js';
import { standOfAllTests } from '../support/stand-hooks.js';

/** Each is a connection of its own; a line is a command, or raw bytes behind `raw:`. */
const CONVERSATIONS: readonly (readonly string[])[] = [
  ['PING', 'PING a', 'PING a b', 'ECHO', 'ECHO x', 'SELECT 0', 'SELECT x', 'QUIT'],
  ['NOSUCH', 'NOSUCH a b', `NOSUCH ${'x'.repeat(200)} y`, `${'n'.repeat(200)} x`, 'GET', 'get a b'],
  ['CLIENT', 'CLIENT FOO', 'CLIENT ID x', 'CLIENT GETNAME', 'CLIENT SETNAME me', 'CLIENT GETNAME', 'CLIENT SETNAME'],
  ['HELLO 4', 'HELLO x', 'HELLO 2 FOO', 'HELLO 2 AUTH a', 'HELLO 2 SETNAME', 'HELLO 2 AUTH default nonsense'],
  ['AUTH', 'AUTH a b c', 'AUTH nonsense', 'AUTH default nonsense', `AUTH default ${PASSWORD}`, `AUTH ${PASSWORD}`],
  ['MULTI', 'MULTI', 'SET a 1', 'INCR a', 'GET a', 'PING', 'SELECT 0', 'EXEC', 'EXEC', 'DISCARD', 'MULTI', 'EXEC'],
  ['MULTI', 'WATCH a', 'EXEC', 'MULTI', 'NOSUCH', 'EXEC', 'MULTI', 'GET', 'DISCARD', 'MULTI x', 'EXEC x', 'EXEC'],
  ['SET w 1', 'WATCH w', 'SET w 2', 'MULTI', 'GET w', 'EXEC', 'WATCH', 'UNWATCH', 'WATCH w', 'MULTI', 'GET w', 'EXEC'],
  ['MULTI', 'UNWATCH', 'CLIENT GETNAME', 'CLIENT SETNAME x', 'CLIENT GETNAME', 'EXEC'],
  ['MULTI', 'SUBSCRIBE a b', 'PING', 'UNSUBSCRIBE a', 'UNSUBSCRIBE', 'EXEC', 'PING'],
  ['MULTI', 'UNSUBSCRIBE', 'PUNSUBSCRIBE x', 'SUNSUBSCRIBE', 'EXEC', 'PING'],
  ['MULTI', 'PSUBSCRIBE a*', 'SUBSCRIBE a', 'GET none', 'EXEC', 'GET none', 'PUNSUBSCRIBE', 'UNSUBSCRIBE', 'GET none'],
  ['MULTI', 'SSUBSCRIBE a', 'MONITOR', 'EXEC', 'PING'],
  ['SET s x', 'MULTI', 'INCR s', 'SET s y', 'EXEC', 'GET s', 'MULTI', 'RESET', 'PING'],
  ['CLIENT REPLY x', 'CLIENT REPLY OFF', 'PING', 'CLIENT REPLY ON', 'CLIENT REPLY SKIP', 'PING', 'ECHO a'],
  ['CLIENT LIST FOO', 'CLIENT LIST TYPE foo', 'CLIENT LIST ID x', 'CLIENT LIST ID 999999', 'CLIENT LIST TYPE master'],
  [
    'CLIENT KILL',
    'CLIENT KILL x',
    'CLIENT KILL ID x',
    'CLIENT KILL ID 0',
    'CLIENT KILL ID 999999',
    'CLIENT KILL a b c',
  ],
  ['CLIENT KILL TYPE foo', 'CLIENT KILL SKIPME x', 'CLIENT KILL ADDR 1.2.3.4:5', 'CLIENT KILL FOO 1'],
  ['CLIENT PAUSE', 'CLIENT PAUSE x', 'CLIENT PAUSE -1', 'CLIENT PAUSE 0 FOO', 'CLIENT PAUSE 0', 'CLIENT UNPAUSE'],
  ['CLIENT UNBLOCK x', 'CLIENT UNBLOCK 1 FOO', 'CLIENT UNBLOCK 999999', 'CLIENT NO-EVICT x', 'CLIENT NO-EVICT on'],
  [
    'CLIENT TRACKING',
    'CLIENT TRACKING x',
    'CLIENT TRACKING on FOO',
    'CLIENT TRACKING on OPTIN OPTOUT',
    'CLIENT GETREDIR',
  ],
  [
    'CLIENT TRACKING on PREFIX a',
    'CLIENT TRACKING on BCAST OPTIN',
    'CLIENT TRACKING on REDIRECT x',
    'CLIENT CACHING YES',
  ],
  ['CLIENT TRACKING on BCAST PREFIX a PREFIX b', 'CLIENT TRACKINGINFO', 'CLIENT TRACKING on', 'CLIENT TRACKING off'],
  [
    'CLIENT TRACKING on BCAST PREFIX ab PREFIX a',
    'CLIENT TRACKING on BCAST PREFIX a',
    'CLIENT TRACKING on BCAST PREFIX ab',
  ],
  [
    'CLIENT TRACKING on OPTIN',
    'CLIENT TRACKING on OPTOUT',
    'CLIENT CACHING NO',
    'CLIENT CACHING x',
    'CLIENT CACHING YES',
  ],
  ['CLIENT TRACKING on OPTIN', 'CLIENT CACHING YES', 'CLIENT TRACKINGINFO', 'GET a', 'CLIENT TRACKINGINFO'],
  ['SUBSCRIBE', 'SUBSCRIBE a', 'GET a', 'CLIENT ID', 'PING', 'PING x', 'UNSUBSCRIBE', 'UNSUBSCRIBE', 'GET none'],
  [
    'PSUBSCRIBE a*',
    'SUBSCRIBE a',
    'SSUBSCRIBE s',
    'SUNSUBSCRIBE',
    'PUNSUBSCRIBE x',
    'UNSUBSCRIBE a',
    'PUNSUBSCRIBE',
    'PING',
  ],
  ['SUBSCRIBE a', 'MULTI', 'RESET', 'AUTH x', 'PING'],
  ['HELLO 3 FOO', 'raw:PING\r\n', 'raw:ping "a\\x41b"\r\n', 'raw:ECHO "a', 'raw:b\r\n'],
  ['raw:*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n'],
  ['raw:*3000000000\r\n'],
  ['raw:*-10\r\n*0\r\n\r\n', 'PING'],
  ['raw:*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$-10\r\n'],
  ['raw:*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$2000000000\r\n'],
  ['raw:*1\r\n$x\r\n'],
  ['raw:*01\r\n'],
  ['raw:POST / HTTP/1.1\r\nSET http 1\r\n'],
  ['raw:GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['CLIENT TRACKING on BCAST', 'CLIENT TRACKINGINFO', 'CLIENT TRACKING on BCAST PREFIX a', 'CLIENT TRACKINGINFO'],
  ['MODULE', 'MODULE FOO', 'MODULE LIST a', 'MODULE LOAD', 'MODULE UNLOAD'],
];

/** In RESP3, behind `HELLO 3`. */
const IN_RESP3: readonly (readonly string[])[] = [
  ['GET none', 'CLIENT TRACKINGINFO', 'CLIENT GETNAME', 'MULTI', 'GET none', 'EXEC', 'SET w 1', 'WATCH w', 'SET w 2'],
  [
    'WATCH w',
    'SET w 3',
    'MULTI',
    'EXEC',
    'SUBSCRIBE a',
    'GET none',
    'PING',
    'UNSUBSCRIBE',
    'UNSUBSCRIBE',
    'PUNSUBSCRIBE x',
  ],
  ['MULTI', 'SUBSCRIBE a b', 'PING', 'PSUBSCRIBE p', 'UNSUBSCRIBE a', 'EXEC', 'PING', 'PUNSUBSCRIBE'],
  ['MULTI', 'SSUBSCRIBE a', 'SUNSUBSCRIBE', 'EXEC', 'PING'],
  ['CLIENT TRACKING on', 'CLIENT TRACKING on BCAST', 'CLIENT TRACKINGINFO', 'RESET', 'PING'],
];

/** All that is said until the connection ends, be it by QUIT, be it before. */
async function converse(port: number, lines: readonly string[], isResp3: boolean): Promise<readonly string[]> {
  const client = await RawClient.connect(port);
  try {
    await client.call('AUTH', PASSWORD);
    if (isResp3) await client.call('HELLO', '3');
    const said = lines.map((line) => (line.startsWith('raw:') ? line.slice(4) : encodeCommand(line.split(' '))));
    client.send(`${said.join('')}QUIT\r\n`);
    await client.closed().catch(() => {
      throw new Error(`port ${port} leaves it open: ${lines.join(', ').slice(0, 200)}: ${client.unread}`);
    });
    return client.unread;
  } finally {
    client.close();
  }
}

for (const [label, binary] of Object.entries(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  if (version === undefined || label !== 'packaged') continue;
  describe(`differential: connections to redis-server ${version}`, function () {
    this.timeout(30_000);
    const face = standOfAllTests(() => new RespEndpointHarness().start());
    const redis = standOfAllTests(() => startTcpRedis(binary, PASSWORD));

    for (const [name, conversations] of Object.entries({ RESP2: CONVERSATIONS, RESP3: IN_RESP3 })) {
      it(`answer alike in ${name}`, async () => {
        for (const lines of conversations) {
          const ours = await converse(face.port, lines, name === 'RESP3');
          const theirs = await converse(redis.port, lines, name === 'RESP3');
          expect({ lines, said: ours }).to.deep.equal({ lines, said: theirs });
        }
      });
    }
  });
}
