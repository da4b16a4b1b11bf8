/** Proves RQB1–RQB3, PP1, PRO2–PRO4. */
import { expect } from 'chai';
import { ByteBudget, MillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness, WIDE_TOKEN } from '../../support/kv-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const TOO_MANY = 'ERR max daily request limit exceeded';

function tooLarge(limit: number, actual: number) {
  return { error: `ERR max request size exceeded. Limit: ${limit} bytes, Actual: ${actual} bytes` };
}

describe('edge/kv: limits', () => {
  const face = standOfEachTest(() =>
    new KvEndpointHarness({ limits: { maxBodyBytes: 4096, maxBatchCommands: 10 } }).start(),
  );
  beforeEach(async () => {
    face.maxCommandBytes = 100;
  });

  describe('the size of a command', () => {
    it('is accepted up to the limit and refused one byte above it, in every form', async () => {
      const fits = 'x'.repeat(100 - 'setk'.length);
      expect((await face.post('/', ['set', 'k', fits])).text).to.equal('{"result":"OK"}');
      expect((await face.post('/set/k', fits)).text).to.equal('{"result":"OK"}');
      const path = await face.get(`/set/k/${fits}y`);
      expect([path.status, JSON.parse(path.text)]).to.deep.equal([400, tooLarge(100, 101)]);
      const body = await face.post('/', ['set', 'k', `${fits}y`]);
      expect([body.status, JSON.parse(body.text)]).to.deep.equal([400, tooLarge(100, 101)]);
      const argument = await face.post('/set/k', `${fits}y`);
      expect([argument.status, JSON.parse(argument.text)]).to.deep.equal([400, tooLarge(100, 101)]);
    });

    it('is counted for each command of a pipeline, and only a too large one fails', async () => {
      const commands = [
        ['set', 'a', 'x'.repeat(90)],
        ['set', 'b', 'x'.repeat(97)],
        ['set', 'c', 'x'.repeat(90)],
      ];
      const answer = await face.post('/pipeline', commands);
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal([{ result: 'OK' }, tooLarge(100, 101), { result: 'OK' }]);
    });

    it('discards a transaction when one command is too large', async () => {
      const answer = await face.post('/multi-exec', [
        ['set', 'a', '1'],
        ['set', 'b', 'x'.repeat(97)],
      ]);
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([400, tooLarge(100, 101)]);
      expect((await face.get('/exists/a')).text).to.equal('{"result":0}');
    });

    it('limits replies too', async () => {
      await face.get(`/set/a/${'x'.repeat(60)}`);
      const single = await face.get('/mget/a/a');
      expect([single.status, JSON.parse(single.text)]).to.deep.equal([400, tooLarge(100, 120)]);
      const batch = await face.post('/pipeline', [['get', 'a'], ['mget', 'a', 'a'], ['get', 'a'], ['nope']]);
      const items = JSON.parse(batch.text);
      expect([batch.status, items[1]]).to.deep.equal([200, tooLarge(100, 120)]);
      expect([items[0], items[2]]).to.deep.equal([{ result: 'x'.repeat(60) }, { result: 'x'.repeat(60) }]);
      expect(items[3]).to.have.property('error');
    });

    it('has a separate limit for a key', async () => {
      face.maxCommandBytes = 10_000_000;
      const wide = await new KvEndpointHarness().start();
      const key = 'k'.repeat(32 * 1024);
      expect((await wide.post('/', ['set', key, 'v'])).text).to.equal('{"result":"OK"}');
      const answer = await wide.post('/', ['set', `${key}k`, 'v']);
      await wide.stop();
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([
        400,
        { error: 'ERR max key size exceeded. Limit: 32768 bytes, Actual: 32769 bytes' },
      ]);
    });
  });

  describe('the size of a request', () => {
    it('is refused by the announced length, before the body has arrived', async () => {
      const answer = await face.raw(
        'POST /pipeline HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer standard-token\r\nContent-Length: 5000\r\n\r\n[',
        '\r\n\r\n{"error"',
      );
      expect(answer).to.match(/^HTTP\/1\.1 413 /);
      expect(answer).to.include('Content-Type: application/json');
    });

    it('is refused before 100 Continue is sent', async () => {
      const head = 'Host: x\r\nAuthorization: Bearer standard-token\r\nExpect: 100-continue\r\n';
      const refused = await face.raw(`POST /pipeline HTTP/1.1\r\n${head}Content-Length: 5000\r\n\r\n`, '{"error"');
      expect(refused).to.match(/^HTTP\/1\.1 413 /);
      const wanted = await face.raw(`POST /set/k HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\n`, '\r\n\r\n');
      expect(wanted).to.match(/^HTTP\/1\.1 100 Continue/);
    });

    it('is refused at the first byte above the limit of a chunked body, and the connection stays usable', async () => {
      const chunk = `fff\r\n${' '.repeat(0xfff)}\r\n`;
      const answers = await face.raw(
        `POST /pipeline HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer standard-token\r\nTransfer-Encoding: chunked\r\n\r\n` +
          `${chunk.repeat(20)}0\r\n\r\n` +
          'GET /ping HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer standard-token\r\nConnection: close\r\n\r\n',
      );
      expect(answers).to.match(/^HTTP\/1\.1 413 /);
      expect(answers).to.include('{"result":"PONG"}');
    });

    it('is released when the client of a body goes away', async () => {
      const small = await new KvEndpointHarness({ budget: new ByteBudget(80_000) }).start();
      const head = 'Host: x\r\nAuthorization: Bearer standard-token\r\n';
      for (let i = 0; i < 5; i += 1) {
        const answers = await small.raw(
          `GET /ping HTTP/1.1\r\n${head}\r\nPOST /set/a HTTP/1.1\r\n${head}Content-Length: 30000\r\n\r\n${'x'.repeat(25_000)}`,
          'PONG',
        );
        expect(answers).to.include('200 OK');
      }
      await eventually(async () => expect((await small.post('/set/b', 'y'.repeat(30_000))).status).to.equal(200));
      await small.stop();
    });

    it('is bounded by the number of commands in a batch', async () => {
      const commands = Array.from({ length: 11 }, () => ['PING']);
      const answer = await face.post('/pipeline', commands);
      expect([answer.status, answer.text]).to.deep.equal([
        400,
        '{"error":"ERR too many commands in one request. Limit: 10"}',
      ]);
      expect((await face.post('/pipeline', commands.slice(1))).status).to.equal(200);
    });

    it('is bounded for all requests in flight together', async () => {
      const crowded = await new KvEndpointHarness({ budget: new ByteBudget(80_000) }).start();
      try {
        const head = 'Host: x\r\nAuthorization: Bearer standard-token\r\nContent-Length: 30000\r\n\r\n';
        const first = crowded.raw(`POST /set/a HTTP/1.1\r\n${head}${'x'.repeat(29_000)}`, 'never');
        const post = () => crowded.post('/set/b', 'y'.repeat(17_000));
        let answer = await post();
        while (answer.status === 200) answer = await post();
        expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
        await crowded.stop();
        await first;
      } finally {
        await crowded.stop();
      }
    });
  });

  describe('the daily limit', () => {
    it('refuses the first command above it', async () => {
      face.quotaLeft = 1;
      expect((await face.get('/ping')).status).to.equal(200);
      const answer = await face.get('/ping');
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([400, { error: TOO_MANY }]);
    });

    for (const isRemote of [false, true]) {
      it(`lets a pipeline run up to the limit${isRemote ? ', also when a slice has to be asked for' : ''}`, async () => {
        face.isQuotaRemote = isRemote;
        face.quotaLeft = 2;
        const answer = await face.post('/pipeline', [
          ['SET', 'a', '1'],
          ['nope'],
          ['GET', 'a'],
          ['GET', 'a'],
          ['PING'],
        ]);
        expect(answer.status).to.equal(200);
        expect(JSON.parse(answer.text)).to.deep.equal([
          { result: 'OK' },
          { error: "ERR Command is not available: 'NOPE'" },
          { result: '1' },
          { error: TOO_MANY },
          { error: TOO_MANY },
        ]);
        expect(face.quotaLeft).to.equal(0);
      });
    }

    it('discards a transaction that does not fit, and charges no quota for it', async () => {
      face.quotaLeft = 1;
      const answer = await face.post('/multi-exec', [
        ['SET', 'a', '1'],
        ['GET', 'a'],
      ]);
      expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([400, { error: TOO_MANY }]);
      expect(face.quotaLeft).to.equal(1);
      expect((await face.get('/exists/a')).text).to.equal('{"result":0}');
    });

    it('charges no quota for a command that cannot run', async () => {
      face.quotaLeft = 1;
      await face.get('/nope');
      expect(face.quotaLeft).to.equal(1);
    });
  });

  it('the meter counts the executed commands, writes, and bytes in and out', async () => {
    await face.post('/pipeline', [['SET', 'a', '12'], ['GET', 'a'], ['nope']]);
    const [usage] = face.usages;
    expect(usage).to.include({ commands: 2, writes: 1, bytesIn: 'SETa12GETa'.length });
    expect(usage?.bytesOut).to.be.greaterThan(20);
    expect(usage?.durationMs).to.be.at.least(0);
  });
});

describe('edge/kv: failures', () => {
  const face = standOfEachTest(() => new KvEndpointHarness().start());

  it('without effect have Retry-After', async () => {
    for (const code of ['MAILBOX_FULL', 'SHARD_UNAVAILABLE', 'SHUTTING_DOWN', 'STORAGE_FULL', 'NOT_APPLIED'] as const) {
      face.gateway.failures.push(new MillraceError(code, 'detail'));
      const answer = await face.get('/set/a/1');
      expect(answer.status, code).to.equal(503);
      expect(Number(answer.headers['retry-after']), code).to.be.greaterThan(0);
      expect(JSON.parse(answer.text).error, code).to.match(/^ERR /).and.not.include('detail');
    }
  });

  it('of a database that is busy for long name the remedy', async () => {
    face.gateway.failures.push(new MillraceError('TENANT_BUSY', 'detail'));
    const answer = await face.get('/set/a/1');
    expect(answer.status).to.equal(503);
    expect(answer.headers).to.have.property('retry-after', '1');
    expect(JSON.parse(answer.text).error).to.match(/^BUSY .* nothing was executed. .*SCRIPT KILL or CLIENT KILL\.$/);
  });

  it('with an unknown outcome say so, and have no Retry-After', async () => {
    face.gateway.failures.push(new MillraceError('OUTCOME_UNKNOWN', 'detail'));
    const answer = await face.post('/pipeline', [['SET', 'a', '1']]);
    expect(answer.status).to.equal(503);
    expect(answer.text).to.include('outcome=unknown');
    expect(answer.headers).to.not.have.property('retry-after');
  });

  it('of the server itself are 500 with an incident id that is also in the log, without details', async () => {
    face.gateway.failures.push(new TypeError('internal detail'));
    const answer = await face.get('/get/a');
    expect(answer.status).to.equal(500);
    expect(answer.text).to.not.include('detail');
    const incident = /incident=(\S+)"/.exec(answer.text)?.[1];
    const line = face.log.lines.find(({ event }) => event === 'kv.request.failed');
    expect(line?.fields).to.include({ incident });
  });

  it('are JSON also for a client that requested another format', async () => {
    face.gateway.failures.push(new MillraceError('MAILBOX_FULL', 'detail'));
    const answer = await face.get('/get/a', { headers: { 'Svc-Response-Format': 'resp2' } });
    expect(answer.headers['content-type']).to.equal('application/json');
  });

  it('of a quota request are answered as well', async () => {
    const broken = await new KvEndpointHarness({
      quota: { take: () => Promise.reject(new MillraceError('SHARD_UNAVAILABLE', 'no control')) },
    }).start();
    const answer = await broken.get('/get/a');
    await broken.stop();
    expect(answer.status).to.equal(503);
  });
});

describe('edge/kv: a database of several partitions', () => {
  const face = standOfEachTest(() => new KvEndpointHarness().start());
  const options = { token: WIDE_TOKEN };
  const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`);
  beforeEach(async () => {
    await face.post(
      '/pipeline',
      keys.map((key, i) => ['SET', key, i]),
      options,
    );
  });

  it('spreads keys by hash slot and answers a pipeline in its order', async () => {
    const asked = new Set(face.gateway.requests.map(({ partition }) => partition));
    expect(asked.size).to.equal(3);
    const answer = await face.post(
      '/pipeline',
      keys.map((key) => ['GET', key]),
      options,
    );
    expect(JSON.parse(answer.text)).to.deep.equal(keys.map((_, i) => ({ result: String(i) })));
  });

  it('refuses a command with keys in several slots, and supports hash tags', async () => {
    const answer = await face.get('/mget/key-0/key-1', options);
    expect([answer.status, answer.text]).to.deep.equal([
      400,
      `{"error":"CROSSSLOT Keys in request don't hash to the same slot"}`,
    ]);
    expect((await face.get('/mset/%7Bt%7Da/1/%7Bt%7Db/2', options)).text).to.equal('{"result":"OK"}');
    expect((await face.get('/mget/%7Bt%7Da/%7Bt%7Db', options)).text).to.equal('{"result":["1","2"]}');
  });

  it('adds up DBSIZE, collects KEYS, and flushes all partitions', async () => {
    expect((await face.get('/dbsize', options)).text).to.equal('{"result":60}');
    const listed = JSON.parse((await face.get('/keys/key-*', options)).text).result;
    expect(listed.sort()).to.deep.equal([...keys].sort());
    expect(keys).to.include(JSON.parse((await face.get('/randomkey', options)).text).result);
    const batch = await face.post('/pipeline', [['DBSIZE'], ['FLUSHALL'], ['DBSIZE'], ['RANDOMKEY']], options);
    expect(JSON.parse(batch.text).map((item: { result: unknown }) => item.result)).to.deep.equal([60, 'OK', 0, null]);
  });

  it('looks for a script to kill in all partitions', async () => {
    face.gateway.requests.length = 0;
    expect((await face.get('/script/kill', options)).text).to.match(/NOTBUSY/);
    expect(new Set(face.gateway.requests.map(({ partition }) => partition))).to.have.property('size', 3);
  });

  it('scans every key once, through all partitions', async () => {
    const found: string[] = [];
    let cursor = '0';
    do {
      const answer = await face.get(`/scan/${cursor}/count/7`, options);
      const [next, some] = JSON.parse(answer.text).result;
      found.push(...some);
      cursor = next;
    } while (cursor !== '0');
    expect(found.sort()).to.deep.equal([...keys].sort());
  });

  it('runs a transaction within one slot, and discards others', async () => {
    const one = [['SET', '{x}a', '1'], ['INCR', '{x}a'], ['PING']];
    const answer = await face.post('/multi-exec', one, options);
    expect(answer.text).to.equal('[{"result":"OK"},{"result":2},{"result":"PONG"}]');
    for (const commands of [
      [
        ['SET', 'key-0', 'x'],
        ['SET', 'key-1', 'x'],
      ],
      [['FLUSHALL']],
    ]) {
      const refused = await face.post('/multi-exec', commands, options);
      expect([refused.status, refused.text.slice(0, 19)]).to.deep.equal([400, '{"error":"CROSSSLOT']);
    }
    expect((await face.get('/get/key-0', options)).text).to.equal('{"result":"0"}');
  });

  it('changes its sync token with a write to any partition', async () => {
    const tokens = new Set<unknown>();
    for (const key of keys.slice(0, 10)) {
      const answer = await face.get(`/set/${key}/x`, options);
      tokens.add(answer.headers['svc-sync-token']);
    }
    expect(tokens.size).to.equal(10);
  });

  it('answers for the working partitions when one fails, and fails when all do', async () => {
    const lost = new MillraceError('SHARD_UNAVAILABLE', 'gone');
    face.gateway.failing.set('kv:db-wide:1', lost);
    const commands = keys.map((key) => ['GET', key]);
    const answer = await face.post('/pipeline', commands, options);
    const items = JSON.parse(answer.text) as Record<string, string>[];
    expect(answer.status).to.equal(200);
    expect(items.some((item) => item.result !== undefined)).to.equal(true);
    expect(items.find((item) => item.error !== undefined)?.error).to.match(/^ERR database is not available/);
    for (const index of [0, 2]) face.gateway.failing.set(`kv:db-wide:${index}`, lost);
    expect((await face.post('/pipeline', commands, options)).status).to.equal(503);
  });
});
