/**
 * Attacks with the credentials of an ordinary tenant, or with none, on a process at the heap of the image, while a
 * second tenant works. After each of them
 *  - the process lives, the same as before, and says so
 *  - no request of the second tenant has failed; its p99 is printed and not judged, for it tells as much of the machine
 *  - the attacker has got an error, or waits
 *  - what is resident has stayed within what the image's container has for it, and what is held comes back
 */
import { expect } from 'chai';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { AttackStand } from '../support/attack-stand.js';
import { Attacker, type HttpAnswer, type RudeConnection } from '../support/attacker.js';
import { eventually } from '../support/eventually.js';
import { RawDestination } from '../support/raw-destination.js';
import type { RespClient } from '../support/resp-client.js';

const MIB = 1024 * 1024;
/** Requests of the second tenant that are answered during an attack at least: some two seconds of its work. */
const MEANWHILE = 500;
/** Of what is held, above what was held in quiet. The second tenant's messages and their log are in it. */
const MORE_MIB = 64;
/** Of what is resident at any time: what the image's container needs, without the nats-server. */
const PEAK_MIB = 1000;
const GUESS_ADDRESSES = 10;
/** In words, or by ending the connection; that the process has not ended is looked at first. */
const KV_REFUSALS = /ERR|OOM|BUSY|closed/;

describe('an attack on a process of 512 MB', function () {
  this.timeout(120_000);
  let stand: AttackStand;
  let attacker: Attacker;
  let quietMib: number;
  let silent: RawDestination;
  /** By an attack that it did not stand, so that the next one shows its own harm. */
  let isSpoilt = false;

  before(async () => {
    silent = await RawDestination.listening(() => undefined);
    stand = await AttackStand.start();
    await stand.steady.start();
    await stand.steady.goesOn(2 * MEANWHILE);
    quietMib = await stand.heldMib();
    await tell('in quiet');
  });
  beforeEach(async () => {
    if (isSpoilt) {
      await stand.steady.pause();
      await stand.startAgain();
      await stand.steady.start();
      isSpoilt = false;
    }
    await stand.steady.goesOn(MEANWHILE / 5);
    await stand.peakMib();
    stand.steady.report();
    attacker = new Attacker(stand);
  });
  afterEach(function () {
    attacker?.close();
    isSpoilt = this.currentTest?.state === 'failed';
  });
  after(async () => {
    await silent?.close();
    await stand?.stop();
  });

  async function tell(when: string) {
    const report = stand.steady.report();
    const { answered, failed, p50Ms, p99Ms } = report;
    const peakMib = await stand.peakMib();
    console.log(
      `      second tenant ${when}: ${answered} answered, ${failed} failed, p50 ${p50Ms} ms, p99 ${p99Ms} ms; ${peakMib} MiB`,
    );
    return { ...report, peakMib };
  }

  /** @param run resolves once the attacker has done what it can @param undo what its owner would do then */
  function attack(title: string, run: () => Promise<void>, undo: () => Promise<unknown> = async () => undefined): void {
    it(title, async () => {
      const failure = await run().catch((error: Error) => error);
      await stand.steady.goesOn(MEANWHILE);
      const report = await tell('meanwhile');
      expect(stand.hasEnded, `the process has ended: ${stand.lastWords()}`).to.equal(false);
      expect((await fetch(`${stand.addresses.metrics}/livez`)).status).to.equal(200);
      expect(report.failures).to.deep.equal([]);
      if (failure instanceof Error) throw failure;
      expect(report.peakMib, 'MiB at most').to.be.below(PEAK_MIB);
      await undo();
      attacker.close();
      await eventually(async () => expect(await stand.heldMib(), 'MiB afterwards').to.be.below(quietMib + MORE_MIB), {
        everyMs: 500,
      });
    });
  }

  /** One after the other until one is refused. @returns the refusal */
  async function untilRefused(client: RespClient, most: number, words: (at: number) => string[]): Promise<string> {
    for (let at = 0; at < most; at += 1) {
      const reply = await client.call(words(at)).catch((error: Error) => `-${error.message}`);
      if (reply.startsWith('-')) return reply;
    }
    throw new Error(`${most} of them were taken`);
  }

  const emptied = () => attacker.rest(['FLUSHALL']);

  attack(
    'of pipelines of 1,000 GETs of a megabyte, which are never read',
    async () => {
      expect((await attacker.rest(['SET', 'large', 'x'.repeat(MIB)])).status).to.equal(200);
      const pipeline = encodeCommand(['GET', 'large']).repeat(1000);
      for (let i = 0; i < 6; i += 1) {
        const connection = await attacker.rudeResp();
        connection.stopReading();
        void connection.say(pipeline);
      }
      await stand.steady.goesOn(MEANWHILE);
    },
    emptied,
  );

  attack(
    'of the same over REST, by thirty at once',
    async () => {
      expect((await attacker.rest(['SET', 'large', 'x'.repeat(MIB)])).status).to.equal(200);
      const body = JSON.stringify(Array.from({ length: 1000 }, () => ['GET', 'large']));
      const head = `POST /pipeline HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.credentials.readOnlyToken}\r\n`;
      for (let i = 0; i < 30; i += 1) {
        const connection = await attacker.rude('kv');
        connection.stopReading();
        void connection.say(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      }
      await stand.steady.goesOn(MEANWHILE);
    },
    emptied,
  );

  attack(
    'of SETs of 500 KB, until they are refused',
    async () => {
      const value = 'x'.repeat(500_000);
      const client = await attacker.resp();
      const refusal = await untilRefused(client, 2000, (at) => ['SET', `key:${at}`, value]);
      expect(refusal).to.match(/^-OOM /);
    },
    emptied,
  );

  attack('of WATCHes of names of a megabyte', async () => {
    const client = await attacker.resp();
    const refusal = await untilRefused(client, 1000, (at) => ['WATCH', `${at}`.padEnd(MIB - 10, 'x')]);
    expect(refusal).to.match(KV_REFUSALS);
  });

  attack('of SUBSCRIBEs to names of a megabyte', async () => {
    const client = await attacker.resp();
    const refusal = await untilRefused(client, 1000, (at) => ['SUBSCRIBE', `${at}`.padEnd(MIB - 10, 'x')]);
    expect(refusal).to.match(KV_REFUSALS);
  });

  attack('of transactions of 60 MB on 30 connections', async () => {
    const piece = encodeCommand(['SET', 'k', 'x'.repeat(6 * MIB)]);
    const connections = await Promise.all(Array.from({ length: 30 }, () => attacker.rudeResp()));
    const said = connections.map(async (connection) => {
      await connection.say(encodeCommand(['MULTI']));
      for (let i = 0; i < 10 && !connection.isClosed; i += 1) await connection.say(piece);
    });
    const isAllTaken = Promise.all(said).then(() =>
      connections.every(({ heardLast }) => /QUEUED\r\n$/.test(heardLast)),
    );
    // Some may wait for ever, which is as good as an error.
    const goesOn = stand.steady.goesOn(2 * MEANWHILE).then(() => false);
    expect(await Promise.race([isAllTaken, goesOn]), 'all of it is taken').to.equal(false);
  });

  attack('of 300 values that never end', async () => {
    const begun = '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9000000\r\n';
    const half = Buffer.alloc(3 * MIB, 'x');
    for (let i = 0; i < 300; i += 1) {
      const connection = await attacker.rudeResp();
      await connection.say(begun);
      void connection.say(half);
    }
    await stand.steady.goesOn(MEANWHILE);
  });

  attack(
    'of SINTERs of a thousand sources with the token that only reads',
    async () => {
      const members = Array.from({ length: 10_000 }, (_, at) => `member:${at}`);
      expect((await attacker.rest(['SADD', 'set', ...members])).status).to.equal(200);
      const words = ['SINTER', ...Array.from({ length: 1000 }, () => 'set')];
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => attacker.rest(words, attacker.credentials.readOnlyToken)),
      );
      for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 400, 429, 503]);
    },
    emptied,
  );

  attack(
    'of the longest commands there are',
    async () => {
      const members = Array.from({ length: 20_000 }, (_, at) => `member:${at}`);
      const scored = members.flatMap((member, at) => [at, member]);
      const document = JSON.stringify({ a: members.map((member) => ({ b: member })) });
      const prepared = [
        ['ZADD', 'zset', ...scored],
        ['RPUSH', 'list', ...members],
        ['SETRANGE', 'bits', 9 * MIB, 'x'],
        ['JSON.SET', 'document', '$', document],
      ];
      for (const words of prepared) expect((await attacker.rest(words)).status, String(words[0])).to.equal(200);
      const many = (count: number, word: string) => Array.from({ length: count }, () => word);
      const long = [
        ['ZUNIONSTORE', 'union', 200, ...many(200, 'zset')],
        ['BITOP', 'XOR', 'result', ...many(50, 'bits')],
        ['SORT', 'list', 'BY', 'no:*', ...many(1000, 'GET').flatMap((word) => [word, 'key:*'])],
        ['JSON.GET', 'document', ...many(200, '$..b')],
        ['MGET', ...many(50_000, 'bits')],
      ];
      const answers = await Promise.all(long.map((words) => attacker.rest(words)));
      for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 400, 429, 503]);
      expect(answers.filter(({ text }) => text.includes('answer too large'))).to.have.length.at.least(2);
    },
    emptied,
  );

  attack('of scripts that never end, and that grow, also where they cannot be interrupted', async () => {
    const endless = 'while true do end';
    const growing = "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end";
    for (const body of [endless, growing]) {
      for (const script of [body, `pcall(function() ${body} end)`, `while true do pcall(function() ${body} end) end`]) {
        const client = await attacker.resp();
        const answer = client.call(['EVAL', script, '0']);
        let isAnswered = false;
        void answer.then(() => {
          isAnswered = true;
        });
        await eventually(async () => {
          if (!isAnswered) await attacker.rest(['SCRIPT', 'KILL']);
          expect(isAnswered, script).to.equal(true);
        });
        expect(await answer).to.match(/^-ERR .*(stopped|memory)/);
      }
    }
  });

  attack('of 4,000 connections that are silent, and then talk all at once', async () => {
    const connections: RudeConnection[] = [];
    for (let i = 0; i < 4000; i += 1) connections.push(await attacker.rudeResp());
    await stand.steady.goesOn(MEANWHILE / 5);
    await Promise.all(connections.map((connection) => connection.say(encodeCommand(['PING']).repeat(10))));
    await eventually(() => {
      for (const connection of connections) expect(connection.heard).to.match(/^\+OK\r\n(\+PONG\r\n){10}$/);
    });
  });

  attack('of 2,000 subscribers that do not read what somebody publishes', async () => {
    for (let i = 0; i < 2000; i += 1) {
      const connection = await attacker.rudeResp();
      await connection.say(encodeCommand(['SUBSCRIBE', 'news']));
      connection.stopReading();
    }
    const client = await attacker.resp();
    const message = 'x'.repeat(64 * 1024);
    for (let i = 0; i < 100; i += 1) {
      // Its own tenant's subscribers may cost it its connection.
      const reply = await client.call(['PUBLISH', 'news', message]).catch((error: Error) => `-${error.message}`);
      if (reply.startsWith('-')) {
        expect(reply).to.match(KV_REFUSALS);
        break;
      }
      expect(reply).to.match(/^:\d+\r\n$/);
    }
  });

  attack(
    'of a flood of messages to a host that never answers',
    async () => {
      const authorization = `Bearer ${attacker.credentials.queueToken}`;
      const body = 'x'.repeat(20_000);
      const batch = JSON.stringify(Array.from({ length: 100 }, () => ({ destination: silent.url(), body })));
      let answer: HttpAnswer | undefined;
      for (let i = 0; i < 40; i += 1) {
        answer = await attacker.http('queue', '/v2/batch', authorization, batch);
        expect(answer.status, answer.text).to.be.oneOf([200, 429, 503]);
        if (answer.status !== 200) break;
      }
    },
    () => attacker.http('queue', '/v2/messages', `Bearer ${attacker.credentials.queueToken}`, undefined, 'DELETE'),
  );

  attack('of 10,000 wrong passwords', async () => {
    const guess = (at: number) => attacker.http('kv', '/get/a', `Bearer guess-${at}`, undefined, 'GET');
    for (let at = 0; at < 9000; at += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => guess(at + i)));
      for (const { status } of answers) expect(status).to.be.oneOf([401, 429]);
    }
    for (let at = 0; at < GUESS_ADDRESSES; at += 1) {
      const connection = await attacker.rude('resp');
      void connection.say(encodeCommand(['AUTH', 'a-guess']).repeat(100));
      await eventually(() => expect(connection.isClosed).to.equal(true));
      expect(connection.heard).to.match(/^-(WRONGPASS|ERR too many failed sign-ins)/);
    }
  });

  attack('of bodies of 64 MiB from somebody without credentials', async () => {
    const piece = Buffer.alloc(MIB, 'x');
    const places = { kv: '/', queue: '/v2/batch', mgmt: '/v2/kv/database' };
    const sent = Object.entries(places).flatMap(([face, path]) =>
      Array.from({ length: 20 }, async () => {
        const connection = await attacker.rude(face);
        void connection.say(`POST ${path} HTTP/1.1\r\nHost: one\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
        for (let i = 0; i < 64 && !connection.isClosed; i += 1) await connection.say(piece);
        await eventually(() => expect(connection.isClosed).to.equal(true));
        expect(connection.heard).to.match(/^HTTP\/1\.1 401 /);
      }),
    );
    await Promise.all(sent);
  });

  it('has lost nothing that the second tenant published', async () => {
    await stand.steady.pause();
    await eventually(() => {
      const arrived = new Set(stand.sink.calls('/steady').map(({ body }) => body));
      expect([...stand.steady.published].filter((body) => !arrived.has(body))).to.deep.equal([]);
    });
  });
});
