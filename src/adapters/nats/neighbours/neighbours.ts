/**
 * Requests between processes of one machine over Unix sockets: a message through the nats-server costs both processes
 * more than most commands. Processes find each other by their heartbeats on NATS; a pair has one connection.
 *
 *  NB1 only processes of the same user and installation speak: the socket is in a directory that is closed to other
 *      users, and the caller shows the secret that the heartbeat has told the processes on this NATS
 *  NB2 a topic is asked here only when exactly one process serves it; otherwise the request goes over NATS to all
 *  NB3 a process without its connection to NATS does not serve here: another one may have taken its shards
 *  NB4 a failure here is never the last word: without a socket, or after an unserved request, NATS is used
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { describeError } from '../../../kernel/index.js';
import type { Log, NeighbourAddress } from '../../../ports/index.js';
import { type NeighbourAnswer, NeighbourLink, type NeighbourOutcome } from './neighbour-link.js';

export interface NeighboursOptions {
  /** The directory of this process's data. */
  readonly dataDir: string;
  /** The same for all processes of a machine until its next start. */
  readonly machine: string;
  /** NB3 */
  readonly isConnected: () => boolean;
  readonly log?: Log | undefined;
}

const VERSION = 1;
const SECRET_BYTES = 32;
/** A path is part of the socket's address, which has 108 bytes on Linux and 104 on macOS. */
const MAX_PATH_BYTES = 100;
const GREETING_MS = 2000;
/** Pause before a process is called again that could not be reached. */
const CALL_AGAIN_MS = 10_000;
/** Remembered failures; the oldest are forgotten. */
const MAX_FAILED = 1000;
/** Younger sockets without a listener belong to a process that is starting. */
const ABANDONED_AFTER_MS = 10_000;

interface Served {
  readonly subject: string;
  readonly answer: (payload: Uint8Array) => Promise<NeighbourAnswer>;
}

interface Route {
  readonly link: NeighbourLink;
  readonly topic: number;
}

export class Neighbours {
  readonly #name = randomBytes(9).toString('base64url');
  readonly #secret = randomBytes(SECRET_BYTES);
  readonly #linksByName = new Map<string, NeighbourLink>();
  readonly #calling = new Set<string>();
  readonly #failedAtMs = new Map<string, number>();
  readonly #servedByTopic = new Map<number, Served>();
  readonly #routesBySubject = new Map<string, readonly Route[]>();
  /** Connected, and not greeted yet. */
  readonly #greeting = new Set<NeighbourLink>();
  #topics = 0;
  #server: Server | undefined;
  #path: string | undefined;
  #isClosed = false;

  constructor(private readonly options: NeighboursOptions) {
    this.#listen().catch((error: unknown) => {
      options.log?.info('bus.no-socket', { cause: describeError(error) });
    });
  }

  /** Undefined until this process listens, and where it cannot. */
  get address(): NeighbourAddress | undefined {
    if (this.#path === undefined) return undefined;
    return { machine: this.options.machine, name: this.#name, path: this.#path, secret: this.#secret };
  }

  /** Connects to a process that was heard, unless it is of another machine or connected. */
  meet(address: NeighbourAddress): void {
    const { name } = address;
    // Of two processes one calls.
    if (this.#path === undefined || address.machine !== this.options.machine || name <= this.#name) return;
    if (this.#isClosed || this.#linksByName.has(name) || this.#calling.has(name)) return;
    const failedAtMs = this.#failedAtMs.get(name);
    if (failedAtMs !== undefined && performance.now() - failedAtMs < CALL_AGAIN_MS) return;
    this.#calling.add(name);
    this.#call(address)
      .catch((error: unknown) => {
        if (!this.#failedAtMs.has(name)) {
          this.options.log?.info('bus.neighbour-not-reached', { path: address.path, cause: describeError(error) });
        }
        this.#failedAtMs.set(name, performance.now());
        const [oldest] = this.#failedAtMs.keys();
        if (this.#failedAtMs.size > MAX_FAILED && oldest !== undefined) this.#failedAtMs.delete(oldest);
      })
      .finally(() => this.#calling.delete(name));
  }

  /** @param answer  does not reject @returns ends the service; requests that come later are unserved */
  serve(subject: string, answer: (payload: Uint8Array) => Promise<NeighbourAnswer>): () => void {
    this.#topics += 1;
    const topic = this.#topics;
    this.#servedByTopic.set(topic, { subject, answer });
    for (const link of this.#linksByName.values()) link.announce(topic, subject);
    return () => {
      if (!this.#servedByTopic.delete(topic)) return;
      for (const link of this.#linksByName.values()) link.announce(topic, undefined);
    };
  }

  /** @returns false when no neighbour can be asked; then no request was sent, and `settle` is not called */
  request(
    subject: string,
    payload: Uint8Array,
    timeoutMs: number,
    settle: (outcome: NeighbourOutcome) => void,
  ): boolean {
    const routes = this.#routesBySubject.get(subject);
    const [route] = routes ?? [];
    if (route === undefined || routes?.length !== 1 || !route.link.isPrompt) return false;
    route.link.request(route.topic, payload, timeoutMs, settle);
    return true;
  }

  /** The number of connected processes. */
  get size(): number {
    return this.#linksByName.size;
  }

  /** True while a call to that process is in progress. */
  isCalling(name: string): boolean {
    return this.#calling.has(name);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const link of this.#greeting) link.close('this process ends');
    for (const link of this.#linksByName.values()) link.close('this process ends');
    const server = this.#server;
    if (server !== undefined) await new Promise<void>((closed) => server.close(() => closed()));
  }

  async #listen(): Promise<void> {
    const directory = resolve(this.options.dataDir, 'sockets');
    const path = join(directory, `${this.#name}.sock`);
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      throw new Error(`the path ${path} is longer than ${MAX_PATH_BYTES} bytes`);
    }
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // It may exist with another mode.
    await chmod(directory, 0o700);
    await removeAbandoned(directory);
    if (this.#isClosed) return;
    const server = createServer((socket) => this.#welcome(socket));
    this.#server = server;
    server.unref();
    await new Promise<void>((listening, failed) => {
      server.once('error', failed);
      // Exclusive: in a worker, Node would otherwise let the supervisor listen and pass on the connections.
      server.listen({ path, exclusive: true }, listening);
    });
    server.on('error', (error) => this.options.log?.info('bus.no-socket', { cause: describeError(error) }));
    this.#path = path;
  }

  async #call({ name, path, secret }: NeighbourAddress): Promise<void> {
    await refuseOpenDirectory(dirname(path));
    const socket = connect(path);
    socket.unref();
    await new Promise<void>((connected, failed) => {
      socket.once('connect', connected);
      socket.once('error', failed);
    });
    const link = this.#open(socket, name);
    link.greet(VERSION, Buffer.concat([secret, Buffer.from(this.#name, 'latin1')]));
    this.#join(name, link);
  }

  /** A process has connected. Its first frame is its greeting. */
  #welcome(socket: Socket): void {
    socket.unref();
    const link = this.#open(socket, undefined);
    this.#greeting.add(link);
    const late = setTimeout(() => this.#greeting.has(link) && link.close('it has not greeted'), GREETING_MS);
    late.unref();
    socket.once('close', () => clearTimeout(late));
  }

  /** @param called  the name of the process, if this one has connected to it */
  #open(socket: Socket, called: string | undefined): NeighbourLink {
    let name = called;
    const subjects = new Map<number, string>();
    const link = new NeighbourLink(
      socket,
      {
        answer: (topic, payload) =>
          this.options.isConnected() ? this.#servedByTopic.get(topic)?.answer(payload) : undefined,
        onGreeting: (version, body) => {
          name = version === VERSION ? this.#nameIn(body) : undefined;
          if (name !== undefined) this.#join(name, link);
          return name !== undefined;
        },
        onTopic: (topic, subject) => {
          if (subject === undefined) this.#removeRoute(subjects.get(topic), { link, topic });
          else this.#addRoute(subject, { link, topic });
          if (subject === undefined) subjects.delete(topic);
          else subjects.set(topic, subject);
        },
        onEnd: (reason) => {
          this.#greeting.delete(link);
          for (const [topic, subject] of subjects) this.#removeRoute(subject, { link, topic });
          if (name === undefined) return;
          if (this.#linksByName.get(name) === link) this.#linksByName.delete(name);
          this.options.log?.info('bus.neighbour-left', { neighbour: name, why: reason });
        },
      },
      called !== undefined,
    );
    return link;
  }

  /** NB1 @returns the name of the process that has connected; undefined when it does not know the secret */
  #nameIn(greeting: Buffer): string | undefined {
    const secret = greeting.subarray(0, SECRET_BYTES);
    const isKnown = secret.length === SECRET_BYTES && timingSafeEqual(secret, this.#secret);
    return isKnown ? greeting.toString('latin1', SECRET_BYTES) : undefined;
  }

  #join(name: string, link: NeighbourLink): void {
    this.#greeting.delete(link);
    if (this.#isClosed) {
      link.close('this process ends');
      return;
    }
    this.#linksByName.get(name)?.close('the process has connected again');
    this.#linksByName.set(name, link);
    this.#failedAtMs.delete(name);
    this.options.log?.info('bus.neighbour-joined', { neighbour: name });
    for (const [topic, { subject }] of this.#servedByTopic) link.announce(topic, subject);
  }

  #addRoute(subject: string, route: Route): void {
    this.#routesBySubject.set(subject, [...(this.#routesBySubject.get(subject) ?? []), route]);
  }

  #removeRoute(subject: string | undefined, { link, topic }: Route): void {
    if (subject === undefined) return;
    const routes = this.#routesBySubject.get(subject) ?? [];
    const left = routes.filter((route) => route.link !== link || route.topic !== topic);
    if (left.length === 0) this.#routesBySubject.delete(subject);
    else this.#routesBySubject.set(subject, left);
  }
}

/** NB1: a socket in a directory of another user, or one that others can write to, may belong to anyone. */
async function refuseOpenDirectory(directory: string): Promise<void> {
  const { uid, mode } = await stat(directory);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${directory} is open to other users`);
}

/** Sockets of processes that were killed. */
async function removeAbandoned(directory: string): Promise<void> {
  const names = await readdir(directory);
  const look = async (name: string) => {
    const path = join(directory, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS && (await isRefused(path))) await unlink(path);
  };
  await Promise.all(names.filter((name) => name.endsWith('.sock')).map((name) => look(name).catch(() => undefined)));
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(path);
    socket.unref();
    socket.once('connect', () => {
      socket.destroy();
      answer(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => answer(error.code === 'ECONNREFUSED'));
  });
}
