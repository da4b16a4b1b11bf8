/** Proves KAR1, EX1, LP1–LP3, PP2, POR1, POR2. */
import { expect } from 'chai';
import { COMMANDS_OF_LATER_PORTIONS } from '../../../src/edge/commands/command-limits.js';
import { LEAST_PORTION_BYTES } from '../../../src/edge/kv/kv-limits.js';
import { ByteBudget, MillraceError } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness, TOKEN, WIDE_TOKEN } from '../../support/kv-endpoint.js';
import { type Element, SlowReader, type SlowReaderOptions } from '../../support/slow-reader.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const VALUE_BYTES = 64 * KIB;
const PORTION_BYTES = MIB;
/** 25 MB of answers: more than the socket buffers of both ends hold. */
const COMMANDS = 400;

describe('edge/kv: the answer of a long pipeline', () => {
  let budget: ByteBudget;
  let face: KvEndpointHarness;
  let version: number;
  let changed: Partial<KvGrant> | undefined;
  let isRevoked: boolean;
  const slow: SlowReader[] = [];

  beforeEach(() => start());
  async function start(maxRoomWaitMs = 5_000): Promise<void> {
    budget = new ByteBudget(64 * MIB);
    version = 1;
    changed = undefined;
    isRevoked = false;
    face = new KvEndpointHarness({
      budget,
      limits: { answerPortionBytes: PORTION_BYTES, maxRoomWaitMs },
      access: {
        grantFor: (token) => (isRevoked ? undefined : grantOf(token)),
        get version() {
          return version;
        },
      },
    });
    await face.start();
  }
  afterEach(async () => {
    for (const reader of slow.splice(0)) reader.leave();
    await face.stop();
  });

  function grantOf(token: string): KvGrant | undefined {
    const partitions = token === WIDE_TOKEN ? [0, 1, 2] : [0];
    const database = token === WIDE_TOKEN ? 'db-wide' : 'db-test';
    return {
      database,
      partitions: partitions.map((index) => `kv:${database}:${index}`),
      limits: { maxCommandBytes: 10 * MIB, maxRequestsPerDay: 0 },
      role: 'standard',
      user: 'default',
      ...changed,
    } as KvGrant;
  }

  const valueAt = (i: number) => `${i}:`.padEnd(VALUE_BYTES, 'x');
  const gets = (count: number) => Array.from({ length: count }, (_, i) => ['GET', `k${i % 10}`]);
  const expected = (count: number) => Array.from({ length: count }, (_, i) => ({ result: valueAt(i % 10) }));
  const ran = () => face.gateway.requests.length;

  async function fill(token = TOKEN): Promise<void> {
    for (let i = 0; i < 10; i += 1) await face.post(`/set/k${i}`, valueAt(i), { token });
    face.gateway.requests.length = 0;
    face.usages.length = 0;
  }

  async function reading(commands: unknown[], options: SlowReaderOptions = { token: TOKEN }): Promise<SlowReader> {
    const reader = await SlowReader.of(face.port, commands, options);
    slow.push(reader);
    return reader;
  }

  /** Waits until the client has stopped reading and the socket buffers for it are full. */
  async function untilItWaits(): Promise<void> {
    let before = -1;
    await eventually(
      () => {
        const now = ran();
        const isStill = now === before;
        before = now;
        expect(isStill, 'asks no more').to.equal(true);
        expect(now).to.be.above(1);
      },
      { everyMs: 100 },
    );
  }

  it('is made at the speed of its reader, is complete and in order, and holds at most two portions in memory', async () => {
    await fill();
    face.quotaLeft = COMMANDS;
    const reader = await reading(gets(COMMANDS));
    let mostBytes = 0;
    while (!reader.isWhole) {
      await reader.read(MIB);
      mostBytes = Math.max(mostBytes, budget.usedBytes);
    }
    expect(JSON.parse(reader.text)).to.deep.equal(expected(COMMANDS));
    expect(mostBytes).to.be.within(PORTION_BYTES / 2, 2 * PORTION_BYTES);
    expect(ran()).to.be.above(20);
    // Each was taken from the quota, and counted, once.
    expect(face.quotaLeft).to.equal(0);
    expect(face.usages.reduce((sum, { commands }) => sum + commands, 0)).to.equal(COMMANDS);
    expect(face.usages.reduce((sum, { bytesIn }) => sum + bytesIn, 0)).to.equal(COMMANDS * 5);
    expect(face.usages.reduce((sum, { bytesOut }) => sum + bytesOut, 0)).to.equal(reader.text.length - ']'.length);
    await eventually(() => expect(budget.usedBytes).to.equal(0));
  });

  it('is the same text in pieces, with the headers of the first portion', async () => {
    await fill();
    const answer = await face.post('/pipeline', [['SET', 'first', '1'], ...gets(40), ['SET', 'last', '1']]);
    expect(JSON.parse(answer.text)).to.deep.equal([{ result: 'OK' }, ...expected(40), { result: 'OK' }]);
    expect([answer.status, answer.headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(answer.headers['transfer-encoding']).to.equal('chunked');
    const tokenOf = async () => (await face.get('/ping')).headers['svc-sync-token'];
    expect(answer.headers['svc-sync-token']).to.equal('11-0');
    expect(await tokenOf(), 'the write behind it').to.equal('12-0');
  });

  it('is in base64 or in RESP2 on request', async () => {
    await fill();
    const base64 = await face.post('/pipeline', gets(40), { headers: { 'Svc-Encoding': 'base64' } });
    const texts = (JSON.parse(base64.text) as { result: string }[]).map(({ result }) => Buffer.from(result, 'base64'));
    expect(texts.map(String)).to.deep.equal(expected(40).map(({ result }) => result));
    const headers = { 'Svc-Response-Format': 'resp2' };
    const resp2 = await face.post('/pipeline', [...gets(40), ['NOSUCH'], ['SET', 'k', 'ü'], ['GET', 'k']], { headers });
    expect(resp2.headers['content-type']).to.equal('application/octet-stream');
    const bulks = expected(40).map(({ result }) => `$${VALUE_BYTES}\r\n${result}\r\n`);
    expect(resp2.text).to.equal(`${bulks.join('')}-ERR Command is not available: 'NOSUCH'\r\n+OK\r\n$2\r\nü\r\n`);
  });

  it('has the errors of refused commands in their places', async () => {
    await fill();
    const commands = [['NOSUCH'], ...gets(30), ['NOSUCH'], ['GET'], ...gets(30), ['NOSUCH']];
    const elements = JSON.parse((await face.post('/pipeline', commands)).text) as Element[];
    expect(elements).to.have.length(commands.length);
    expect(elements.flatMap(({ error }, at) => (error === undefined ? [] : [at]))).to.deep.equal([0, 31, 32, 63]);
    expect(elements.slice(33, 63)).to.deep.equal(expected(30));
  });

  it('of a database of several partitions is made in portions, too', async () => {
    await fill(WIDE_TOKEN);
    const commands = [...gets(COMMANDS), ['DBSIZE'], ['MGET', 'k1', 'k2'], ['SET', 'k1', 'new'], ['GET', 'k1']];
    const reader = await reading(commands, { token: WIDE_TOKEN });
    let mostBytes = 0;
    while (!reader.isWhole) {
      await reader.read(MIB);
      mostBytes = Math.max(mostBytes, budget.usedBytes);
    }
    const elements = JSON.parse(reader.text) as Element[];
    expect(elements.slice(0, COMMANDS)).to.deep.equal(expected(COMMANDS));
    expect(elements.slice(COMMANDS)).to.deep.equal([
      { result: 10 },
      { error: "CROSSSLOT Keys in request don't hash to the same slot" },
      { result: 'OK' },
      { result: 'new' },
    ]);
    expect(mostBytes).to.be.below(3 * PORTION_BYTES);
  });

  it('is requested a thousand commands at a time after the first portion', async () => {
    await fill();
    const small = Array.from({ length: 2_500 }, () => ['PING']);
    const answer = await face.post('/pipeline', [...gets(30), ...small]);
    expect(JSON.parse(answer.text)).to.deep.equal([...expected(30), ...small.map(() => ({ result: 'PONG' }))]);
    const asked = face.gateway.requests.map(({ commands }) => commands.length);
    expect(asked).to.deep.equal([2_530, COMMANDS_OF_LATER_PORTIONS, COMMANDS_OF_LATER_PORTIONS, 2_530 - 17 - 2_000]);
  });

  it('is not continued before the previous portion is read: later commands wait', async () => {
    await fill();
    const reader = await reading([...gets(COMMANDS), ['SET', 'behind', '1']]);
    await untilItWaits();
    expect((await face.get('/get/behind')).text).to.equal('{"result":null}');
    // A pipeline is not atomic: it sees writes of others during its run.
    await face.post('/set/k9', 'new');
    const elements = await reader.readAll();
    expect(elements.at(-1)).to.deep.equal({ result: 'OK' });
    expect(elements.at(-2)).to.deep.equal({ result: 'new' });
    expect((await face.get('/get/behind')).text).to.equal('{"result":"1"}');
  });

  it('is not continued when its client has gone', async () => {
    await fill();
    const reader = await reading([...gets(COMMANDS), ['SET', 'behind', '1']]);
    await untilItWaits();
    const before = ran();
    reader.leave();
    await eventually(() => expect(budget.usedBytes).to.equal(0));
    expect((await face.get('/get/behind')).text).to.equal('{"result":null}');
    expect(ran()).to.equal(before + 1);
    expect(face.usages.reduce((sum, { commands }) => sum + commands, 0)).to.be.below(COMMANDS);
  });

  it('ends with an error for each command that its partition no longer answered', async () => {
    await fill();
    const reader = await reading([...gets(COMMANDS), ['SET', 'behind', '1'], ['NOSUCH']]);
    await untilItWaits();
    face.gateway.failures.push(new MillraceError('SHARD_UNAVAILABLE', 'no owner'));
    const elements = await reader.readAll();
    expect(elements).to.have.length(COMMANDS + 2);
    const failed = elements.findIndex(({ error }) => error !== undefined);
    expect(elements.slice(0, failed)).to.deep.equal(expected(failed));
    const refusal = { error: 'ERR database is not available right now, nothing was executed' };
    const notRun = elements.slice(failed, COMMANDS + 1);
    expect(notRun).to.deep.equal(notRun.map(() => refusal));
    expect(elements.at(-1)).to.deep.equal({ error: "ERR Command is not available: 'NOSUCH'" });
    expect((await face.get('/get/behind')).text).to.equal('{"result":null}');
  });

  it('of several partitions has errors only for the commands of the failed one', async () => {
    await fill(WIDE_TOKEN);
    const reader = await reading(gets(COMMANDS), { token: WIDE_TOKEN });
    await untilItWaits();
    face.gateway.failing.set('kv:db-wide:1', new MillraceError('SHARD_UNAVAILABLE', 'no owner'));
    const elements = await reader.readAll();
    expect(elements).to.have.length(COMMANDS);
    const keysThatFailed = new Set(elements.flatMap(({ error }, i) => (error === undefined ? [] : [i % 10])));
    expect(keysThatFailed.size).to.be.within(1, 9);
    const ofOthers = elements.map((element, i) => ({ element, key: i % 10 }));
    for (const { element, key } of ofOthers)
      if (!keysThatFailed.has(key)) expect(element).to.deep.equal({ result: valueAt(key) });
  });

  it('is not continued for a token that was revoked', async () => {
    await fill();
    const reader = await reading([...gets(COMMANDS), ['SET', 'behind', '1']]);
    await untilItWaits();
    isRevoked = true;
    version += 1;
    const elements = await reader.readAll();
    expect(elements).to.have.length(COMMANDS + 1);
    expect(elements.at(-1)).to.deep.equal({ error: 'WRONGPASS invalid or missing auth token' });
    isRevoked = false;
    expect((await face.get('/get/behind')).text).to.equal('{"result":null}');
  });

  it('is not continued for a user without the right to the rest', async () => {
    await fill();
    const reader = await reading([...gets(COMMANDS), ['SET', 'behind', '1']]);
    await untilItWaits();
    changed = { role: 'read-only', user: 'default_ro' };
    version += 1;
    const elements = await reader.readAll();
    expect(elements).to.have.length(COMMANDS + 1);
    expect(elements.at(-1)?.error).to.match(/^NOPERM /);
    changed = undefined;
    expect((await face.get('/get/behind')).text).to.equal('{"result":null}');
  });

  it('ends with errors when there is no memory for the next portion for too long', async () => {
    await face.stop();
    await start(50);
    await fill();
    const reader = await reading(gets(COMMANDS));
    await untilItWaits();
    const hold = budget.hold('db-test');
    hold.force(40 * MIB);
    const elements = await reader.readAll();
    hold.release();
    expect(elements).to.have.length(COMMANDS);
    expect(elements.at(-1)).to.deep.equal({ error: 'ERR server is busy, nothing was executed' });
  });

  it('continues when there is memory again in time', async () => {
    await fill();
    const reader = await reading(gets(COMMANDS));
    await untilItWaits();
    const hold = budget.hold('db-test');
    hold.force(40 * MIB);
    const whole = reader.readAll();
    const before = ran();
    setTimeout(() => hold.release(), 20);
    expect(await whole).to.deep.equal(expected(COMMANDS));
    expect(ran()).to.be.above(before);
  });

  it('reserves memory before it is made: many concurrent ones have smaller portions, and leave memory for others', async () => {
    await fill();
    let open: () => void = () => undefined;
    face.gateway.gate = new Promise((resolve) => {
      open = resolve;
    });
    const answers = Array.from({ length: 60 }, () => face.post('/pipeline', gets(6)));
    await eventually(() => expect(ran()).to.equal(60));
    const portions = face.gateway.requests.map(({ maxAnswerBytes = 0 }) => maxAnswerBytes);
    expect(portions[0]).to.equal(PORTION_BYTES);
    expect(Math.min(...portions)).to.equal(LEAST_PORTION_BYTES);
    expect(budget.usedBytes).to.be.below(32 * MIB);
    expect(budget.hasRoom('db-test')).to.equal(true);
    open();
    face.gateway.gate = undefined;
    for (const { text } of await Promise.all(answers)) expect(JSON.parse(text)).to.deep.equal(expected(6));
    await eventually(() => expect(budget.usedBytes).to.equal(0));
  });

  it('holds few uncounted bytes when memory is short, for any number of clients that do not read', async () => {
    await fill();
    const others = budget.hold('db-test');
    others.force(32 * MIB - 500 * KIB);
    for (let i = 0; i < 3; i += 1) await reading(gets(COMMANDS));
    await untilItWaits();
    const portions = face.gateway.requests.map(({ maxAnswerBytes = 0 }) => maxAnswerBytes);
    expect(Math.max(...portions)).to.equal(LEAST_PORTION_BYTES);
    const unread = budget.usedBytes - others.bytes;
    // A portion ends with the value that is beyond it.
    expect(unread).to.be.within(3 * LEAST_PORTION_BYTES, 3 * (LEAST_PORTION_BYTES + VALUE_BYTES));
    others.release();
  });

  it('is the error of the request when the first portion fails', async () => {
    await fill();
    face.gateway.failures.push(new MillraceError('SHARD_UNAVAILABLE', 'no owner'));
    const answer = await face.post('/pipeline', gets(COMMANDS));
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    expect(budget.usedBytes).to.be.below(100 * KIB);
    await eventually(() => expect(budget.usedBytes).to.equal(0));
  });
});
