/**
 * Forwards the routes between the nats-servers of a cluster. A route can be broken in one or both directions, as by a
 * network failure.
 *
 *  NRT1 data of a broken route is held in order until the route is repaired, as TCP would resend it
 *  NRT2 while a route is broken in either direction, no new connection is made over it
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A direction between two nodes, by number from 0. */
export type Way = readonly [from: number, to: number];

/** Matches the first message of a called node. */
const WHO_ANSWERS = /^INFO .*?"server_id":"(\w+)"/;
/** Matches the first message of a caller. */
const WHO_CALLS = /^CONNECT .*?"name":"(\w+)"/;

interface Link {
  readonly caller: Socket;
  readonly callee: Socket;
  readonly to: number;
  /** The caller's id, when it is known. */
  callerId: string | undefined;
  /** Whether data is forwarded, by direction. */
  readonly flows: { toCallee: boolean; toCaller: boolean };
}

export class NatsRoutes {
  readonly #links = new Set<Link>();
  readonly #broken = new Set<string>();
  /** Node numbers by server id; a server has a new id after each start. */
  readonly #nodes = new Map<string, number>();

  private constructor(private readonly listeners: readonly Server[]) {}

  /** @param targets the ports on which the nodes accept routes */
  static async start(targets: readonly number[]): Promise<NatsRoutes> {
    const listeners = targets.map(() => createServer({ noDelay: true }));
    const routes = new NatsRoutes(listeners);
    for (const [to, listener] of listeners.entries()) {
      listener.on('connection', (caller) => routes.#join(caller, to, targets[to] as number));
      await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    }
    return routes;
  }

  /** The port on which other nodes reach a node. */
  portOf(node: number): number {
    return ((this.listeners[node] as Server).address() as AddressInfo).port;
  }

  /** @param isTold closes existing connections; otherwise they stay open without data */
  break(ways: readonly Way[], isTold: boolean): void {
    for (const way of ways) this.#broken.add(way.join());
    for (const link of this.#links) {
      if (isTold && this.#isBroken(link)) end(link);
      else this.#flow(link);
    }
  }

  repair(): void {
    this.#broken.clear();
    for (const link of this.#links) this.#flow(link);
  }

  close(): void {
    for (const listener of this.listeners) listener.close();
    for (const link of this.#links) end(link);
  }

  #join(caller: Socket, to: number, port: number): void {
    const callee = connect({ port, host: '127.0.0.1', noDelay: true });
    const link: Link = { caller, callee, to, callerId: undefined, flows: { toCallee: false, toCaller: false } };
    this.#links.add(link);
    for (const socket of [caller, callee]) {
      socket.on('error', () => end(link));
      socket.once('close', () => {
        this.#links.delete(link);
        end(link);
      });
    }
    callee.once('data', (bytes) => {
      const id = WHO_ANSWERS.exec(bytes.toString('latin1'))?.[1];
      if (id !== undefined) this.#nodes.set(id, to);
    });
    this.#flow(link);
    caller.once('data', (bytes: Buffer) => {
      caller.pause();
      caller.unshift(bytes);
      link.callerId = WHO_CALLS.exec(bytes.toString('latin1'))?.[1] ?? '';
      // NRT2.
      if (this.#isBroken(link)) end(link);
      else this.#flow(link);
    });
  }

  /** NRT1. Data of a caller is forwarded only after its id is known. */
  #flow(link: Link): void {
    const { caller, callee, flows, to } = link;
    const from = this.#callerOf(link);
    const toCallee = link.callerId !== undefined && !this.#broken.has(`${from},${to}`);
    const toCaller = !this.#broken.has(`${to},${from}`);
    if (toCallee !== flows.toCallee) toCallee ? caller.pipe(callee) : caller.unpipe(callee);
    if (toCaller !== flows.toCaller) toCaller ? callee.pipe(caller) : callee.unpipe(caller);
    Object.assign(flows, { toCallee, toCaller });
  }

  #isBroken(link: Link): boolean {
    const from = this.#callerOf(link);
    return this.#broken.has(`${from},${link.to}`) || this.#broken.has(`${link.to},${from}`);
  }

  #callerOf({ callerId = '' }: Link): number | undefined {
    return this.#nodes.get(callerId);
  }
}

function end({ caller, callee }: Link): void {
  caller.destroy();
  callee.destroy();
}
