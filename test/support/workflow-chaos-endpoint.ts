/**
 * The HTTP server in front of a workflow's endpoint: it keeps what came, may lose answers after the endpoint has done
 * its work, and may be gone for a while. What it had begun when it went away is done all the same, for nobody.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type EndpointHandler = (request: Request) => Promise<Response>;

/** A request to the endpoint. */
export interface EndpointPost {
  readonly runId: string;
  readonly messageId: string;
  readonly retried: number;
  readonly isFailure: boolean;
  /** The list of a step, unless it is left out; or the outcome of a call. */
  readonly body: string;
  readonly startedAtMs: number;
  /** When the endpoint had done its work, whoever heard of it. */
  done?: { readonly status: number; readonly answer: string; readonly atMs: number };
  /** The answer went out: the server may have been gone before it read it. */
  isAnswered?: boolean;
  /** The answer got lost whole: on a connection in use before, the call is made once more. */
  isCut?: boolean;
}

const current = new AsyncLocalStorage<EndpointPost>();

/** The request that the caller is at work for. */
export function currentPost(): EndpointPost | undefined {
  return current.getStore();
}

export class ChaosEndpoint {
  readonly posts: EndpointPost[] = [];
  #server: Server | undefined;
  #port = 0;

  /** @param losesAnswer whether the answer that is about to leave gets lost */
  private constructor(
    private readonly handler: EndpointHandler,
    private readonly losesAnswer: () => boolean,
  ) {}

  static async listening(handler: EndpointHandler, losesAnswer: () => boolean = () => false): Promise<ChaosEndpoint> {
    const endpoint = new ChaosEndpoint(handler, losesAnswer);
    await endpoint.comeBack();
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/workflows`;
  }

  /** Every connection ends where it is. */
  async goAway(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const gone = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await gone;
  }

  /** At the address where it was before. */
  async comeBack(): Promise<void> {
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
