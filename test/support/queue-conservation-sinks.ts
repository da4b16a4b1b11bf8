/**
 * Destinations that behave badly, by path, and keep a record of every call: `ok`, `slow`, `flaky` (500), `hang`,
 * `drip`, `lie` (promises more than it sends), `die` (hangs up), `dead` (500 to all), `callback`, and `gone`, whose
 * port may be closed for a while. They fall by the dice until they are told to be kind; `dead` stays dead.
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallRecord, CarriedOutcome } from './queue-conservation-history.js';
import type { SeededRandom } from './seeded-random.js';

const BEHAVIOURS = ['ok', 'slow', 'flaky', 'hang', 'drip', 'lie', 'die', 'dead', 'gone', 'callback'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** Whoever has no region. */
export const NOWHERE = 'nowhere';

const SLOW_MS = 300;
const CALLBACK_MS = 100;
const DRIP_EVERY_MS = 100;
/** A callback that fails now and then is tried again, and its queue waits for it. */
const FAILING_CALLBACKS = 0.1;
const MISBEHAVING = 0.5;

export class HostileSinks {
  readonly calls: CallRecord[] = [];
  readonly #open = new Map<ServerResponse, CallRecord | undefined>();
  #isKind = false;
  #gone: Server | undefined;

  private constructor(
    private readonly server: Server,
    /** Known also when nobody listens there any more. */
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

  /** Calls that have not ended. */
  get openCalls(): number {
    return this.#open.size;
  }

  /** Nobody listens at `gone` any more, and who is there hears nothing. */
  leave(): void {
    for (const [response, call] of this.#open) {
      if (response.socket?.localPort === this.ports.gone) this.#cut(response, call);
    }
    this.#gone?.closeAllConnections();
    this.#gone?.close();
    this.#gone = undefined;
  }

  async comeBack(): Promise<void> {
    if (this.#gone !== undefined) return;
    const gone = createServer((request, response) => this.#take(request, response));
    await listen(gone, this.ports.gone);
    this.#gone = gone;
  }

  /** From now on everything succeeds, but what is `dead`; whoever still hangs or drips is let go. */
  async beKind(): Promise<void> {
    this.#isKind = true;
    await this.comeBack();
    for (const [response, call] of this.#open) this.#cut(response, call);
  }

  #cut(response: ServerResponse, call: CallRecord | undefined): void {
    if (call !== undefined && !response.headersSent) call.isCut = true;
    response.destroy();
  }

  close(): void {
    this.leave();
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
      // A caller that hangs up: what it, or whoever follows it, does next may come before this response is closed.
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

  #moodOf(behaviour: Behaviour): Behaviour {
    if (behaviour === 'ok' || behaviour === 'slow' || behaviour === 'dead') return behaviour;
    const bound = behaviour === 'callback' ? FAILING_CALLBACKS : MISBEHAVING;
    return this.#isKind || this.random.next() >= bound ? 'ok' : behaviour;
  }

  #behave(behaviour: Behaviour, call: CallRecord, response: ServerResponse): void {
    const answer = (status: number): void => {
      if (response.destroyed || call.end !== undefined) return;
      call.status = status;
      call.end = 'answered';
      call.endedAtMs = Date.now();
      response.writeHead(status).end('heard');
    };
    // What has come meanwhile is read first: a caller that has hung up is not answered.
    const answerIn = (ms: number): void => void setTimeout(() => setImmediate(answer, 200), ms);
    switch (this.#moodOf(behaviour)) {
      case 'ok':
        // So long that one which is not waited for is seen.
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

/** As the receivers of published clients judge it; spelled out here, so that it is checked against other code. */
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
