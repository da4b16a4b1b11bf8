/**
 * An application that serves workflows on this machine. It dispatches requests to a handler by the first path segment
 * and records requests and answers. Tests can inject failures.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export type Handler = (request: Request) => Promise<Response>;

export interface StepEntry {
  readonly messageId: string;
  readonly callType: string;
  /** The decoded body. */
  readonly body: string;
}

/** A request to the endpoint of a workflow. */
export interface Post {
  readonly path: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
  /** Undefined while the request is open, and if its answer was dropped. */
  status?: number;
  answer?: string;
  /** False after the end of the request. */
  isOpen: boolean;
}

export type PostKind = 'step' | 'callback' | 'failure' | 'direct';

export interface Fault {
  /** `refuse`: the endpoint does not get the request; `lose`: the endpoint handles it, and the answer is dropped. */
  readonly does: 'refuse' | 'lose';
  readonly times: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly of?: (post: Post) => boolean;
}

export class WorkflowApp {
  readonly posts: Post[] = [];
  readonly #handlers = new Map<string, Handler>();
  readonly #faults = new Map<string, (Fault & { left: number })[]>();
  readonly #held = new Map<string, { readonly of: (post: Post) => boolean; readonly waiting: (() => void)[] }>();
  readonly #most = new Map<string, { now: number; most: number }>();
  #names = 0;

  private constructor(private readonly server: Server) {}

  static async listening(): Promise<WorkflowApp> {
    const server = createServer();
    const app = new WorkflowApp(server);
    server.on('request', (request, response) => app.#take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return app;
  }

  get origin(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** Makes a unique first path segment. */
  name(word: string): string {
    this.#names += 1;
    return `${word}-${this.#names}`;
  }

  /** Registers the handler of a path segment. @returns the segment's URL */
  route(name: string, handler: Handler): string {
    this.#handlers.set(name, handler);
    return `${this.origin}/${name}`;
  }

  /** Injects a failure into the next requests of a URL, or into the selected ones. */
  fault(url: string, fault: Fault): void {
    const path = new URL(url).pathname;
    const faults = this.#faults.get(path) ?? [];
    faults.push({ ...fault, left: fault.times });
    this.#faults.set(path, faults);
  }

  /** Holds the requests of a URL, or the selected ones, before they reach the endpoint. */
  hold(url: string, of: (post: Post) => boolean = () => true): void {
    this.#held.set(new URL(url).pathname, { of, waiting: [] });
  }

  release(url: string): void {
    const path = new URL(url).pathname;
    const held = this.#held.get(path);
    this.#held.delete(path);
    for (const go of held?.waiting ?? []) go();
  }

  /** The highest number of concurrent requests of a URL. */
  mostAtOnce(url: string): number {
    return this.#most.get(new URL(url).pathname)?.most ?? 0;
  }

  /** The requests of a path, earliest first. */
  of(url: string): readonly Post[] {
    const { pathname } = new URL(url);
    return this.posts.filter(({ path }) => path === pathname);
  }

  /** The requests of all URLs with the same first path segment. */
  under(url: string): readonly Post[] {
    const [, segment] = new URL(url).pathname.split('/');
    return this.posts.filter(({ path }) => path.split('/')[1] === segment);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const atMs = Date.now();
    const pieces: Buffer[] = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headersDistinct).map(([k, v]) => [k, v!.join(', ')]));
      const [path = ''] = (request.url ?? '').split('?');
      const post: Post = { path, headers, body: Buffer.concat(pieces).toString(), atMs, isOpen: true };
      this.posts.push(post);
      this.#count(path, response, post);
      void this.#answer(request, response, post);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse, post: Post): Promise<void> {
    const held = this.#held.get(post.path);
    if (held?.of(post)) await new Promise<void>((go) => held.waiting.push(go));
    const fault = this.#nextFault(post);
    if (fault?.does === 'refuse') {
      post.status = fault.status ?? 503;
      response.writeHead(post.status, fault.headers).end(fault.body);
      return;
    }
    const handler = this.#handlers.get(post.path.split('/')[1] ?? '');
    const answer = handler ? await answerOf(handler, requestOf(this.origin, request, post)) : NO_HANDLER.clone();
    if (fault?.does === 'lose') {
      response.destroy();
      return;
    }
    post.status = answer.status;
    post.answer = await answer.text();
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(post.answer);
  }

  #nextFault(post: Post): Fault | undefined {
    const fault = this.#faults.get(post.path)?.find(({ left, of }) => left > 0 && (of?.(post) ?? true));
    if (fault !== undefined) fault.left -= 1;
    return fault;
  }

  #count(path: string, response: ServerResponse, post: Post): void {
    const count = this.#most.get(path) ?? { now: 0, most: 0 };
    this.#most.set(path, count);
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    response.on('close', () => {
      count.now -= 1;
      post.isOpen = false;
    });
  }
}

const NO_HANDLER = new Response('', { status: 404 });

/** Returns the handler's answer. An exception in an adapter becomes an error answer, so that the test sees it. */
async function answerOf(handler: Handler, request: Request): Promise<Response> {
  try {
    return await handler(request);
  } catch (error) {
    return new Response(String((error as Error).stack), { status: 500 });
  }
}

function requestOf(origin: string, { method = 'POST', url = '/' }: IncomingMessage, post: Post): Request {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(origin + url, { method, headers: post.headers, ...(hasBody ? { body: post.body } : {}) });
}

export function kindOf({ headers }: Post): PostKind {
  if (headers['upstash-workflow-is-failure'] === 'true') return 'failure';
  if (headers['upstash-workflow-callback'] === 'true') return 'callback';
  return headers['upstash-workflow-sdk-version'] === undefined ? 'direct' : 'step';
}

/** The list of entries in a delivery of a step. @throws if the delivery has no list */
export function entriesOf({ body }: Pick<Post, 'body'>): readonly StepEntry[] {
  const entries = JSON.parse(body) as StepEntry[];
  return entries.map((entry) => ({ ...entry, body: Buffer.from(entry.body, 'base64').toString() }));
}
