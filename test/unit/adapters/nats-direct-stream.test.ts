/** Bytes between the socket and the parser of a NATS client. Proves STD1, STD2. */
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { NatsConnection } from 'nats';
import { streamDirectly } from '../../../src/adapters/nats/direct-stream.js';

class FakeSocket extends EventEmitter {
  readonly written: string[] = [];

  write(frame: Uint8Array): void {
    this.written.push(Buffer.from(frame).toString());
  }
}

class FakeProtocol {
  readonly parsed: string[] = [];
  readonly socket = new FakeSocket();
  parser = {
    parse: (bytes: Uint8Array) => {
      const text = Buffer.from(bytes).toString();
      if (text === 'nonsense') throw new Error('it cannot be parsed');
      this.parsed.push(text);
    },
  };
  transport = {
    socket: this.socket as FakeSocket | undefined,
    isClosed: false,
    ends: 0,
    send: (_frame: Uint8Array) => {},
    disconnect(): void {
      this.ends += 1;
    },
  };
}

const connectionOf = (protocol: object) => ({ protocol }) as unknown as NatsConnection;

describe('the stream of a connection to NATS', () => {
  let protocol: FakeProtocol;
  beforeEach(() => {
    protocol = new FakeProtocol();
  });

  it('goes to the parser in the order in which it comes, and nowhere else (STD1)', () => {
    const byClient: string[] = [];
    protocol.socket.on('data', (bytes: Uint8Array) => byClient.push(Buffer.from(bytes).toString()));
    protocol.socket.emit('data', Buffer.from('before'));
    streamDirectly(connectionOf(protocol));
    protocol.socket.emit('data', Buffer.from('one'));
    protocol.socket.emit('data', Buffer.from('two'));
    expect(protocol.parsed).to.deep.equal(['one', 'two']);
    expect(byClient).to.deep.equal(['before']);
  });

  it('ends with what cannot be parsed (STD2)', () => {
    streamDirectly(connectionOf(protocol));
    protocol.socket.emit('data', Buffer.from('nonsense'));
    expect(protocol.transport.ends).to.equal(1);
  });

  it('takes what is sent until it is closed', () => {
    streamDirectly(connectionOf(protocol));
    protocol.transport.send(Buffer.from('one'));
    protocol.transport.isClosed = true;
    protocol.transport.send(Buffer.from('two'));
    expect(protocol.socket.written).to.deep.equal(['one']);
  });

  it('is left as it is when the connection is lost again already', () => {
    protocol.transport.isClosed = true;
    streamDirectly(connectionOf(protocol));
    expect(protocol.socket.listenerCount('data')).to.equal(0);
  });

  it('is a defect where the client keeps it elsewhere', () => {
    expect(() => streamDirectly(connectionOf({}))).to.throw('no transport');
  });
});
