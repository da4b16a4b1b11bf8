/**
 * A script that loops after a write: the process ends it, its partition is rebuilt without the write, and other
 * databases continue.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { credentialsIn } from '../support/db-output-reader.js';
import { eventually } from '../support/eventually.js';
import { failureOf, type ServedProcess, startServed } from '../support/millrace-clients.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  PASSWORD,
  runMillrace,
} from '../support/millrace-process.js';

const ROUNDS = 3;
/** The rebuilding of a small partition, on a busy machine. */
const BACK_TIMEOUT_MS = 10_000;
/** A killed script may block its shard for its time limit, and a little longer. */
const LONGEST_SILENCE_MS = 2500;

const ENDLESS: readonly string[] = [
  "redis.call('SET', KEYS[1], ARGV[1]) redis.call('LPUSH', 'list', ARGV[1]) while true do end",
  "redis.call('SET', KEYS[1], ARGV[1]) while true do pcall(function() while true do end end) end",
  "redis.call('SET', KEYS[1], ARGV[1]) while true do redis.call('GET', KEYS[1]) end",
];

describe('a script that is killed after a write', function () {
  this.timeout(180_000);
  let millrace: ServedProcess;
  let environment: Environment;
  const open: Redis[] = [];
  before(async () => {
    millrace = await startServed({
      MILLRACE_KV_SHARDS: '1',
      // The limit counts processor time, of which each of nine scripts would otherwise have five seconds.
      MILLRACE_SCRIPT_MS: '1000',
      // Scripts block the whole process, and its permissions become old during them.
      MILLRACE_CONTROL_STALE_MS: '5000',
    });
    environment = await embeddedEnvironment(millrace.dataDir);
  });
  after(async () => {
    for (const client of open) client.disconnect();
    await endEverything();
  });

  const connect = (password: string): Redis => {
    const client = new Redis({ port: millrace.respPort, password, retryStrategy: () => null });
    client.on('error', () => undefined);
    open.push(client);
    return client;
  };

  it('leaves no effect, and another database of the shard continues', async () => {
    const created = await runMillrace(['db', 'create', '--name', 'neighbour'], environment);
    const made = credentialsIn(created.stdout.toString());
    const redis = connect(PASSWORD);
    const neighbour = await eventually(async () => {
      const client = connect(made.password);
      await client.set('n', '0');
      return client;
    });
    await redis.mset('k', 'before', 'other', '1');
    await redis.hset('hash', 'a', '1');
    let isDone = false;
    let counted = 0;
    let longestMs = 0;
    const counting = (async () => {
      while (!isDone) {
        const from = performance.now();
        counted += 1;
        expect(await neighbour.incr('n')).to.equal(counted);
        longestMs = Math.max(longestMs, performance.now() - from);
      }
    })();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const script of ENDLESS) {
        const answer = await failureOf(redis.eval(script, 1, 'k', `round ${round}`));
        expect(answer).to.match(/script|timeout|killed|time/i);
        await eventually(async () => expect(await redis.get('k')).to.equal('before'), { timeoutMs: BACK_TIMEOUT_MS });
        expect(await redis.exists('list')).to.equal(0);
        expect(await redis.hgetall('hash')).to.deep.equal({ a: '1' });
      }
      expect(await redis.incr('other')).to.equal(round + 2);
    }
    isDone = true;
    await counting;
    expect(counted).to.be.greaterThan(ROUNDS * ENDLESS.length);
    expect(longestMs, 'the longest that the neighbour waited').to.be.below(LONGEST_SILENCE_MS);
    const verified = await runMillrace(['journal', 'verify', '--database', 'default'], environment);
    expect(verified.code, verified.stdout.toString() + verified.stderr).to.equal(0);
  });
});
