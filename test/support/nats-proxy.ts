/**
 * A TCP proxy between a process and its nats-server that simulates network failures: it loses or delays the
 * acknowledgements of a journal, stalls a direction, closes connections, or refuses new ones.
 *
 * The proxy parses only enough of the protocol to find an acknowledgement: a message without a reply subject whose
 * payload is a JSON object with a journal stream and a position.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type Direction = 'to-server' | 'to-client';

type AckRule = { readonly kind: 'pass' } | { readonly kind: 'lose' } | { readonly kind: 'delay'; readonly ms: number };

/** Matches journals such as `KV_0`, with or without a prefix, and not the leases in `KV_leases`. */
function acknowledgementOf(journals: string): RegExp {
  return new RegExp(`^\\{"stream":"(?:[A-Za-z0-9-]+_)?${journals}_\\d+",\\s*"seq":\\d+`);
}
const LINE_END = Buffer.from('\r\n');

export class NatsProxy {
  readonly #pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  readonly #stalled = new Set<Direction>();
  readonly #delayed = new Set<NodeJS.Timeout>();
  #acks: AckRule = { kind: 'pass' };
  #isRefusing = false;
  /** The number of lost or delayed acknowledgements. */
  acksTouched = 0;

  private constructor(
    private readonly listener: Server,
    private readonly target: number,
    private readonly journalAck: RegExp,
  ) {
    listener.on('connection', (client) => this.#join(client));
  }

  /** @param journals the kind of journals with the affected acknowledgements: `KV` or `QUEUE` */
  static async start(targetPort: number, journals = 'KV'): Promise<NatsProxy> {
    const listener = createServer({ noDelay: true });
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    return new NatsProxy(listener, targetPort, acknowledgementOf(journals));
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  /** Drops acknowledgements: the journal stores entries, and the process gets no answer. */
  loseAcks(): void {
    this.#acks = { kind: 'lose' };
  }

  delayAcks(ms: number): void {
    this.#acks = { kind: 'delay', ms };
  }

  /** Holds all data of a direction, in order, until `heal`. */
  stall(direction: Direction): void {
    this.#stalled.add(direction);
    for (const { client, server } of this.#pairs) (direction === 'to-server' ? client : server).pause();
  }

  /** Closes all connections; new ones are accepted. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  /** Closes all connections, and refuses new ones until `heal`. */
  isolate(): void {
    this.#isRefusing = true;
    this.cut();
  }

  heal(): void {
    this.#acks = { kind: 'pass' };
    this.#isRefusing = false;
    this.#stalled.clear();
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#delayed) clearTimeout(timer);
    // Connections are closed and not reset, because the runtime may never clean up a socket that is reset here.
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    await new Promise((done) => this.listener.close(done));
  }

  #join(client: Socket): void {
    if (this.#isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    const pair = { client, server };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    const frames = new FrameSplitter(this.journalAck, (frame, isAck) => this.#forward(client, frame, isAck));
    client.on('data', (bytes) => void (server.destroyed || server.write(bytes)));
    server.on('data', (bytes) => frames.add(bytes));
    if (this.#stalled.has('to-server')) client.pause();
    if (this.#stalled.has('to-client')) server.pause();
  }

  #forward(client: Socket, frame: Buffer, isAck: boolean): void {
    const rule = isAck ? this.#acks : { kind: 'pass' as const };
    const send = (): void => void (client.destroyed || client.write(frame));
    if (rule.kind !== 'pass') this.acksTouched += 1;
    if (rule.kind === 'pass') send();
    if (rule.kind !== 'delay') return;
    const timer = setTimeout(() => {
      this.#delayed.delete(timer);
      send();
    }, rule.ms);
    this.#delayed.add(timer);
  }
}

/** Splits the server's data into complete protocol messages. */
class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);
  #wanted = 0;

  constructor(
    private readonly journalAck: RegExp,
    private readonly onFrame: (frame: Buffer, isJournalAck: boolean) => void,
  ) {}

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= this.#wanted && this.#takeOne());
  }

  #takeOne(): boolean {
    const lineEnd = this.#rest.indexOf(LINE_END);
    if (lineEnd < 0) return false;
    const words = this.#rest.toString('latin1', 0, lineEnd).split(' ');
    const hasPayload = words[0] === 'MSG' || words[0] === 'HMSG';
    const payloadAt = lineEnd + LINE_END.length;
    const end = hasPayload ? payloadAt + Number(words.at(-1)) + LINE_END.length : payloadAt;
    if (this.#rest.length < end) {
      // A large message arrives in many pieces, and is parsed only when it is complete.
      this.#wanted = end;
      return false;
    }
    this.#wanted = 0;
    const frame = Buffer.from(this.#rest.subarray(0, end));
    this.#rest = this.#rest.subarray(end);
    const isAck = words[0] === 'MSG' && words.length === 4 && this.journalAck.test(frame.toString('latin1', payloadAt));
    this.onFrame(frame, isAck);
    return true;
  }
}
