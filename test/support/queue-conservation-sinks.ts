/**
 * Destinations with a behaviour per path, which record every call: `ok`, `slow`, `flaky` (500), `hang`, `drip` (an
 * endless slow body), `lie` (a body shorter than its content-length), `die` (closes the connection), `dead` (always
 * 500), `callback`, and `gone` (its port is closed for some time). Failures are random and stop after `stopFailing`,
 * except for `dead`.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallRecord, CarriedOutcome } from './queue-conservation-history.js';
import type { SeededRandom } from './seeded-random.js';

const BEHAVIOURS = ['ok', 'slow', 'flaky', 'hang', 'drip', 'lie', 'die', 'dead', 'gone', 'callback'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** The region of a process without one. */
export const NOWHERE = 'nowhere';

const SLOW_MS = 300;
const CALLBACK_MS = 100;
const DRIP_EVERY_MS = 100;
/** The share of failing callbacks; the queue repeats a failed callback and waits for it. */
const FAILING_CALLBACKS = 0.1;
const MISBEHAVING = 0.5;

export class HostileSinks {
  readonly calls: CallRecord[] = [];
  readonly #open = new Map<ServerResponse, CallRecord | undefined>();
  #alwaysSucceeds = false;
  #gone: Server | undefined;

  private constructor(
    private readonly server: Server,
    /** The ports stay known while `gone` is closed. */
    private readonly ports: { readonly all: number; readonly gone: number },
    private readonly signingKey: string,
    private readonly random: SeededRandom,
  ) {}

  static async start(signingKey: string, random: SeededRandom): Promise<HostileSinks> {
    const server = createServer();
    const gone = createServer();
    await listen(server, 0);
    await listen(gone, 0);
    const sinks = new HostileSinks(server, { all: portOf(server), gone: portOf(gone) }, signingKey, random);
    server.on('request', (request, response) => sinks.#take(request, response));
    gone.on('request', (request, response) => sinks.#take(request, response));
    sinks.#gone = gone;
    return sinks;
  }

  url(behaviour: Behaviour): string {
    const port = behaviour === 'gone' ? this.ports.gone : this.ports.all;
    return `http://127.0.0.1:${port}/${behaviour}`;
  }

  isOwn(url: string): boolean {
    return Object.values(this.ports).some((port) => url.startsWith(`http://127.0.0.1:${port}/`));
  }

  /** The number of open calls. */
  get openCalls(): number {
    return this.#open.size;
  }

  /** Closes the port of `gone` and its open connections. */
  closeGone(): void {
    for (const [response, call] of this.#open) {
      if (response.socket?.localPort === this.ports.gone) this.#cut(response, call);
    }
    this.#gone?.closeAllConnections();
    this.#gone?.close();
    this.#gone = undefined;
  }

  async reopenGone(): Promise<void> {
    if (this.#gone !== undefined) return;
    const gone = createServer((request, response) => this.#take(request, response));
    await listen(gone, this.ports.gone);
    this.#gone = gone;
  }

  /** From now on all calls succeed, except at `dead`; open calls are closed. */
  async stopFailing(): Promise<void> {
    this.#alwaysSucceeds = true;
    await this.reopenGone();
    for (const [response, call] of this.#open) this.#cut(response, call);
  }

  #cut(response: ServerResponse, call: CallRecord | undefined): void {
    if (call !== undefined && !response.headersSent) call.isCut = true;
    response.destroy();
  }

  close(): void {
    this.closeGone();
    this.server.closeAllConnections();
    this.server.close();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const startedAtMs = Date.now();
    const pieces: Buffer[] = [];
    this.#open.set(response, undefined);
    response.once('close', () => this.#open.delete(response));
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => undefined);
    request.on('end', () => {
      const call = this.#recordOf(request, Buffer.concat(pieces), startedAtMs);
      this.calls.push(call);
      this.#open.set(response, call);
      const over = (): void => {
        call.endedAtMs ??= Date.now();
        call.end ??= 'closed';
      };
      // The end of the caller's side is recorded, because the next call of the caller or its successor may arrive
      // before this response closes.
      request.socket.once('end', over);
      response.once('close', () => {
        request.socket.off('end', over);
        over();
      });
      this.#behave((request.url ?? '').slice(1).split('?')[0] as Behaviour, call, response);
    });
  }

  #recordOf({ headers, url = '' }: IncomingMessage, body: Buffer, startedAtMs: number): CallRecord {
    const { message, carries } = contentOf(body);
    const signature = String(headers['svc-signature']);
    const region = headers['svc-region'];
    return {
      id: String(headers['svc-message-id']),
      retried: Number(headers['svc-retried']),
      number: message,
      carries,
      by: typeof region === 'string' ? region : NOWHERE,
      startedAtMs,
      endedAtMs: undefined,
      end: undefined,
      status: 0,
      isGenuine: isGenuine(signature, this.signingKey, `http://${headers.host}${url}`, body),
    };
  }

  #presentBehaviour(behaviour: Behaviour): Behaviour {
    if (behaviour === 'ok' || behaviour === 'slow' || behaviour === 'dead') return behaviour;
    const bound = behaviour === 'callback' ? FAILING_CALLBACKS : MISBEHAVING;
    return this.#alwaysSucceeds || this.random.next() >= bound ? 'ok' : behaviour;
  }

  #behave(behaviour: Behaviour, call: CallRecord, response: ServerResponse): void {
    const answer = (status: number): void => {
      if (response.destroyed || call.end !== undefined) return;
      call.status = status;
      call.end = 'answered';
      call.endedAtMs = Date.now();
      response.writeHead(status).end('heard');
    };
    // Received data is handled before the answer: a caller that has closed the connection gets none.
    const answerIn = (ms: number): void => void setTimeout(() => setImmediate(answer, 200), ms);
    switch (this.#presentBehaviour(behaviour)) {
      case 'ok':
        // The delay of a callback's answer is long enough to detect a queue that does not wait for callbacks.
        if (behaviour === 'callback') answerIn(this.random.below(CALLBACK_MS));
        else answer(200);
        break;
      case 'slow':
        answerIn(this.random.below(SLOW_MS));
        break;
      case 'hang':
        break;
      case 'drip':
        drip(response);
        break;
      case 'lie':
        response.writeHead(200, { 'content-length': '1000' });
        response.write('short', () => response.destroy());
        break;
      case 'die':
        this.#cut(response, call);
        break;
      default:
        answer(500);
    }
  }
}

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), DRIP_EVERY_MS);
  response.once('close', () => clearInterval(timer));
}

function contentOf(body: Buffer): { message: number | undefined; carries: CarriedOutcome | undefined } {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  } catch {
    return { message: undefined, carries: undefined };
  }
  const { publish, sourceMessageId, retried, status, dlqId } = parsed;
  if (typeof sourceMessageId !== 'string') return { message: Number(publish), carries: undefined };
  const carries = { source: sourceMessageId, retried: Number(retried), status: Number(status), dlqId: dlqId as string };
  return { message: undefined, carries };
}

/**
 * Verifies a signature as the receivers of published clients do. This is a second implementation, so that the
 * signature is not checked by the code that made it.
 */
function isGenuine(signature: string, key: string, url: string, body: Buffer): boolean {
  const [head = '', claims = '', mac = ''] = signature.split('.');
  if (createHmac('sha256', key).update(`${head}.${claims}`).digest('base64url') !== mac) return false;
  const { sub, body: hash } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, string>;
  const expected = createHash('sha256').update(body).digest('base64url');
  return sub === url && hash?.replace(/=+$/, '') === expected;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
