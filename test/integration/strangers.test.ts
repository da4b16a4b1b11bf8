/** What somebody without credentials, or with two names for one host, gets from each HTTP port of a process. */
import net from 'node:net';
import { expect } from 'chai';
import { endEverything, type MillraceProcess, startMillrace, TOKEN } from '../support/millrace-process.js';

const MIB = 1024 * 1024;
const ANNOUNCED_BYTES = 64 * MIB;
/** What the systems of both ends hold of what nobody reads: buffers of sockets on loopback. */
const BUFFERED_BYTES = 24 * MIB;
const UUID = '00000000-0000-4000-8000-000000000000';

interface Heard {
  readonly text: string;
  /** Of the body, until the connection was closed. */
  readonly takenBytes: number;
}

/** Goes on sending after the head for as long as somebody takes it, and never closes by itself. */
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

describe('strangers', function () {
  this.timeout(60_000);
  let millrace: MillraceProcess;
  before(async () => {
    millrace = await startMillrace();
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
    it(`with two Host headers are refused at ${face} ${path}, also with a token`, async () => {
      const head = `GET ${path} HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer ${TOKEN}\r\nhOST: one\r\nConnection: close\r\n\r\n`;
      const heard = await send(portOf(face), head);
      expect(statusOf(heard), heard.text).to.equal('400');
      expect(heard.text).to.match(/malformed HTTP request/);
    });
  }

  it('are answered before a long body is read, wherever one may be sent', async () => {
    const places = [
      ['kv', '/'],
      ['kv', '/pipeline'],
      ['kv', '/subscribe/news'],
      ['queue', '/v2/publish/http://127.0.0.1:9/'],
      ['queue', '/v2/batch'],
      ['mgmt', '/v2/kv/database'],
      ['mgmt', '/v2/admin/sessions'],
      ['mgmt', `/search/${UUID}/upsert/name`],
      ['mgmt', '/monitoring/prometheus/federate'],
    ] as const;
    const lengths = [
      [`Content-Length: ${ANNOUNCED_BYTES}`, ''],
      ['Transfer-Encoding: chunked', `${ANNOUNCED_BYTES.toString(16)}\r\n`],
    ] as const;
    const sent = places.flatMap(([face, path]) =>
      lengths.map(async ([header, chunk]) => {
        const head = `POST ${path} HTTP/1.1\r\nHost: one\r\n${header}\r\n\r\n${chunk}`;
        const heard = await send(portOf(face), head, ANNOUNCED_BYTES);
        const where = `${path}, ${header}: ${heard.text}`;
        expect(statusOf(heard), where).to.equal('401');
        expect(heard.text, where).to.match(/\r\nConnection: close\r\n/i);
        expect(heard.text, where).to.match(/\}$/);
        expect(heard.takenBytes, where).to.be.below(BUFFERED_BYTES);
      }),
    );
    await Promise.all(sent);
  });

  it('may be wrong in a short body, and go on with the same connection', async () => {
    const wrong = 'POST / HTTP/1.1\r\nHost: one\r\nContent-Length: 10\r\n\r\n["GET","a"';
    const right = `GET /ping HTTP/1.1\r\nHost: one\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
    const { text } = await send(portOf('kv'), wrong + right);
    expect(text.match(/HTTP\/1\.1 \d{3}/g)).to.deep.equal(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });
});
