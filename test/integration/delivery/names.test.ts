/**
 * Names of destinations, resolved over a real name server on loopback: lifetimes, denials, silent servers, and the effect of
 * dead names on calls to other names.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type HttpOutOptions,
  resolverOfThisMachine,
  SocketHttpOut,
} from '../../../src/adapters/http-delivery/index.js';
import type { CallOutcome } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { type AnswerFor, addressesFor, NameServer, soa } from '../../support/name-server.js';
import { RawDestination } from '../../support/raw-destination.js';

/** The connection closes after the call, so that each call makes a new lookup. */
const OK_AND_CLOSE = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';
const NO_FILE = '/nonexistent';

/** Counts the sockets of c-ares too, which Node's list of active resources leaves out. */
function udpSocketsOfThisProcess(): number {
  const udp = ['/proc/net/udp', '/proc/net/udp6'].map((path) => readFileSync(path, 'utf8')).join('');
  const inodes = new Set(udp.split('\n').map((line) => line.trim().split(/\s+/)[9]));
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? '');
    } catch {
      return false; // The descriptor of this very listing.
    }
  }).length;
}

describe('name lookup of destinations', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let destination: RawDestination;
  let socketsOfOthers = 0;
  before(() => {
    socketsOfOthers = udpSocketsOfThisProcess();
  });
  beforeEach(async () => {
    destination = await RawDestination.listening((socket) => socket.end(OK_AND_CLOSE));
    closing.push(() => destination.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function nameServer(answerFor: AnswerFor): Promise<NameServer> {
    const server = await NameServer.listening(answerFor);
    closing.push(() => server.close());
    return server;
  }

  function caller(servers: readonly NameServer[], options: Partial<HttpOutOptions> = {}) {
    const resolve = resolverOfThisMachine({
      servers: servers.map(({ address }) => address),
      hostsFile: NO_FILE,
      configFile: NO_FILE,
    });
    return callerBy(resolve, options);
  }

  function callerBy(resolve: NonNullable<HttpOutOptions['resolve']>, options: Partial<HttpOutOptions> = {}) {
    const out = new SocketHttpOut({ allowPrivate: true, allow: [], resolve, ...options });
    closing.push(() => out.close());
    return (name: string, timeoutMs = 30_000): Promise<CallOutcome> =>
      out.send({
        url: destination.url('/', name),
        method: 'POST',
        headers: [],
        body: Buffer.from('b'),
        timeoutMs,
        maxResponseBytes: 1000,
        signal: new AbortController().signal,
      });
  }

  const wordsOf = (outcome: CallOutcome) =>
    outcome.kind === 'response'
      ? Buffer.from(outcome.body).toString()
      : outcome.kind === 'no-response'
        ? outcome.error
        : outcome.kind;
  const here = (ttl?: number) => (question: Parameters<AnswerFor>[0]) => addressesFor(question, ['127.0.0.1'], ttl);

  it('asks for both address families in parallel, and again when the records have expired', async () => {
    const server = await nameServer(here(1));
    const call = caller([server]);
    expect(wordsOf(await call('a.example'))).to.equal('ok');
    expect(server.asked.sort()).to.deep.equal(['A a.example', 'AAAA a.example']);
    await eventually(async () => {
      expect(wordsOf(await call('a.example'))).to.equal('ok');
      expect(server.timesAsked('a.example')).to.equal(2);
    });
    // A name is looked up once a second at most, however many calls use it.
    expect(destination.connections).to.be.above(2);
  });

  it('does not ask again before the records expire', async () => {
    const server = await nameServer(here(60));
    const call = caller([server]);
    for (let n = 0; n < 5; n += 1) expect(wordsOf(await call('a.example'))).to.equal('ok');
    expect(destination.connections).to.equal(5);
    expect(server.timesAsked('a.example')).to.equal(1);
  });

  it('uses the shortest TTL of the records that lead to an address', async () => {
    const server = await nameServer(({ type, name }) => ({
      answers: [
        { type: 'CNAME', name, ttl: 1, data: 'B.example' },
        { type: 'CNAME', name: 'b.example', ttl: 60, data: 'c.example' },
        ...(type === 'A' ? [{ type: 'A' as const, name: 'C.EXAMPLE', ttl: 60, data: '127.0.0.1' }] : []),
        ...(type === 'A' ? [{ type: 'A' as const, name: 'other.example', ttl: 60, data: '127.0.0.99' }] : []),
      ],
    }));
    const call = caller([server]);
    await eventually(async () => {
      expect(wordsOf(await call('a.example'))).to.equal('ok');
      expect(server.timesAsked('a.example')).to.equal(2);
    });
  });

  const denials: [string, AnswerFor][] = [
    ['there is no such name', () => ({ code: 3, authorities: [soa(1)] })],
    ['the name has no addresses', () => ({ authorities: [soa(3600, 1)] })],
  ];
  for (const [denial, answer] of denials) {
    it(`gives "no such host" when ${denial}, and finds the name within seconds after it is set up`, async () => {
      let isThere = false;
      const server = await nameServer((question, isTcp) => (isThere ? here()(question) : answer(question, isTcp)));
      const call = caller([server]);
      expect(wordsOf(await call('new.example'))).to.equal('no such host');
      expect(wordsOf(await call('new.example'))).to.equal('no such host');
      expect(server.timesAsked('new.example')).to.equal(1);
      isThere = true;
      await eventually(async () => expect(wordsOf(await call('new.example'))).to.equal('ok'));
    });
  }

  it('asks the next server when one refuses, and gives "name lookup failed" after the last', async () => {
    const broken = await nameServer(() => ({ code: 2 }));
    const refusing = await nameServer(() => ({ code: 5 }));
    const well = await nameServer(here());
    expect(wordsOf(await caller([broken, refusing, well])('a.example'))).to.equal('ok');
    expect(wordsOf(await caller([broken, refusing])('a.example'))).to.equal('name lookup failed');
  });

  it('asks the next server when one is silent or unreachable', async () => {
    const silent = await nameServer(() => undefined);
    const gone = await NameServer.listening(() => undefined);
    await gone.close().catch(() => {});
    const well = await nameServer(here());
    const resolve = resolverOfThisMachine({
      servers: [silent.address, { address: '127.0.0.1', port: 1 }, well.address],
      hostsFile: NO_FILE,
      configFile: NO_FILE,
    });
    expect(wordsOf(await callerBy(resolve)('a.example'))).to.equal('ok');
  });

  it('asks over TCP when the answer does not fit into a datagram', async () => {
    const server = await nameServer((question) => ({ ...here()(question), isCut: true }));
    expect(wordsOf(await caller([server])('a.example'))).to.equal('ok');
    expect(server.timesAsked('a.example')).to.equal(2);
  });

  it('succeeds without an answer for IPv6', async () => {
    const server = await nameServer((question) => (question.type === 'A' ? here()(question) : undefined));
    expect(wordsOf(await caller([server])('a.example'))).to.equal('ok');
  });

  it('ignores answers that do not belong to the query', async () => {
    const spoils: ((bytes: Buffer) => void)[] = [
      (bytes) => bytes.writeUInt16BE(bytes.readUInt16BE(0) ^ 1, 0),
      (bytes) => bytes.write('x', 13),
      (bytes) => bytes.writeUInt16BE(9, 6),
    ];
    for (const [at, spoil] of spoils.entries()) {
      const server = await nameServer((question) => ({ ...here()(question), spoil }));
      const words = wordsOf(await caller([server], { lookupTimeoutMs: 300 })('a.example'));
      expect(words, `spoil ${at}`).to.match(/^name lookup (timed out|failed)$/);
    }
    expect(destination.connections).to.equal(0);
  });

  describe('of names that no server answers for', () => {
    const isDead = (name: string) => name.startsWith('dead');
    const halfDead: AnswerFor = (question) => (isDead(question.name) ? undefined : here(0)(question));

    it('does not delay calls to other names, even with 500 such calls', async () => {
      const server = await nameServer(halfDead);
      const call = caller([server], { lookupTimeoutMs: 60_000 });
      for (let n = 0; n < 500; n += 1) void call(`dead${n % 100}.example`, 60_000);
      await eventually(() => expect(new Set(server.asked.filter(isDeadA)).size).to.equal(100));
      const latencies: number[] = [];
      for (let n = 0; n < 21; n += 1) {
        const outcome = await call(`well${n}.example`);
        expect(wordsOf(outcome)).to.equal('ok');
        latencies.push(outcome.kind === 'response' ? outcome.durationMs : Number.POSITIVE_INFINITY);
      }
      expect(latencies.sort((a, b) => a - b)[10], `of ${latencies}`).to.be.at.most(100);
    });
    const isDeadA = (question: string) => question.startsWith('A dead');

    it('is refused above the maximum number of parallel lookups', async () => {
      const server = await nameServer(halfDead);
      const call = caller([server], { maxLookups: 10 });
      const dead = Array.from({ length: 30 }, (_, n) => call(`dead${n}.example`, 500));
      expect(wordsOf(await call('well.example'))).to.equal('ok');
      const words = (await Promise.all(dead)).map(wordsOf);
      expect(words.filter((each) => each === 'too many name lookups')).to.have.length(21);
      expect(words.filter((each) => each === 'timed out after 0.5s')).to.have.length(9);
    });

    it('ends at the lookup timeout', async () => {
      const server = await nameServer(halfDead);
      const call = caller([server], { lookupTimeoutMs: 100 });
      expect(wordsOf(await call('dead.example'))).to.equal('name lookup timed out');
    });

    it('stops its queries after the last call for the name has ended', async () => {
      const server = await nameServer(halfDead);
      const call = caller([server]);
      // The socket of the name server.
      const idle = socketsOfOthers + 1;
      await eventually(() => expect(udpSocketsOfThisProcess()).to.equal(idle));
      const outcome = call('dead.example', 4000);
      await eventually(() => expect(udpSocketsOfThisProcess()).to.be.above(idle));
      await eventually(() => expect(server.timesAsked('dead.example')).to.be.at.least(2));
      expect(wordsOf(await outcome)).to.equal('timed out after 4s');
      await eventually(() => expect(udpSocketsOfThisProcess()).to.equal(idle));
    });
  });

  describe('with the files of this machine', () => {
    let directory: string;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'names-'));
    });
    after(() => rm(directory, { recursive: true }));

    async function resolverBy(server: NameServer, hosts: string, config: string) {
      const hostsFile = join(directory, 'hosts');
      const configFile = join(directory, 'resolv.conf');
      await writeFile(hostsFile, hosts);
      await writeFile(configFile, config);
      return resolverOfThisMachine({ servers: [server.address], hostsFile, configFile });
    }

    it('uses the hosts file before any server, and knows localhost', async () => {
      const server = await nameServer(() => undefined);
      const call = callerBy(await resolverBy(server, '127.0.0.1 listed.example\n', ''));
      for (const name of ['listed.example', 'LISTED.example.', 'localhost', 'a.localhost']) {
        expect(wordsOf(await call(name)), name).to.equal('ok');
      }
      expect(server.asked).to.deep.equal([]);
    });

    it('tries the search domains', async () => {
      const server = await nameServer((question) =>
        question.name === 'short.inner.example' ? here()(question) : { code: 3, authorities: [soa(60)] },
      );
      const call = callerBy(await resolverBy(server, '', 'search outer.example inner.example\n'));
      expect(wordsOf(await call('short'))).to.equal('ok');
      expect(server.asked.filter((question) => question.startsWith('A '))).to.deep.equal([
        'A short.outer.example',
        'A short.inner.example',
      ]);
      expect(wordsOf(await call('short.'))).to.equal('no such host');
    });
  });

  describe('of names that lead into the private network', () => {
    it('is refused when one of the addresses is forbidden, of either family', async () => {
      const server = await nameServer(({ type, name }) => {
        if (name === 'six.example') {
          if (type === 'A') return { answers: [{ type, name, ttl: 60, data: '93.184.215.14' }] };
          return { answers: [{ type: 'AAAA', name, ttl: 60, data: '::ffff:127.0.0.1' }] };
        }
        return addressesFor({ type, name }, ['93.184.215.14', '127.0.0.1']);
      });
      const call = caller([server], { allowPrivate: false });
      for (const name of ['six.example', 'four.example']) {
        expect(wordsOf(await call(name))).to.match(/^destination address is not allowed: .* \(loopback\)$/);
      }
      expect(destination.connections).to.equal(0);
    });

    it('checks every answer, also when the answers differ', async () => {
      let asked = 0;
      const server = await nameServer((question) => {
        if (question.type === 'A') asked += 1;
        return addressesFor(question, [asked === 1 ? '127.0.0.1' : '127.0.0.2'], 0);
      });
      const allow = [{ address: '127.0.0.1', prefixBits: 32, port: destination.port }];
      const call = caller([server], { allowPrivate: false, allow });
      expect(wordsOf(await call('flips.example'))).to.equal('ok');
      expect(wordsOf(await call('flips.example'))).to.equal('destination address is not allowed: 127.0.0.2 (loopback)');
    });
  });
});
