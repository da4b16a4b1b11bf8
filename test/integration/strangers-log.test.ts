/** Lines of the log that strangers cause are limited to one a minute. */
import http from 'node:http';
import net from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { endEverything, type MillraceProcess, signalPid, startMillrace } from '../support/millrace-process.js';

const TIMES = 1000;
const AT_ONCE = 50;
const MINUTE_MS = 60_000;

interface Line {
  readonly event: string;
  readonly leftOut?: number;
}

describe('log lines that strangers cause', function () {
  this.timeout(120_000);
  let millrace: MillraceProcess;
  let startedAtMs: number;
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  before(async () => {
    millrace = await startMillrace({
      env: { MILLRACE_REQUEST_HOLD_MS: '0', MILLRACE_RESP_PORT: String(await freePort()) },
    });
    startedAtMs = performance.now();
  });
  after(async () => {
    agent.destroy();
    await endEverything();
  });

  const linesOf = (event: string): Line[] =>
    millrace
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.event === event);
  /** The first line immediately, and one for each minute since. */
  const mostLines = () => 1 + Math.ceil((performance.now() - startedAtMs) / MINUTE_MS);

  async function repeatedly(call: () => Promise<unknown>): Promise<void> {
    for (let at = 0; at < TIMES; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, call));
  }

  function statusOf(url: string, authorization: string): Promise<number> {
    return new Promise((resolve, reject) => {
      http
        .get(url, { agent, headers: { authorization } }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        })
        .on('error', reject);
    });
  }

  /** @returns the first reply to a client that signs in over RESP */
  function saidTo(password: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(Number(new URL(millrace.addresses.resp as string).port), '127.0.0.1', () =>
        socket.write(`AUTH ${password}\r\n`),
      );
      socket.setEncoding('latin1').once('data', (said: string) => {
        socket.destroy();
        resolve(said);
      });
      socket.on('error', reject);
    });
  }

  it('appear once a minute for each endpoint while sign-ins cannot be checked', async () => {
    const nats = await millrace.natsPid();
    signalPid(nats, 'SIGSTOP');
    try {
      for (const [face, path, event, credentials] of [
        ['kv', '/get/a', 'kv.request.refused', 'Bearer of-nobody'],
        ['queue', '/v2/queues', 'queue.request.refused', 'Bearer of-nobody'],
        ['mgmt', '/v2/kv/databases', 'management.request.refused', `Basic ${btoa('nobody@tests.example:a-key')}`],
      ] as const) {
        const url = `${millrace.addresses[face]}${path}`;
        await eventually(async () => expect(await statusOf(url, credentials), path).to.equal(503));
        await repeatedly(async () => expect(await statusOf(url, credentials), path).to.equal(503));
        expect(linesOf(event).length, event).to.be.within(1, mostLines());
      }
      await Promise.all(
        Array.from({ length: TIMES }, async () =>
          expect(await saidTo('a-password')).to.match(/^-ERR permissions cannot be checked/),
        ),
      );
      expect(linesOf('resp.request.refused').length, 'over RESP').to.be.within(1, mostLines());
    } finally {
      signalPid(nats, 'SIGCONT');
    }
  });

  it('are all limited', () => {
    const counts = new Map<string, number>();
    for (const line of millrace.stderr().split('\n')) {
      if (!line.startsWith('{')) continue;
      const { event } = JSON.parse(line) as Line;
      counts.set(event, (counts.get(event) ?? 0) + 1);
    }
    for (const [event, count] of counts) expect(count, event).to.be.below(TIMES / 10);
  });
});
