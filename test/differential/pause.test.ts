/** CLIENT PAUSE WRITE compared with real servers: which commands are held, and how many clients count as blocked. */
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { eventually } from '../support/eventually.js';
import { REDIS_BINARIES, redisVersion, startTcpRedis } from '../support/redis-server.js';
import { PASSWORD, RawClient, RespEndpointHarness } from '../support/resp-endpoint.js';
import { standOfAllTests } from '../support/stand-hooks.js';

const LIBRARY = `#!lua name=lib
redis.register_function('changes', function(keys) return redis.call('SET', keys[1], 'x') end)
redis.register_function{function_name='reads', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}`;
const READING = "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])";
const WITH_SHEBANG = "#!lua\nreturn redis.call('GET', KEYS[1])";
/** Of those that are loaded before: READING, and one without a shebang. */
const DIGESTS = [READING, 'return 1'];

/** What one connection says; the last of it is held up or not. */
const SAID: readonly (readonly string[][])[] = [
  [['GET', 'k']],
  [['SET', 'k', 'v']],
  [['DEL', 'none']],
  [['PING']],
  [['PUBLISH', 'c', 'm']],
  [['SPUBLISH', 'c', 'm']],
  [['PFCOUNT', 'hll']],
  [['PFADD', 'hll', 'a']],
  [['SUBSCRIBE', 'c']],
  [['EVAL', 'return 1', '0']],
  [['EVAL', WITH_SHEBANG, '1', 'k']],
  [['EVAL', READING, '1', 'k']],
  [['EVAL_RO', 'return 1', '0']],
  [['EVALSHA', '#0', '1', 'k']],
  [['EVALSHA', '#1', '0']],
  [['EVALSHA', 'f'.repeat(40), '0']],
  [['EVALSHA_RO', '#1', '0']],
  [['FCALL', 'reads', '1', 'k']],
  [['FCALL', 'changes', '1', 'k']],
  [['FCALL', 'nosuch', '0']],
  [['FCALL_RO', 'reads', '1', 'k']],
  [['FUNCTION', 'LIST']],
  [['FUNCTION', 'FLUSH']],
  [['SCRIPT', 'LOAD', 'return 2']],
  [['MULTI'], ['GET', 'k'], ['EXEC']],
  [['MULTI'], ['GET', 'k'], ['SET', 'k', 'w'], ['EXEC']],
  [['MULTI'], ['PUBLISH', 'c', 'm'], ['EXEC']],
  [['MULTI'], ['EVAL', 'return 1', '0'], ['EXEC']],
  [['MULTI'], ['EVAL', READING, '1', 'k'], ['EXEC']],
  [['MULTI'], ['FCALL', 'reads', '1', 'k'], ['EXEC']],
  [['BLPOP', 'list', '0.01']],
  [['INCR']],
];

for (const binary of Object.values(REDIS_BINARIES)) {
  const version = redisVersion(binary);
  if (version === undefined) continue;
  describe(`differential: CLIENT PAUSE WRITE at redis-server ${version}`, function () {
    this.timeout(30_000);
    const face = standOfAllTests(() => new RespEndpointHarness().start());
    const redis = standOfAllTests(() => startTcpRedis(binary, PASSWORD));

    for (const said of SAID) {
      const title = said.map((words) => words.join(' ').replaceAll('\n', ' ').slice(0, 60)).join(', ');
      it(`holds the same commands: ${title}`, async () => {
        const [ours, theirs] = [await isHeldUp(face.port, said), await isHeldUp(redis.port, said)];
        expect(ours).to.deep.equal(theirs);
      });
    }
  });
}

async function signedIn(port: number): Promise<RawClient> {
  const client = await RawClient.connect(port);
  await client.call('AUTH', PASSWORD);
  return client;
}

/** @returns is the last command held up until UNPAUSE, and is it answered then? */
async function isHeldUp(port: number, said: readonly string[][]): Promise<{ isHeld: boolean; answers: number }> {
  const [holder, speaker] = [await signedIn(port), await signedIn(port)];
  try {
    await holder.call('FLUSHALL');
    await holder.call('FUNCTION', 'LOAD', 'REPLACE', LIBRARY);
    const digests: string[] = [];
    for (const source of DIGESTS) {
      const answer = await holder.call('SCRIPT', 'LOAD', source);
      digests.push(answer.split('\r\n')[1] as string);
    }
    expect(await holder.call('CLIENT', 'PAUSE', '100000', 'WRITE')).to.equal('+OK\r\n');
    for (const words of said) {
      speaker.send(
        encodeCommand(words.map((word) => (word.startsWith('#') ? (digests[Number(word.slice(1))] ?? word) : word))),
      );
    }
    const blocked = async () => /blocked_clients:([0-9]+)/.exec(await holder.call('INFO', 'clients'))?.[1];
    const isHeld = await eventually(async () => {
      if (speaker.unread.length === said.length) return false;
      // A server holds a write up where it is queued, we hold up the EXEC behind it.
      if ((await blocked()) === '1') return true;
      throw new Error(`neither answered nor blocked: ${speaker.unread}`);
    });
    await holder.call('CLIENT', 'UNPAUSE');
    await eventually(() => expect(speaker.unread).to.have.length(said.length));
    await eventually(async () => expect(await blocked()).to.equal('0'));
    return { isHeld, answers: speaker.unread.length };
  } finally {
    holder.close();
    speaker.close();
  }
}
