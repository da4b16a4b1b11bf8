/** The writes of an answer to its connection. Proves AW1, AW2. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { type Answer, write } from '../../../../src/edge/http/answer.js';
import { eventually } from '../../../support/eventually.js';

/** A connection in memory that records each write. */
class NotedConnection extends Duplex {
  readonly writes: string[] = [];
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.writes.push(chunk.toString('latin1'));
    done();
  }
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk))).toString('latin1'));
    done();
  }
}

const OK: Answer = { status: 200, text: '', isLast: false };

describe('an HTTP answer', () => {
  async function exchange(
    handle: (response: ServerResponse, request: IncomingMessage, connection: NotedConnection) => void | Promise<void>,
    head = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  ): Promise<string[]> {
    const connection = new NotedConnection({ decodeStrings: true });
    let isOver = false;
    const server = createServer((request, response) => {
      void Promise.resolve(handle(response, request, connection)).then(() => {
        isOver = true;
      });
    });
    server.emit('connection', connection);
    connection.push(head);
    await eventually(() => expect(isOver).to.equal(true));
    // All data that was passed to the connection is written by then.
    await new Promise((resolve) => setImmediate(resolve));
    connection.destroy();
    return connection.writes;
  }

  const TEXTS: Readonly<Record<string, string>> = {
    nothing: '',
    'a short text': '{"result":"v"}',
    'letters beyond ASCII': '{"result":"žluťoučký"}',
    'a long text': `{"result":"${'x'.repeat(100_000)}"}`,
  };
  for (const [kind, text] of Object.entries(TEXTS)) {
    it(`of ${kind} is sent in one write, with headers, body and length (AW1)`, async () => {
      let told = 0;
      const writes = await exchange((response) => {
        told = write(response, { ...OK, text });
      });
      expect(writes).to.have.length(1);
      const [head = '', body] = (writes[0] as string).split('\r\n\r\n');
      const bytes = Buffer.from(text);
      expect(Buffer.from(body as string, 'latin1').equals(bytes)).to.equal(true);
      expect(head).to.match(new RegExp(`\r\nContent-Length: ${bytes.length}\r\n`));
      expect(head).not.to.contain('Transfer-Encoding');
      expect(told).to.equal(bytes.length);
    });
  }

  it('to HEAD has the length of the body, without the body (AW1)', async () => {
    const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
    const writes = await exchange((response) => void write(response, { ...OK, text: '12345' }), head);
    expect(writes).to.have.length(1);
    expect(writes[0]).to.match(/\r\nContent-Length: 5\r\n[\s\S]*\r\n\r\n$/);
  });

  it('is not followed by another to the same request (AW2)', async () => {
    const told: number[] = [];
    const writes = await exchange((response) => {
      for (const text of ['first', 'second']) told.push(write(response, { ...OK, text }));
    });
    expect([writes.length, told]).to.deep.equal([1, [5, 0]]);
    expect(writes[0]).to.contain('first').and.not.to.contain('second');
  });

  it('is not written to a client that has gone (AW2)', async () => {
    let told = -1;
    const writes = await exchange(async (response, _request, connection) => {
      const closed = new Promise((resolve) => response.on('close', resolve));
      connection.destroy();
      await closed;
      told = write(response, { ...OK, text: 'late' });
      expect(response.headersSent).to.equal(false);
    });
    expect([writes, told]).to.deep.equal([[], 0]);
  });
});
