/**
 * Published clients use `make run` on the first Node.js of the PATH. After a kill -9 they read all acknowledged writes,
 * and a delayed message is delivered. `make test-node-24` runs this test on another release.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client, Receiver } from '@upstash/qstash';
import { Redis } from '@upstash/redis';
import { expect } from 'chai';
import { Redis as IoRedis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { WIRE_ALIAS } from '../support/millrace-clients.js';
import {
  addressesOf,
  type Environment,
  embeddedEnvironment,
  endEverything,
  PASSWORD,
  TOKEN,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from '../support/queue-process.js';
import { QueueSink, type SinkCall } from '../support/queue-sink.js';

/** The names under which `make` hands its own options to another `make`. */
const OF_MAKE = /^(MAKE|MFLAGS)/;

describe(`make run on Node.js ${process.version} with published clients`, function () {
  this.timeout(300_000);
  let env: Environment;
  let make: ChildProcess;
  let sink: QueueSink;
  let rest: Redis;
  let native: IoRedis;
  let queue: Client;

  async function run(): Promise<void> {
    make = spawn('make', ['--no-print-directory', 'run'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const printed: string[] = [];
    make.stderr?.on('data', (piece) => printed.push(String(piece)));
    const line = await new Promise<string>((ready, failed) => {
      createInterface(make.stdout as Readable).on('line', (one) =>
        one.startsWith('ready ') ? ready(one) : printed.push(one),
      );
      make.once('exit', () => failed(new Error(`make run ended before its ready line:\n${printed.join('\n')}`)));
    });
    const { kv, resp, queue: baseUrl } = addressesOf(line) as { kv: string; resp: string; queue: string };
    rest = new Redis({ url: kv, token: TOKEN });
    native = new IoRedis({ port: Number(new URL(resp).port), host: '127.0.0.1', password: PASSWORD });
    native.on('error', () => undefined);
    queue = new Client({ baseUrl, token: QUEUE_TOKEN });
    await eventually(() => queue.queue({ queueName: 'any' }).list());
  }

  /** SIGKILL for the group: make, its shell, the process and the nats-server. */
  async function kill(): Promise<void> {
    native?.disconnect();
    if (make?.pid === undefined || make.exitCode !== null || make.signalCode !== null) return;
    const ended = once(make, 'exit');
    process.kill(-make.pid, 'SIGKILL');
    await ended;
  }

  async function delivered(path: string): Promise<string> {
    const [call] = await eventually(() => {
      expect(sink.calls(path)).to.have.length.above(0);
      return sink.calls(path);
    });
    const { body, headers } = call as SinkCall;
    const receiver = new Receiver({ currentSigningKey: SIGNING_KEYS.current, nextSigningKey: SIGNING_KEYS.next });
    expect(await receiver.verify({ signature: headers['upstash-signature'] as string, body })).to.equal(true);
    return body;
  }

  before(async () => {
    sink = await QueueSink.listening();
    const outside = Object.entries(process.env).filter(
      ([name]) => !OF_MAKE.test(name) && !name.startsWith('MILLRACE_'),
    );
    env = {
      ...(Object.fromEntries(outside) as Environment),
      ...(await embeddedEnvironment(await temporaryDirectory())),
      ...WIRE_ALIAS,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      MILLRACE_RESP_PORT: String(await freePort()),
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
    };
    await run();
  });
  after(async () => {
    await kill();
    await sink.close();
    await endEverything();
  });

  it('sets and gets values over REST and over RESP', async () => {
    expect(await rest.set('from-rest', { a: [1, 'ü'] })).to.equal('OK');
    expect(await native.set('from-resp', 'x'.repeat(100_000))).to.equal('OK');
    expect(await native.get('from-rest')).to.equal('{"a":[1,"ü"]}');
    expect(await rest.get('from-resp')).to.equal('x'.repeat(100_000));
    expect(await native.eval("return redis.call('incrby', KEYS[1], 41) + 1", 1, 'counter')).to.equal(42);
    expect(await native.call('JSON.SET', 'document', '$', '{"n":[1,2]}')).to.equal('OK');
  });

  it('delivers a published message with a signature', async () => {
    const path = sink.path('published');
    await queue.publish({ url: sink.url(path), body: 'hello' });
    expect(await delivered(path)).to.equal('hello');
  });

  it('has all acknowledged writes after a kill -9, and delivers the message that was due', async () => {
    const path = sink.path('after-the-kill');
    const { messageId } = await queue.publish({ url: sink.url(path), body: 'later', delay: 2 });
    expect(messageId).to.match(/^msg_/);
    expect(await rest.set('last', 'before the kill')).to.equal('OK');
    await kill();
    await run();
    expect(await rest.get('last')).to.equal('before the kill');
    expect(await rest.get('from-rest')).to.deep.equal({ a: [1, 'ü'] });
    expect(await native.get('from-resp')).to.equal('x'.repeat(100_000));
    expect(await native.get('counter')).to.equal('41');
    expect(await native.call('JSON.GET', 'document', '$.n[1]')).to.equal('[2]');
    expect(await delivered(path)).to.equal('later');
    expect(await native.incr('counter')).to.equal(42);
  });
});
