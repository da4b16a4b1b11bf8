/** A name server on loopback over UDP and TCP, with prepared answers for each name. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question, TRUNCATED_RESPONSE } from 'dns-packet';

export interface NameAnswer {
  /** 3 if the name does not exist, 2 if the server failed. */
  readonly code?: number;
  readonly answers?: readonly Answer[];
  readonly authorities?: readonly Answer[];
  /** Over UDP: an answer that says only that it was truncated. */
  readonly isCut?: boolean;
  readonly afterMs?: number;
  /** Changes the encoded answer before it is sent. */
  readonly spoil?: (bytes: Buffer) => void;
}

/** Undefined for no answer. */
export type AnswerFor = (question: Question, isTcp: boolean) => NameAnswer | undefined;

export class NameServer {
  /** All questions in order, such as `A name`. */
  readonly asked: string[] = [];

  private constructor(
    readonly udp: UdpSocket,
    readonly tcp: Server,
    readonly answerFor: AnswerFor,
  ) {}

  static async listening(answerFor: AnswerFor): Promise<NameServer> {
    const udp = createSocket('udp4');
    const tcp = createServer();
    const server = new NameServer(udp, tcp, answerFor);
    udp.on('message', (bytes, from) => server.#answer(bytes, false, (out) => udp.send(out, from.port, from.address)));
    tcp.on('connection', (socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', (bytes) =>
        server.#answer(bytes.subarray(2), true, (out) => {
          const head = Buffer.alloc(2);
          head.writeUInt16BE(out.length);
          // The answer is sent in two pieces.
          socket.write(Buffer.concat([head, out.subarray(0, 5)]), () => socket.write(out.subarray(5)));
        }),
      );
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => udp.bind(server.port, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.tcp.address() as { port: number }).port;
  }

  get address(): { address: string; port: number } {
    return { address: '127.0.0.1', port: this.port };
  }

  timesAsked(name: string): number {
    return this.asked.filter((question) => question === `A ${name}`).length;
  }

  async close(): Promise<void> {
    this.udp.close();
    await new Promise((resolve) => this.tcp.close(resolve));
  }

  #answer(bytes: Buffer, isTcp: boolean, send: (bytes: Buffer) => void): void {
    const { id, questions = [] } = decode(bytes);
    const question = questions[0] as Question;
    this.asked.push(`${question.type} ${question.name}`);
    const answer = this.answerFor(question, isTcp);
    if (answer === undefined) return;
    const { code = 0, answers = [], authorities = [], isCut = false, afterMs = 0, spoil } = answer;
    const isCutNow = isCut && !isTcp;
    const out = encode({
      type: 'response',
      id,
      flags: AUTHORITATIVE_ANSWER | (isCutNow ? TRUNCATED_RESPONSE : 0) | code,
      questions,
      answers: isCutNow ? [] : [...answers],
      authorities: isCutNow ? [] : [...authorities],
    });
    spoil?.(out);
    if (afterMs === 0) send(out);
    else setTimeout(() => send(out), afterMs);
  }
}

/** Answers IPv4 questions with these addresses, and IPv6 questions with none. */
export function addressesFor({ type, name }: Question, addresses: readonly string[], ttl = 60): NameAnswer {
  if (type !== 'A') return { authorities: [soa(ttl)] };
  return { answers: addresses.map((data) => ({ type: 'A', name, ttl, data })) };
}

export function soa(minimum: number, ttl = 3600): Answer {
  return { type: 'SOA', name: 'example', ttl, data: { mname: 'ns.example', rname: 'root.example', minimum } };
}
