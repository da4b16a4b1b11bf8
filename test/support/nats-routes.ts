/**
 * The ways between the nats-servers of a cluster: all that they say to each other comes through here, and a way can be
 * broken, in one direction or in both, as a network breaks.
 *
 *  NRT1 what comes to a broken way waits there, in order, until it is mended: as TCP would send it again
 *  NRT2 while a way is broken in either direction, no new connection is made over it
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Numbers of nodes, from 0. */
export type Way = readonly [from: number, to: number];

/** What a node says first when it is called. */
const WHO_ANSWERS = /^INFO .*?"server_id":"(\w+)"/;
/** What the caller says first. */
const WHO_CALLS = /^CONNECT .*?"name":"(\w+)"/;

interface Link {
  readonly caller: Socket;
  readonly callee: Socket;
  readonly to: number;
  /** Once it has said so. */
  callerId: string | undefined;
  /** What flows now, by direction. */
  readonly flows: { toCallee: boolean; toCaller: boolean };
}

export class NatsRoutes {
  readonly #links = new Set<Link>();
  readonly #broken = new Set<string>();
  /** A server has another id after each start. */
  readonly #nodes = new Map<string, number>();

  private constructor(private readonly listeners: readonly Server[]) {}

  /** @param targets ports on which the nodes wait for each other */
  static async start(targets: readonly number[]): Promise<NatsRoutes> {
    const listeners = targets.map(() => createServer({ noDelay: true }));
    const routes = new NatsRoutes(listeners);
    for (const [to, listener] of listeners.entries()) {
      listener.on('connection', (caller) => routes.#join(caller, to, targets[to] as number));
      await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    }
    return routes;
  }

  /** Where the others find a node. */
  portOf(node: number): number {
    return ((this.listeners[node] as Server).address() as AddressInfo).port;
  }

  /** @param isTold whether connections there are end; else they fall silent */
  break(ways: readonly Way[], isTold: boolean): void {
    for (const way of ways) this.#broken.add(way.join());
    for (const link of this.#links) {
      if (isTold && this.#isBroken(link)) end(link);
      else this.#flow(link);
    }
  }

  mend(): void {
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

  /** NRT1. Nothing of a caller's goes on before it has said who it is. */
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
