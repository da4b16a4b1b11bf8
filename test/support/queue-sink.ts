/**
 * A destination on this machine: records all calls and answers each path as set, by default 200 without delay. Tests
 * share one sink and use different paths.
 */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from './eventually.js';

export interface SinkCall {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
  readonly atMs: number;
  /** False while the call is held. */
  readonly isAnswered: boolean;
}

export interface SinkAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface Kept extends SinkCall {
  isAnswered: boolean;
  readonly response: ServerResponse;
}

/** The wait for deliveries on a machine that is busy with other programs. */
const ARRIVAL_TIMEOUT_MS = 30_000;

export class QueueSink {
  readonly #calls = new Map<string, Kept[]>();
  readonly #answers = new Map<string, SinkAnswer[]>();
  readonly #held = new Set<string>();
  /** The current and the highest number of open calls, by path. */
  readonly #open = new Map<string, { now: number; most: number }>();
  #paths = 0;

  private constructor(private readonly server: Server) {}

  static async listening(): Promise<QueueSink> {
    const server = createServer();
    const sink = new QueueSink(server);
    server.on('request', (request, response) => {
      const atMs = Date.now();
      const pieces: Buffer[] = [];
      const [path = ''] = (request.url ?? '').split('?');
      sink.#opened(path, response);
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => {
        const bytes = Buffer.concat(pieces);
        const { method = '', url: target = '', headers } = request;
        const body = bytes.toString('utf8');
        sink.#take(path, { method, target, headers, body, bytes, atMs, isAnswered: false, response });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get origin(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** Returns a unique path. */
  path(word = 'path'): string {
    this.#paths += 1;
    return `/${word}-${this.#paths}`;
  }

  url(path: string): string {
    return this.origin + path;
  }

  /** Sets the answers to successive calls of a path; the last one repeats. */
  answer(path: string, ...answers: readonly SinkAnswer[]): string {
    this.#answers.set(path, [...answers]);
    return this.url(path);
  }

  /** Holds the calls of a path until `release`. */
  hold(path: string): string {
    this.#held.add(path);
    return this.url(path);
  }

  /** Answers the held calls, and later ones without delay. */
  release(path: string): void {
    this.#held.delete(path);
    for (const call of this.#calls.get(path) ?? []) if (!call.isAnswered) this.#reply(path, call);
  }

  /** Answers the oldest held call; the others stay held. */
  releaseOne(path: string): void {
    const call = this.#calls.get(path)?.find(({ isAnswered }) => !isAnswered);
    if (call === undefined) throw new Error(`no call is held at ${path}`);
    this.#reply(path, call);
  }

  calls(path: string): readonly SinkCall[] {
    return this.#calls.get(path) ?? [];
  }

  mostAtOnce(path: string): number {
    return this.#open.get(path)?.most ?? 0;
  }

  /** Waits for calls of a path. @returns exactly `count` calls. @throws if there are more */
  async arrived(path: string, count = 1, timeoutMs = ARRIVAL_TIMEOUT_MS): Promise<readonly SinkCall[]> {
    await eventually(() => expect(this.calls(path).length, `calls of ${path}`).to.be.at.least(count), { timeoutMs });
    expect(this.calls(path).length, `calls of ${path}`).to.equal(count);
    return this.calls(path);
  }

  /** Waits for the only call of a path. */
  async call(path: string): Promise<SinkCall> {
    const [call] = await this.arrived(path);
    return call as SinkCall;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #take(path: string, call: Kept): void {
    const calls = this.#calls.get(path);
    if (calls === undefined) this.#calls.set(path, [call]);
    else calls.push(call);
    if (!this.#held.has(path)) this.#reply(path, call);
  }

  #reply(path: string, call: Kept): void {
    const answers = this.#answers.get(path) ?? [];
    const { status = 200, headers = {}, body = '' } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
    call.isAnswered = true;
    call.response.writeHead(status, headers).end(body);
  }

  #opened(path: string, response: ServerResponse): void {
    const open = this.#open.get(path) ?? { now: 0, most: 0 };
    this.#open.set(path, open);
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.on('close', () => {
      open.now -= 1;
    });
  }
}
