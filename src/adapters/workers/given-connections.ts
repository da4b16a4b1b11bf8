/** The connections that a worker gets from its supervisor, as those of its servers' ports. */
import type { Server, Socket } from 'node:net';
import tls from 'node:tls';
import type { Acceptor, Listening } from '../../ports/index.js';
import type { ReadEndpoint } from './first-bytes.js';
import type { FromWorker, ToWorker } from './messages.js';

/** The first bytes on other ports are for all databases, or encrypted. */
const READ_PORTS: Readonly<Record<string, ReadEndpoint>> = {
  MILLRACE_KV_PORT: 'kv',
  MILLRACE_QUEUE_PORT: 'queue',
  MILLRACE_RESP_PORT: 'resp',
};

export class GivenConnections implements Acceptor {
  /** Another worker serves its clients: no request should fail, and no client waits for the end of this worker. */
  readonly lastRequestsMs = 1_000;
  readonly #servers = new Map<string, Server>();
  readonly #answers = new Map<string, (answer: ToWorker) => void>();
  /** By port, since the start of this process. */
  readonly ended: Record<string, number> = {};

  constructor(private readonly send: (message: FromWorker) => void) {}

  async begin(server: Server, listening: Listening): Promise<{ readonly port: number }> {
    const { variable, host, port, backlog, silent } = listening;
    const key = `${variable} ${host}:${port}`;
    const reads = server instanceof tls.Server ? undefined : READ_PORTS[variable];
    this.#servers.set(key, server);
    const answer = await this.#ask(key, { kind: 'listen', port: { key, host, port, backlog, silent, reads } });
    if (answer.kind === 'listening') return { port: answer.port };
    this.#servers.delete(key);
    const { code, message } = answer.kind === 'not-listening' ? answer : { code: '', message: 'no answer' };
    throw Object.assign(new Error(message), { code });
  }

  async end(server: Server): Promise<void> {
    for (const [key, each] of this.#servers) {
      if (each !== server) continue;
      await this.#ask(key, { kind: 'leave', key });
      this.#servers.delete(key);
    }
  }

  hear(message: ToWorker, socket: Socket | undefined): void {
    if (message.kind === 'connection') {
      this.send({ kind: 'got' });
      this.#accept(message.key, socket, message.bytes);
    } else if ('key' in message) this.#answers.get(message.key)?.(message);
  }

  #ask(key: string, question: FromWorker): Promise<ToWorker> {
    return new Promise((resolve) => {
      this.#answers.set(key, resolve);
      this.send(question);
    });
  }

  /** @param socket undefined: its client has disconnected */
  #accept(key: string, socket: Socket | undefined, bytes: string | undefined): void {
    if (socket === undefined || socket.destroyed) {
      this.#hasEnded(key);
      return;
    }
    socket.once('close', () => this.#hasEnded(key));
    const server = this.#servers.get(key);
    if (server === undefined) {
      socket.destroy();
      return;
    }
    // As Node's own servers do for connections that they accept.
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    if (bytes !== undefined) socket.unshift(Buffer.from(bytes, 'base64'));
    server.emit('connection', socket);
  }

  #hasEnded(key: string): void {
    this.ended[key] = (this.ended[key] ?? 0) + 1;
  }
}
