/**
 * The ports of the workers of one machine. The supervisor accepts each connection and gives it to a worker.
 *
 *  SPO1 a connection whose first bytes have a credential goes to the worker that owns its database or account, so its
 *       requests are not forwarded. Each other one, and one of a worker with many connections, goes to the worker
 *       with the fewest
 *  SPO2 no byte is lost: Node reads one piece of a connection, and stops because its stream is full
 *       (`highWaterMark: 0`); the worker reads the rest
 *  SPO3 connections without a first byte are bounded in time and number, and the first bytes of the others in their sum,
 *       until a worker has them
 *  SPO4 a port is open while a worker accepts connections of it
 */
import { createHash } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { BoundedCache, describeError, type SessionId } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import type { ConnectionLine } from './connection-line.js';
import { credentialIn } from './first-bytes.js';
import type { ConnectionQuestion, PortRequest } from './messages.js';

/** A worker that accepts connections. */
export interface Receiver {
  readonly line: ConnectionLine;
  readonly session: { readonly session: SessionId } | undefined;
  /** @returns the session of the owner; undefined: not known in time */
  askForOwner(question: ConnectionQuestion): Promise<SessionId | undefined>;
}

/** Databases move between workers seldom. */
const OWNER_KNOWN_MS = 5_000;
/** The asked worker may have been busy. */
const UNKNOWN_FOR_MS = 500;
const MAX_OWNERS = 10_000;
/**
 * A worker gets the connections of its own databases up to this part of its bound, and up to this many times the average
 * of all workers and some more: the other workers read and answer for a database with very many connections.
 */
const OWN_PART = 0.5;
const TIMES_AVERAGE = 1.5;
const MORE = 32;

/** Bytes that were read and that no worker has: of 500 connections with the most that Node reads at once. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export class SharedPorts {
  readonly #ports = new Map<string, SharedPort>();
  readonly #held = { bytes: 0 };

  constructor(private readonly log: Log) {}

  /** @param workers their number: each one's bounds are its part of the port's. @throws the error of `listen` */
  async listen(receiver: Receiver, request: PortRequest, workers: number): Promise<number> {
    const known = this.#ports.get(request.key);
    const port = known ?? new SharedPort(request, workers, { log: this.log, held: this.#held });
    this.#ports.set(request.key, port);
    try {
      return await port.begin(receiver);
    } catch (error) {
      if (this.#ports.get(request.key) === port) this.#ports.delete(request.key);
      throw error;
    }
  }

  /** The worker gets no other connection of the port. */
  leave(receiver: Receiver, key: string): void {
    const port = this.#ports.get(key);
    if (port === undefined) return;
    if (port.leave(receiver) === 0) {
      this.#ports.delete(key);
      port.close();
    }
    receiver.line.leave(key);
  }

  /** The worker has ended. */
  forget(receiver: Receiver): void {
    for (const key of [...this.#ports.keys()]) this.leave(receiver, key);
    receiver.line.end();
  }
}

/** Parts that all ports share. */
interface SharedParts {
  readonly log: Log;
  /** Bytes that were read and that no worker has. */
  readonly held: { bytes: number };
}

class SharedPort {
  readonly #server: Server;
  readonly #receivers = new Set<Receiver>();
  readonly #silent = new Map<Socket, string>();
  readonly #silentByAddress = new Map<string, number>();
  readonly #owners = new BoundedCache<string, { readonly owner: Promise<SessionId | undefined>; untilMs: number }>(
    MAX_OWNERS,
  );
  #opened: Promise<number> | undefined;
  #turns = 0;

  constructor(
    private readonly request: PortRequest,
    private readonly workers: number,
    private readonly shared: SharedParts,
  ) {
    this.#server = createServer({ highWaterMark: 0, pauseOnConnect: true }, (socket) => this.#accept(socket));
  }

  /** @returns the actual port */
  async begin(receiver: Receiver): Promise<number> {
    this.#opened ??= this.#open();
    const port = await this.#opened;
    this.#receivers.add(receiver);
    this.#owners.clear();
    return port;
  }

  /** @returns how many workers still accept connections */
  leave(receiver: Receiver): number {
    this.#receivers.delete(receiver);
    this.#owners.clear();
    return this.#receivers.size;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#silent.keys()) socket.destroy();
  }

  #open(): Promise<number> {
    const { key, host, port, backlog } = this.request;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port, backlog }, () => {
        this.#server.off('error', reject);
        // The system has no resources for a connection.
        this.#server.on('error', (error) =>
          this.shared.log.warn('port.accept-failed', { port: key, error: describeError(error) }),
        );
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  #accept(socket: Socket): void {
    // A client that disconnects.
    socket.on('error', () => undefined);
    const { reads } = this.request;
    if (reads === undefined) this.#give(socket, undefined, undefined);
    else if (this.#waitsFor(socket)) this.#read(socket);
    else socket.destroy();
  }

  /** @returns false above a bound (SPO3) */
  #waitsFor(socket: Socket): boolean {
    const { ms, most, mostPerAddress } = this.request.silent;
    const address = socket.remoteAddress ?? '';
    const ofAddress = (this.#silentByAddress.get(address) ?? 0) + 1;
    if (this.#silent.size >= most * this.workers || ofAddress > mostPerAddress * this.workers) return false;
    this.#silent.set(socket, address);
    this.#silentByAddress.set(address, ofAddress);
    socket.once('close', () => this.#speaks(socket));
    socket.setTimeout(ms, () => socket.destroy());
    return true;
  }

  #speaks(socket: Socket): void {
    const address = this.#silent.get(socket);
    if (address === undefined) return;
    this.#silent.delete(socket);
    const left = (this.#silentByAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#silentByAddress.delete(address);
    else this.#silentByAddress.set(address, left);
  }

  #read(socket: Socket): void {
    const take = () => {
      const bytes: Buffer | null = socket.read();
      // The client has ended the connection, which closes.
      if (bytes === null) return;
      socket.off('readable', take);
      socket.setTimeout(0);
      this.#speaks(socket);
      if (this.shared.held.bytes > MAX_HELD_BYTES) socket.destroy();
      else void this.#place(socket, bytes);
    };
    socket.on('readable', take);
  }

  async #place(socket: Socket, bytes: Buffer): Promise<void> {
    const { reads } = this.request;
    this.shared.held.bytes += bytes.length;
    const credential = reads && credentialIn(reads, bytes);
    const owner = reads && credential ? await this.#ownerOf({ endpoint: reads, credential }) : undefined;
    this.#give(socket, bytes, owner);
  }

  /** The supervisor keeps no credential. */
  #ownerOf(question: ConnectionQuestion): Promise<SessionId | undefined> {
    const nowMs = performance.now();
    const name = createHash('sha256').update(question.credential).digest('base64');
    const known = this.#owners.get(name);
    if (known !== undefined && nowMs < known.untilMs) return known.owner;
    const owner = this.#least()?.askForOwner(question) ?? Promise.resolve(undefined);
    const asked = { owner, untilMs: nowMs + OWNER_KNOWN_MS };
    this.#owners.set(name, asked);
    void owner.then((answer) => {
      if (answer === undefined) asked.untilMs = nowMs + UNKNOWN_FOR_MS;
    });
    return owner;
  }

  #give(socket: Socket, bytes: Buffer | undefined, owner: SessionId | undefined): void {
    const close = () => {
      this.shared.held.bytes -= bytes?.length ?? 0;
      socket.destroy();
    };
    const elsewhere = () => this.#give(socket, bytes, undefined);
    const receiver = this.#ownerWithRoom(owner) ?? this.#least();
    if (receiver === undefined) close();
    else receiver.line.give({ key: this.request.key, socket, bytes, elsewhere, close });
  }

  #ownerWithRoom(owner: SessionId | undefined): Receiver | undefined {
    if (owner === undefined) return undefined;
    const { key, silent } = this.request;
    const all = [...this.#receivers];
    const receiver = all.find(({ session }) => session?.session === owner);
    if (receiver === undefined || receiver.line.isSlow) return undefined;
    const average = all.reduce((sum, { line }) => sum + line.openOn(key), 0) / all.length;
    const most = Math.min(OWN_PART * Math.min(silent.most, silent.mostPerAddress), TIMES_AVERAGE * average + MORE);
    return receiver.line.openOn(key) < most ? receiver : undefined;
  }

  /** The receiver with the fewest connections; of several, each in turn. */
  #least(): Receiver | undefined {
    this.#turns += 1;
    const { key } = this.request;
    const all = [...this.#receivers];
    const willing = all.some(({ line }) => !line.isSlow) ? all.filter(({ line }) => !line.isSlow) : all;
    let least: Receiver | undefined;
    for (let at = 0; at < willing.length; at += 1) {
      const receiver = willing[(at + this.#turns) % willing.length];
      if (least === undefined || (receiver && receiver.line.openOn(key) < least.line.openOn(key))) least = receiver;
    }
    return least;
  }
}
