/** Proves RAW1, HB1–HB3, IG1, IG2, LIN1, RCO5. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import type { RespEndpointLimits } from '../../../src/edge/index.js';
import { ByteBudget, STRANGERS } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { OTHER_PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const NO_ROOM = '-OOM requests of this database use too much memory, nothing was executed\r\n';
/** A tenant has half of the budget, connections that have not signed in an eighth. */
const BUDGET_BYTES = MIB;

describe('RESP: the memory of connections', () => {
  let budget: ByteBudget;
  let face: RespEndpointHarness;
  afterEach(() => face.stop());

  async function start(limits: Partial<RespEndpointLimits> = {}, bytes = BUDGET_BYTES): Promise<void> {
    budget = new ByteBudget(bytes);
    face = await new RespEndpointHarness({ budget, limits: { maxRoomWaitMs: 100, ...limits } }).start();
  }

  const nothingIsHeld = () => eventually(() => expect(budget.usedBytes).to.equal(0));
  /** A command without its last bytes. */
  const unfinished = (valueBytes: number) => encodeCommand(['SET', 'k', 'x'.repeat(valueBytes)]).slice(0, -10);
  const queue = async (client: RawClient, bytes: number) => {
    await client.call('MULTI');
    return client.call('SET', 'q', 'x'.repeat(bytes));
  };
  const reasonsOfCuts = () =>
    face.log.lines
      .filter(({ event }) => event === 'resp.connection.cut')
      .map(({ fields }) => (fields as { reason: string }).reason);
  const ping = async (client: RawClient) => expect(await client.call('PING')).to.equal('+PONG\r\n');

  describe('a command that is being received', () => {
    it('is counted for its database until it is answered', async () => {
      await start();
      const client = await face.client();
      client.send(unfinished(200 * KIB));
      await eventually(() => expect(budget.bytesOf('db-first')).to.be.within(200 * KIB, 220 * KIB));
      client.send(`${'x'.repeat(8)}\r\n`);
      expect(await client.next()).to.equal('+OK\r\n');
      await nothingIsHeld();
      expect(budget.tenants).to.equal(0);
    });

    it('is refused with an error that ends the connection, where there is no memory for it', async () => {
      await start();
      const client = await face.client();
      client.send(unfinished(600 * KIB));
      expect(await client.next()).to.equal(NO_ROOM);
      await client.closed();
      await nothingIsHeld();
      expect(face.log.lines.filter(({ event }) => event === 'resp.connection.cut')).to.have.length(1);
    });

    it('waits a moment for others to release memory', async () => {
      await start({ maxRoomWaitMs: 10_000 });
      const [holder, client] = [await face.client(), await face.client()];
      expect(await queue(holder, 400 * KIB)).to.equal('+QUEUED\r\n');
      const answer = client.call('SET', 'k', 'x'.repeat(200 * KIB));
      await eventually(() => expect(budget.bytesOf('db-first')).to.be.above(500 * KIB));
      await holder.call('DISCARD');
      expect(await answer).to.equal('+OK\r\n');
      await nothingIsHeld();
    });

    it('leaves memory for other databases', async () => {
      await start({ maxRoomWaitMs: 10_000 });
      const [one, two] = [await face.client(), await face.client(2, OTHER_PASSWORD)];
      one.send(unfinished(600 * KIB));
      await eventually(() => expect(budget.hasRoom('db-first')).to.equal(false));
      expect(await two.call('SET', 'k', 'x'.repeat(200 * KIB))).to.equal('+OK\r\n');
    });

    it('costs more in pieces of a byte', async () => {
      await start();
      const client = await face.client();
      client.socket.setNoDelay(true);
      client.send('*2\r\n$3\r\nGET\r\n$100000\r\n');
      for (let sent = 0; sent < 200; sent += 1) {
        client.send('x');
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => expect(budget.usedBytes).to.be.above(16 * KIB));
    });
  });

  it('pauses reads of later commands at a bound while a command waits, and then resumes (IG1)', async () => {
    const maxPendingBytes = 64 * KIB;
    await start({ maxPendingBytes, maxRoomWaitMs: 10_000 }, 100 * MIB);
    const [waiting, other] = [await face.client(), await face.client()];
    waiting.send(encodeCommand(['BLPOP', 'list', '0']));
    const echo = encodeCommand(['ECHO', 'x'.repeat(KIB)]);
    const count = 16 * KIB;
    waiting.send(echo.repeat(count));
    await eventually(() => expect(budget.bytesOf('db-first')).to.be.above(maxPendingBytes));
    // A read returns at most so many bytes, and one more read may have been in progress.
    const pieceBytes = 64 * KIB;
    for (let look = 0; look < 200; look += 1) {
      await ping(other);
      expect(budget.bytesOf('db-first')).to.be.below(2 * maxPendingBytes + pieceBytes);
    }
    expect(waiting.socket.writableLength).to.be.above(MIB);
    await other.call('RPUSH', 'list', 'v');
    expect(await waiting.next()).to.contain('list');
    for (let answer = 0; answer < count; answer += 1) expect(await waiting.next()).to.have.length(KIB + 9);
    await nothingIsHeld();
  });

  describe('connections that have not signed in', () => {
    const words = ['AUTH', ...Array.from({ length: 4 }, () => 'x'.repeat(12 * KIB))];

    it('have little memory together, and are ended above it', async () => {
      await start();
      const strangers = await Promise.all(Array.from({ length: 4 }, () => face.connect()));
      for (const stranger of strangers) {
        stranger.send(encodeCommand(words).slice(0, -10));
        await eventually(() => expect(budget.bytesOf(STRANGERS)).to.be.above(30 * KIB));
      }
      await eventually(() => expect(strangers.some(({ isClosed }) => isClosed)).to.equal(true));
      const ended = strangers.find(({ isClosed }) => isClosed) as RawClient;
      expect(ended.unread).to.deep.equal(['-OOM connections that have not signed in use too much memory\r\n']);
      // Connections that have signed in are not affected.
      await ping(await face.client());
    });

    it('move their held bytes to the database when they sign in', async () => {
      await start();
      const client = await face.connect();
      client.send(encodeCommand(['AUTH', 'first-password']) + unfinished(100 * KIB));
      expect(await client.next()).to.equal('+OK\r\n');
      await eventually(() => expect(budget.bytesOf('db-first')).to.be.above(100 * KIB));
      expect(budget.bytesOf(STRANGERS)).to.equal(0);
    });
  });

  describe('a transaction', () => {
    it('is refused a command without memory for it, and executes no command', async () => {
      await start();
      const client = await face.client();
      expect(await queue(client, 300 * KIB)).to.equal('+QUEUED\r\n');
      expect(budget.bytesOf('db-first')).to.be.within(300 * KIB, 310 * KIB);
      expect(await client.call('SET', 'q', 'x'.repeat(190 * KIB))).to.equal('+QUEUED\r\n');
      expect(await client.call('SET', 'q', 'x'.repeat(15 * KIB))).to.equal('+QUEUED\r\n');
      expect(await client.call('SET', 'q', 'x'.repeat(15 * KIB))).to.equal(NO_ROOM);
      // The transaction will not run: its queued commands are freed immediately, and no more are kept.
      await nothingIsHeld();
      expect(await client.call('SET', 'q', 'x'.repeat(100 * KIB))).to.equal('+QUEUED\r\n');
      await nothingIsHeld();
      expect(await client.call('EXEC')).to.equal('-EXECABORT Transaction discarded because of previous errors.\r\n');
      expect(await client.call('GET', 'q')).to.equal('$-1\r\n');
    });
  });

  describe('names', () => {
    const NAME = 'n'.repeat(150 * KIB);
    /** Each costs more than its bytes. */
    const names = (from: number) => Array.from({ length: 600 }, (_, i) => `${from}:${i}`);
    for (const command of ['WATCH', 'SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE']) {
      it(`of ${command} are refused where there is no memory, and the connection keeps its earlier ones`, async () => {
        await start();
        const client = await face.client(3);
        for (const from of [1, 2]) {
          client.send(encodeCommand([command, ...names(from)]));
          for (let i = 0; i < (command === 'WATCH' ? 1 : 600); i += 1) await client.next();
        }
        const heldBytes = budget.bytesOf('db-first');
        expect(heldBytes).to.be.above(300 * KIB);
        expect(await client.call(command, ...names(3), ...names(4))).to.equal(NO_ROOM);
        await ping(client);
        await eventually(() => expect(budget.bytesOf('db-first')).to.equal(heldBytes));
        await client.call('RESET');
        await nothingIsHeld();
      });
    }

    it('of connections are counted', async () => {
      await start();
      const client = await face.client();
      expect(await client.call('CLIENT', 'SETNAME', NAME)).to.equal('+OK\r\n');
      expect(await client.call('CLIENT', 'SETINFO', 'LIB-NAME', NAME)).to.equal('+OK\r\n');
      await eventually(() => expect(budget.bytesOf('db-first')).to.equal(300 * KIB));
    });
  });

  it('sends invalidations for the oldest keys of a caching client where there is no memory for more', async () => {
    await start();
    const client = await face.client(3);
    await client.call('CLIENT', 'TRACKING', 'ON');
    const keys = Array.from({ length: 30 }, (_, i) => `${i}:${'k'.repeat(20 * KIB)}`);
    for (const key of keys) client.send(encodeCommand(['GET', key]));
    const told = () => client.unread.filter((message) => message.startsWith('>'));
    // An eighth of the budget is for the keys of one database, which is room for this many.
    await eventually(() => expect(client.unread).to.have.length(30 + 30 - 6));
    expect(told()[0]).to.contain('invalidate').and.to.contain('0:kkk');
    expect(told()).to.have.length(30 - 6);
    await eventually(() => expect(budget.bytesOf('db-first')).to.be.within(100 * KIB, 128 * KIB));
    await client.call('CLIENT', 'TRACKING', 'OFF');
    await nothingIsHeld();
  });

  it('lets long answers wait for unread ones for a while, and then ends the connection with the most unread bytes', async () => {
    await start({ maxRoomWaitMs: 500 }, 16 * MIB);
    const [silent, client] = [await face.client(), await face.client()];
    await client.call('SET', 'k', 'x'.repeat(256 * KIB));
    await client.call('SET', 'small', 'y');
    const other = await face.client(2, OTHER_PASSWORD);
    // An answer may have 4 MiB, and a database 8 MiB.
    const long = encodeCommand(['MULTI']) + encodeCommand(['GET', 'k']).repeat(16) + encodeCommand(['EXEC']);
    silent.socket.pause();
    silent.send(long.repeat(10));
    await eventually(() => expect(budget.bytesOf('db-first')).to.be.above(4.5 * MIB));
    client.send(long);
    for (let i = 0; i < 17; i += 1) await client.next();
    const answer = client.next();
    const bystander = await face.client();
    expect(await bystander.call('GET', 'small')).to.equal('$1\r\ny\r\n');
    expect(await other.call('GET', 'k')).to.equal('$-1\r\n');
    expect(client.unread).to.deep.equal([]);
    expect(await answer).to.have.length.above(4 * MIB);
    expect(reasonsOfCuts()).to.deep.equal(['no-room-for-output']);
    silent.close();
    await nothingIsHeld();
  });

  it('sends no command to the owner for a client that has gone', async () => {
    await start({ maxRoomWaitMs: 60_000 });
    const client = await face.client();
    const others = budget.hold('db-first');
    others.force(MIB);
    client.send(encodeCommand(['SET', 'gone', 'x']));
    const pinging = await face.client();
    await ping(pinging);
    client.socket.resetAndDestroy();
    await eventually(() => expect(face.server.connections).to.equal(1));
    others.release();
    expect(await pinging.call('GET', 'gone')).to.equal('$-1\r\n');
    await nothingIsHeld();
    expect(await pinging.call('GET', 'gone')).to.equal('$-1\r\n');
  });

  it('refuses commands for a partition while others of the database leave no memory for an answer', async () => {
    await start();
    const client = await face.client();
    await client.call('MULTI');
    await client.call('GET', 'k');
    const others = budget.hold('db-first');
    others.force(MIB);
    expect(await client.call('EXEC')).to.equal(
      '-EXECABORT Transaction discarded because of: OOM requests of this database use too much memory, nothing was executed\r\n',
    );
    expect(await client.call('GET', 'k')).to.equal(NO_ROOM);
    expect(await client.call('BLPOP', 'list', '1')).to.equal(NO_ROOM);
    client.send(encodeCommand(['SET', 'k', '1']) + encodeCommand(['PING']) + encodeCommand(['GET', 'k']));
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      NO_ROOM,
      '+PONG\r\n',
      NO_ROOM,
    ]);
    others.release();
    expect(await client.call('GET', 'k')).to.equal('$-1\r\n');
  });

  it('ends the subscriber with the most unread bytes where there is no memory for more', async () => {
    await start({ maxOutputBytes: 64 * MIB, softOutputBytes: 64 * MIB }, 16 * MIB);
    const [silent, listener, publisher] = [await face.client(3), await face.client(3), await face.client()];
    for (const client of [silent, listener]) await client.call('SUBSCRIBE', 'news');
    silent.socket.pause();
    const message = 'm'.repeat(256 * KIB);
    for (let i = 0; i < 100; i += 1) {
      await publisher.call('PUBLISH', 'news', message);
      await listener.next();
    }
    expect(reasonsOfCuts()).to.deep.equal(['no-room-for-output']);
    await ping(listener);
    await nothingIsHeld();
  });

  it('CLIENT LIST shows the held bytes of each connection', async () => {
    await start({}, 100 * MIB);
    const [busy, looker] = [await face.client(), await face.client()];
    await queue(busy, 50 * KIB);
    busy.send(unfinished(100 * KIB));
    await eventually(async () => {
      const list = (await looker.call('CLIENT', 'LIST')).split('\n').find((line) => line.includes('multi=1')) as string;
      const of = (name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(list)?.[1]);
      expect(of('qbuf')).to.be.within(99 * KIB, 101 * KIB);
      expect(of('multi-mem')).to.be.within(50 * KIB, 51 * KIB);
      expect(of('omem')).to.equal(0);
      expect(of('tot-mem')).to.be.within(165 * KIB, 175 * KIB);
    });
  });
});
