/**
 * The bytes of one connection between its socket and the client's parser, without what the client has in between: a
 * generator and two promises for every read, and two more for every write
 * (docs/adr/0049-requests-are-one-frame.md). Dialling, the greeting and reconnecting stay the client's.
 *
 *  STD1 bytes are parsed in the order in which they came: what the client has read by then it parses first, in the
 *      microtasks before the next read
 *  STD2 what cannot be parsed ends the connection, and another is made; the client alone would hear nothing from then on
 */
import type { Socket } from 'node:net';
import type { NatsConnection } from 'nats';
import { assert } from '../../kernel/index.js';

interface Transport {
  readonly socket?: Pick<Socket, 'write' | 'on' | 'removeAllListeners'>;
  readonly isClosed: boolean;
  send(frame: Uint8Array): void;
  disconnect(): void;
}

/** What the client has of its connection; a reconnect makes a transport and a parser anew. */
interface Protocol {
  readonly transport: Transport;
  readonly parser: { parse(bytes: Uint8Array): void };
}

/** To be called when it is connected, each time. */
export function streamDirectly(connection: NatsConnection): void {
  const { protocol } = connection as unknown as { readonly protocol?: Partial<Protocol> };
  const { transport, parser } = protocol ?? {};
  assert(transport !== undefined && parser !== undefined, 'the NATS client has no transport where it had one');
  const { socket } = transport;
  // Lost again already.
  if (socket === undefined || transport.isClosed) return;
  socket.removeAllListeners('data');
  socket.on('data', (bytes) => {
    try {
      parser.parse(bytes);
    } catch {
      transport.disconnect();
    }
  });
  transport.send = (frame) => {
    // A failure is told by the socket's end.
    if (!transport.isClosed) socket.write(frame);
  };
}
