/** One tenant fills the memory of a process with unfinished commands and unread answers. */
import net from 'node:net';
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, type MillraceProcess, PASSWORD, startMillrace } from '../../support/millrace-process.js';
import { residentMib } from '../../support/process-memory.js';
import { RespClient } from '../../support/resp-client.js';

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const MIB = 1024 * 1024;
/** The heap of the image. */
const HEAP_MB = 512;
/** Includes buffers of sockets, which are outside of the heap, and garbage that is not collected yet. */
const MOST_RESIDENT_MIB = 1_200;
const NO_ROOM = '-OOM requests of this database use too much memory, nothing was executed';
const MEGABYTE = Buffer.alloc(MIB, 'x');

describe('RESP, attacked by one tenant', function () {
  this.timeout(180_000);
  let port: number;
  let millrace: MillraceProcess;
  let password: string;
  let other: RespClient;
  const attackers: Attacker[] = [];

  before(async () => {
    port = await freePort();
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_RESP_PORT: String(port),
        MILLRACE_HEAP_MB: String(HEAP_MB),
      },
    });
    const response = await fetch(`${millrace.addresses.mgmt}/v2/kv/database`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ database_name: 'large', region: 'global', primary_region: 'us-east-1', plan: 'payg' }),
    });
    ({ password } = (await response.json()) as { password: string });
    other = await RespClient.connect({ port, host: '127.0.0.1' });
    expect(await other.call(['AUTH', PASSWORD])).to.equal('+OK\r\n');
  });
  afterEach(async () => {
    for (const attacker of attackers.splice(0)) attacker.close();
    await eventually(async () => expect(await heldBytes()).to.be.below(MIB));
  });
  after(async () => {
    other?.close();
    await endEverything();
  });

  async function attack(count: number): Promise<Attacker[]> {
    const more = await Promise.all(Array.from({ length: count }, () => Attacker.connect(port, password)));
    attackers.push(...more);
    return more;
  }

  async function heldBytes(): Promise<number> {
    const text = await (await fetch(`${millrace.metricsUrl}/metrics`)).text();
    return Number(/^millrace_request_bytes (\S+)$/m.exec(text)?.[1]);
  }

  /** During the attack, another tenant writes and is never refused. */
  async function besideOthers(attack: () => Promise<void>): Promise<void> {
    let isOver = false;
    const attacking = attack().finally(() => {
      isOver = true;
    });
    // A failure is thrown by the `await` below, after any failure of the other tenant.
    attacking.catch(() => undefined);
    let mostMib = 0;
    for (let i = 0; !isOver; i += 1) {
      expect(await other.call(['SET', `k${i % 10}`, 'x'.repeat(1_000)])).to.equal('+OK\r\n');
      if (i % 20 === 0) mostMib = Math.max(mostMib, await residentMib(millrace.pid));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await attacking;
    expect(mostMib).to.be.below(MOST_RESIDENT_MIB);
  }

  it('closes connections whose unfinished bulk strings exceed the memory budget', () =>
    besideOthers(async () => {
      const clients = await attack(300);
      for (const client of clients) {
        client.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${9 * MIB}\r\n`);
        for (let i = 0; i < 8; i += 1) client.socket.write(MEGABYTE);
      }
      await eventually(() => expect(clients.filter(({ isClosed }) => isClosed).length).to.be.above(250), {
        timeoutMs: 60_000,
      });
      expect(clients.filter(({ received }) => received.includes(NO_ROOM)).length).to.be.above(100);
    }));

  it('refuses commands of transactions beyond the memory budget with OOM', () =>
    besideOthers(async () => {
      const clients = await attack(30);
      for (const client of clients) {
        client.send(encodeCommand(['MULTI']));
        for (let i = 0; i < 60; i += 1) {
          client.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${MIB}\r\n`);
          client.socket.write(MEGABYTE);
          client.send('\r\n');
        }
        client.send(encodeCommand(['EXEC']));
      }
      const ended = () => clients.filter(({ received, isClosed }) => isClosed || received.includes('EXECABORT')).length;
      await eventually(() => expect(ended()).to.be.above(20), { timeoutMs: 90_000 });
      expect(clients.some(({ received }) => received.includes(NO_ROOM))).to.equal(true);
    }));

  it('produces a long answer only as fast as it is read', () =>
    besideOthers(async () => {
      const clients = await attack(6);
      const [first] = clients as [Attacker];
      first.send(`*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$${MIB}\r\n`);
      first.socket.write(MEGABYTE);
      first.send('\r\n');
      await eventually(() => expect(first.received).to.equal('+OK\r\n'));
      for (const client of clients) {
        client.socket.pause();
        client.send(encodeCommand(['GET', 'big']).repeat(1_000));
      }
      await eventually(async () => expect(await heldBytes()).to.be.above(10 * MIB));
      for (let i = 0; i < 20; i += 1) {
        expect(await heldBytes()).to.be.below(70 * MIB);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // A client that reads in the end gets everything.
      let bytes = 0;
      first.socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      first.keeps = false;
      first.socket.resume();
      await eventually(() => expect(bytes).to.equal(1_000 * (MIB + 12)), { timeoutMs: 90_000 });
    }));
});

class Attacker {
  received = '';
  keeps = true;
  isClosed = false;

  private constructor(readonly socket: net.Socket) {
    socket.on('data', (chunk: Buffer) => {
      if (this.keeps) this.received += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  static async connect(port: number, password: string): Promise<Attacker> {
    const socket = net.connect(port, '127.0.0.1');
    const attacker = new Attacker(socket);
    attacker.send(encodeCommand(['AUTH', password]));
    await eventually(() => expect(attacker.received).to.equal('+OK\r\n'));
    attacker.received = '';
    return attacker;
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }
}
