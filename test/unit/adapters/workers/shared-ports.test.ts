/** Proves SPO1–SPO4, CLI1 and CLI2 with workers that are objects of the test. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ConnectionLine, type GivenConnection } from '../../../../src/adapters/workers/connection-line.js';
import type { PortRequest } from '../../../../src/adapters/workers/messages.js';
import { type Receiver, SharedPorts } from '../../../../src/adapters/workers/shared-ports.js';
import type { SessionId } from '../../../../src/kernel/index.js';
import { eventually } from '../../../support/eventually.js';
import { silentLog } from '../../../support/silent-log.js';

const REQUEST: PortRequest = {
  key: 'resp',
  host: '127.0.0.1',
  port: 0,
  backlog: 100,
  reads: 'resp',
  silent: { ms: 60_000, most: 100, mostPerAddress: 100 },
};
const AUTH = '*2\r\n$4\r\nAUTH\r\n$3\r\nabc\r\n';

class FakeWorker implements Receiver {
  readonly got: GivenConnection[] = [];
  questions = 0;
  owner: SessionId | undefined;
  /** Sockets that the worker has not received. */
  readonly onTheWay: GivenConnection[] = [];
  isFrozen = false;
  hasChannel = true;
  readonly line: ConnectionLine = new ConnectionLine((given, onSent) => {
    setImmediate(onSent, this.hasChannel ? null : new Error('no channel'));
    if (!this.hasChannel) return;
    if (this.isFrozen) this.onTheWay.push(given);
    else {
      this.got.push(given);
      setImmediate(() => this.line.received());
    }
  });
  readonly session: { session: SessionId };

  constructor(name: string) {
    this.session = { session: name as SessionId };
  }

  askForOwner(): Promise<SessionId | undefined> {
    this.questions += 1;
    return Promise.resolve(this.owner);
  }
}

describe('a port that workers share', () => {
  let ports: SharedPorts;
  let workers: FakeWorker[];
  let port: number;
  let clients: Socket[];

  beforeEach(async () => {
    clients = [];
    ports = new SharedPorts(silentLog);
    workers = [new FakeWorker('first'), new FakeWorker('second')];
    await open(REQUEST);
  });
  afterEach(() => {
    for (const client of clients) client.destroy();
    for (const worker of workers) {
      for (const { socket } of worker.got) socket.destroy();
      ports.forget(worker);
    }
  });

  async function open(request: PortRequest): Promise<void> {
    for (const worker of workers) port = await ports.listen(worker, request, workers.length);
  }

  async function connected(text?: string): Promise<Socket> {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => undefined);
    await once(client, 'connect');
    if (text !== undefined) client.write(text);
    return client;
  }

  const gotBy = () => workers.map(({ got }) => got.length);
  const total = () => gotBy().reduce((sum, count) => sum + count, 0);
  const allAreOwnedBy = (owner: string) => {
    for (const worker of workers) worker.owner = owner as SessionId;
  };

  it('gives a connection with its first bytes to the worker that owns its database, which is asked for once', async () => {
    allAreOwnedBy('second');
    for (let count = 1; count <= 5; count += 1) {
      await connected(AUTH);
      await eventually(() => expect(gotBy()).to.deep.equal([0, count]));
    }
    expect(workers[1]?.got.map(({ bytes }) => String(bytes))).to.deep.equal(Array(5).fill(AUTH));
    expect(workers.reduce((sum, { questions }) => sum + questions, 0)).to.equal(1);
  });

  it('gives connections without a credential, or with an unknown one, to the worker with the fewest', async () => {
    for (const [at, text] of ['PING\r\n', AUTH, 'PING\r\n', AUTH].entries()) {
      await connected(text);
      await eventually(() => expect(total()).to.equal(at + 1));
    }
    expect(gotBy()).to.deep.equal([2, 2]);
    workers[0]?.line.haveEnded({ resp: 2 });
    await connected('PING\r\n');
    await eventually(() => expect(gotBy()).to.deep.equal([3, 2]));
  });

  it('gives others to the rest of the workers when the owner has many more than the average', async () => {
    await open({ ...REQUEST, key: 'large', silent: { ms: 60_000, most: 1_000, mostPerAddress: 1_000 } });
    workers.push(new FakeWorker('third'), new FakeWorker('fourth'));
    await open({ ...REQUEST, key: 'large', silent: { ms: 60_000, most: 1_000, mostPerAddress: 1_000 } });
    allAreOwnedBy('second');
    for (let count = 1; count <= 100; count += 1) {
      await connected(AUTH);
      await eventually(() => expect(total()).to.equal(count));
    }
    // 1.5 times the average of four workers, and 32.
    expect(gotBy()[1]).to.be.within(60, 70);
    expect(Math.min(...gotBy())).to.be.at.least(9);
  });

  it('gives none of them more than half of its bound by owner', async () => {
    await open({ ...REQUEST, key: 'small', silent: { ms: 60_000, most: 8, mostPerAddress: 8 } });
    allAreOwnedBy('first');
    for (let count = 1; count <= 12; count += 1) {
      await connected(AUTH);
      await eventually(() => expect(total()).to.equal(count));
    }
    expect(gotBy()).to.deep.equal([6, 6]);
  });

  it('waits for the first bytes of a bounded number of connections, and for a bounded time', async () => {
    await open({ ...REQUEST, key: 'few', silent: { ms: 60_000, most: 3, mostPerAddress: 100 } });
    const silent = await Promise.all(Array.from({ length: 6 }, () => connected()));
    const seventh = await connected();
    await once(seventh, 'close');
    expect(silent.map(({ closed }) => closed)).to.deep.equal(Array(6).fill(false));
    silent[0]?.write('PING\r\n');
    await eventually(() => expect(total()).to.equal(1));
    await connected(AUTH);
    await eventually(() => expect(total()).to.equal(2));

    await open({ ...REQUEST, key: 'impatient', silent: { ms: 20, most: 10, mostPerAddress: 10 } });
    await once(await connected(), 'close');
    expect(total()).to.equal(2);
  });

  it('closes connections with first bytes above 32 MiB that no worker has', async () => {
    for (const worker of workers) worker.isFrozen = true;
    await open({ ...REQUEST, key: 'held', silent: { ms: 60_000, most: 10_000, mostPerAddress: 10_000 } });
    const piece = AUTH.padEnd(64 * 1024, 'x');
    let closed = 0;
    for (let count = 0; closed === 0 && count < 5_000; count += 1) {
      const client = await connected(piece);
      client.once('close', () => {
        closed += 1;
      });
    }
    expect(closed).to.be.greaterThan(0);
    expect(clients.length).to.be.greaterThan(500);
  });

  it('gives connections of an encrypted port immediately, without reading', async () => {
    await open({ ...REQUEST, key: 'tls', reads: undefined });
    await connected();
    await eventually(() => expect(total()).to.equal(1));
    expect(workers.flatMap(({ got }) => got)[0]?.bytes).to.equal(undefined);
  });

  it('gives to another worker what a worker that does not receive cannot have got, and ends the one on its way with the worker', async () => {
    allAreOwnedBy('first');
    const [first, second] = workers as [FakeWorker, FakeWorker];
    first.isFrozen = true;
    for (let count = 0; count < 3; count += 1) await connected(AUTH);
    await eventually(() => expect(first.onTheWay).to.have.length(1));
    await eventually(() => expect(gotBy()).to.deep.equal([0, 2]), { timeoutMs: 5_000 });
    await connected(AUTH);
    await eventually(() => expect(gotBy()).to.deep.equal([0, 3]));
    const [onTheWay] = first.onTheWay;
    expect(onTheWay?.socket.destroyed).to.equal(false);
    ports.forget(first);
    expect(onTheWay?.socket.destroyed).to.equal(true);
    expect(second.line.openOn('resp')).to.equal(3);
  });

  it('gives to another worker what a worker without a channel did not get', async () => {
    allAreOwnedBy('first');
    const [first, second] = workers as [FakeWorker, FakeWorker];
    first.hasChannel = false;
    await connected(AUTH);
    await eventually(() => expect(gotBy()).to.deep.equal([0, 1]));
    expect([first.line.openOn('resp'), second.line.openOn('resp')]).to.deep.equal([0, 1]);
  });

  it('closes when no worker accepts its connections, and opens again', async () => {
    for (const worker of workers) ports.leave(worker, 'resp');
    const refused = connect(port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
    await open({ ...REQUEST, port });
    await connected('PING\r\n');
    await eventually(() => expect(total()).to.equal(1));
  });

  it('fails with the error of the system when the port is in use', async () => {
    const others = new SharedPorts(silentLog);
    const error = await others.listen(new FakeWorker('other'), { ...REQUEST, port }, 1).catch((thrown) => thrown);
    expect(error).to.have.property('code', 'EADDRINUSE');
  });
});
