/**
 * The HTTP server of a workflow endpoint. It records requests, may drop answers after the endpoint has handled a
 * request, and may be down for some time. Requests that are in progress when it goes down are completed without an
 * answer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type EndpointHandler = (request: Request) => Promise<Response>;

/** A recorded request to the endpoint. */
export interface EndpointPost {
  readonly runId: string;
  readonly messageId: string;
  readonly retried: number;
  readonly isFailure: boolean;
  /** The list of entries of a delivery, if it is included, or the outcome of a call. */
  readonly body: string;
  readonly startedAtMs: number;
  /** The result of the endpoint's work, set even if the answer is dropped. */
  done?: { readonly status: number; readonly answer: string; readonly atMs: number };
  /** The answer was sent. The server may still have ended before it read it. */
  isAnswered?: boolean;
  /** The complete answer was dropped. On a reused connection the caller repeats such a call. */
  isCut?: boolean;
}

const current = new AsyncLocalStorage<EndpointPost>();

/** The request that the calling code handles. */
export function currentPost(): EndpointPost | undefined {
  return current.getStore();
}

export class ChaosEndpoint {
  readonly posts: EndpointPost[] = [];
  #server: Server | undefined;
  #port = 0;

  /** @param losesAnswer returns true if the next answer is to be dropped */
  private constructor(
    private readonly handler: EndpointHandler,
    private readonly losesAnswer: () => boolean,
  ) {}

  static async listening(handler: EndpointHandler, losesAnswer: () => boolean = () => false): Promise<ChaosEndpoint> {
    const endpoint = new ChaosEndpoint(handler, losesAnswer);
    await endpoint.start();
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/workflows`;
  }

  /** Stops the server and closes every connection. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const gone = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await gone;
  }

  /** Starts the server again at the same address. */
  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((request, response) => this.#take(request, response));
    await new Promise<void>((done, failed) => server.once('error', failed).listen(this.#port, '127.0.0.1', done));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const pieces: Buffer[] = [];
    const startedAtMs = Date.now();
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      const headers = new Headers(
        Object.entries(request.headersDistinct).map(([name, values]) => [name, values!.join(', ')]),
      );
      const post: EndpointPost = {
        runId: headers.get('upstash-workflow-runid') ?? '',
        messageId: headers.get('upstash-message-id') ?? '',
        retried: Number(headers.get('upstash-retried')),
        isFailure: headers.get('upstash-workflow-is-failure') === 'true',
        body,
        startedAtMs,
      };
      this.posts.push(post);
      void this.#answer(
        new Request(new URL(request.url ?? '/', this.url), { method: 'POST', headers, body }),
        response,
        post,
      );
    });
  }

  async #answer(request: Request, response: ServerResponse, post: EndpointPost): Promise<void> {
    const answer = await current.run(post, () => this.handler(request));
    const text = await answer.text();
    post.done = { status: answer.status, answer: text, atMs: Date.now() };
    if (response.destroyed) return;
    if (this.losesAnswer()) {
      post.isCut = true;
      response.destroy();
      return;
    }
    post.isAnswered = true;
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
  }
}
