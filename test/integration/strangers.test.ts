/** Answers of each HTTP port to requests without credentials, or with two Host headers. Proves AW3, FSE4, RQB4. */
import net from 'node:net';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { endEverything, type MillraceProcess, signalPid, startMillrace, TOKEN } from '../support/millrace-process.js';

const MIB = 1024 * 1024;
const ANNOUNCED_BYTES = 64 * MIB;
/** Unread bytes that both ends hold in buffers of sockets on loopback. */
const BUFFERED_BYTES = 24 * MIB;
const UUID = '00000000-0000-4000-8000-000000000000';

interface Heard {
  readonly text: string;
  /** Bytes of the body that were sent until the connection was closed. */
  readonly takenBytes: number;
}

/** Continues to send after the head until the server closes the connection; the client never closes it. */
function send(port: number, head: string, bodyBytes = 0): Promise<Heard> {
  return new Promise((resolve) => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    let text = '';
    let takenBytes = 0;
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(head);
      const more = () => {
        if (takenBytes >= bodyBytes || socket.destroyed) return;
        socket.write(piece, (error) => {
          if (error) return;
          takenBytes += piece.length;
          more();
        });
      };
      more();
    });
    socket.setEncoding('latin1').on('data', (given: string) => {
      text += given;
    });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => resolve({ text, takenBytes }));
  });
}

describe('requests of strangers', function () {
  this.timeout(60_000);
  let millrace: MillraceProcess;
  before(async () => {
    millrace = await startMillrace({ env: { MILLRACE_REQUEST_HOLD_MS: '0' } });
  });
  after(endEverything);

  const portOf = (name: string) => Number(new URL(millrace.addresses[name] as string).port);
  const statusOf = ({ text }: Heard) => /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];

  for (const [face, path] of [
    ['kv', '/get/a'],
    ['queue', '/v2/queues'],
    ['mgmt', '/v2/kv/databases'],
    ['mgmt', '/v2/admin/session'],
    ['mgmt', `/search/${UUID}/info`],
    ['mgmt', '/monitoring/prometheus/federate'],
    ['metrics', '/livez'],
  ] as const) {
    it(`with two Host headers are refused with 400 at ${face} ${path}, also with a token`, async () => {
      const head = `GET ${path} HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer ${TOKEN}\r\nhOST: one\r\nConnection: close\r\n\r\n`;
      const heard = await send(portOf(face), head);
      expect(statusOf(heard), heard.text).to.equal('400');
      expect(heard.text).to.match(/malformed HTTP request/);
    });
  }

  for (const face of ['kv', 'queue', 'mgmt']) {
    it(`without a Host header are refused with 400 at ${face}, except over HTTP/1.0`, async () => {
      const heard = await send(portOf(face), 'GET / HTTP/1.1\r\n\r\n');
      expect(statusOf(heard), heard.text).to.equal('400');
      expect(heard.text).to.match(/"error":"(ERR )?malformed HTTP request"\}$/);
      expect(statusOf(await send(portOf(face), 'GET / HTTP/1.0\r\n\r\n'))).to.equal('401');
    });
  }

  /** A long body with a length, and a chunked one without. @param head without its end */
  async function sendLong(face: string, head: string): Promise<(Heard & { where: string })[]> {
    const lengths = [
      [`Content-Length: ${ANNOUNCED_BYTES}`, ''],
      ['Transfer-Encoding: chunked', `${ANNOUNCED_BYTES.toString(16)}\r\n`],
    ] as const;
    return Promise.all(
      lengths.map(async ([header, chunk]) => {
        const all = `${head}\r\nHost: one\r\n${header}\r\n\r\n${chunk}`;
        const heard = await send(portOf(face), all, ANNOUNCED_BYTES);
        return { ...heard, where: `${face} ${head}, ${header}: ${heard.text} after ${heard.takenBytes} bytes` };
      }),
    );
  }

  /** The answer is complete and the connection ends before more bytes are sent than buffers hold. */
  function expectUnread({ text, takenBytes, where }: Heard & { where: string }): void {
    expect(text, where).to.match(/\r\nConnection: close\r\n/i);
    const length = Number(/\r\nContent-Length: (\d+)\r\n/i.exec(text)?.[1]);
    expect(text.slice(text.indexOf('\r\n\r\n') + 4), where).to.have.lengthOf(length);
    expect(takenBytes, where).to.be.below(BUFFERED_BYTES);
  }

  const PREFLIGHT = 'Origin: https://page.example\r\nAccess-Control-Request-Method: POST';
  const LONG_BODIES = [
    ['kv', 'POST / HTTP/1.1', '401'],
    ['kv', 'POST /pipeline HTTP/1.1', '401'],
    ['kv', 'POST /subscribe/news HTTP/1.1', '401'],
    ['kv', 'GET /get/a HTTP/1.1', '401'],
    ['kv', 'DELETE /get/a HTTP/1.1', '405'],
    ['kv', 'OPTIONS /get/a HTTP/1.1', '405'],
    ['kv', `OPTIONS /get/a HTTP/1.1\r\n${PREFLIGHT}`, '200'],
    ['queue', 'POST /v2/publish/http://127.0.0.1:9/ HTTP/1.1', '401'],
    ['queue', 'POST /v2/batch HTTP/1.1', '401'],
    ['queue', 'POST /nowhere HTTP/1.1', '401'],
    ['queue', `OPTIONS /v2/queues HTTP/1.1\r\n${PREFLIGHT}`, '401'],
    ['mgmt', 'POST /v2/kv/database HTTP/1.1', '401'],
    ['mgmt', 'GET /v2/kv/databases HTTP/1.1', '401'],
    ['mgmt', 'POST /nowhere HTTP/1.1', '401'],
    ['mgmt', `OPTIONS /v2/kv/databases HTTP/1.1\r\n${PREFLIGHT}`, '401'],
    ['mgmt', 'POST /v2/kv/database HTTP/1.1\r\nSec-Fetch-Site: cross-site', '403'],
    ['mgmt', 'GET /openapi.json HTTP/1.1', '413'],
    ['mgmt', 'POST /openapi.json HTTP/1.1', '413'],
    ['mgmt', 'POST /v2/admin/sessions HTTP/1.1', '401'],
    ['mgmt', 'POST /v2/admin/nowhere HTTP/1.1', '401'],
    ['mgmt', `POST /search/${UUID}/upsert/name HTTP/1.1`, '401'],
    ['mgmt', `POST /search/${UUID}/nowhere HTTP/1.1`, '401'],
    ['mgmt', `OPTIONS /search/${UUID}/info HTTP/1.1\r\n${PREFLIGHT}`, '200'],
    ['mgmt', 'POST /monitoring/prometheus/federate HTTP/1.1', '401'],
    ['mgmt', 'POST /monitoring/nowhere HTTP/1.1', '401'],
    ['metrics', 'GET /livez HTTP/1.1', '413'],
    ['metrics', 'POST /metrics HTTP/1.1', '413'],
    ['metrics', 'POST /nowhere HTTP/1.1', '413'],
  ] as const;

  describe('with a long body', () => {
    // Each client waits a while for its answer: all of them in parallel.
    const heard: Promise<(Heard & { where: string })[]>[] = [];
    before(() => {
      for (const [face, head] of LONG_BODIES) heard.push(sendLong(face, head));
    });

    for (const [at, [face, head, status]] of LONG_BODIES.entries()) {
      it(`are answered ${status} without reading the body, at ${face} for ${head.replaceAll(/\r\n| HTTP\/1.1/g, ' ')}`, async () => {
        for (const answer of await (heard[at] as (typeof heard)[number])) {
          expect(statusOf(answer), answer.where).to.equal(status);
          expectUnread(answer);
        }
      });
    }
  });

  it('with a long body are answered 503 without reading it while tokens cannot be checked', async () => {
    const nats = await millrace.natsPid();
    signalPid(nats, 'SIGSTOP');
    try {
      await eventually(async () => {
        const { status } = await fetch(`${millrace.addresses.kv}/get/a`, { headers: { authorization: 'Bearer none' } });
        expect(status).to.equal(503);
      });
      const heads = {
        kv: 'POST / HTTP/1.1\r\nAuthorization: Bearer none',
        queue: 'POST /v2/publish/http://127.0.0.1:9/ HTTP/1.1\r\nAuthorization: Bearer none',
        mgmt: `POST /v2/kv/database HTTP/1.1\r\nAuthorization: Basic ${btoa('nobody@tests.example:none')}`,
      };
      await Promise.all(
        Object.entries(heads).map(async ([face, head]) => {
          for (const heard of await sendLong(face, head)) {
            expect(statusOf(heard), heard.where).to.equal('503');
            expectUnread(heard);
          }
        }),
      );
    } finally {
      signalPid(nats, 'SIGCONT');
    }
    await eventually(async () => expect((await millrace.kv.command('PING')).kind).to.equal('done'));
  });

  it('with a short body are answered 401, and the connection stays open', async () => {
    const wrong = 'POST / HTTP/1.1\r\nHost: one\r\nContent-Length: 10\r\n\r\n["GET","a"';
    const right = `GET /ping HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
    const { text } = await send(portOf('kv'), wrong + right);
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });
});
