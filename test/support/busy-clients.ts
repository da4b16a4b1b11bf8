/**
 * Clients that ask again and again, each on one connection that it keeps, until nobody listens any more. What they must
 * never meet is a request that was sent and not answered.
 */
import { setImmediate as loopRound, setTimeout as pause } from 'node:timers/promises';
import { KvClient, type RequestParts } from './kv-client.js';
import { RespClient } from './resp-client.js';

/** Between two requests of one client: at any moment many connections are idle, and many a request is on its way. */
const MAX_PAUSE_MS = 8;
/** No answer of the native protocol says that it is the last: that the connection has ended is heard a moment later. */
const RESP_PAUSE_MS = 10;

export class BusyClients {
  /** What was asked and not answered, and why. */
  readonly lost: string[] = [];
  readonly #running: Promise<void>[] = [];
  #answered = 0;

  async haveAnswers(count: number): Promise<void> {
    while (this.#answered < count && this.lost.length === 0) await pause(MAX_PAUSE_MS);
  }

  overHttp(count: number, face: { name: string; url: string; token: string }, path: string, parts: RequestParts): void {
    for (let started = 0; started < count; started += 1) {
      const client = new KvClient({ url: face.url, token: face.token, connections: 1 });
      const ask = async () => {
        const { status } = await client.raw(path, parts);
        if (status >= 500) throw new Error(`answered ${status}`);
      };
      this.#running.push(this.#again(face.name, ask).finally(() => client.close()));
    }
  }

  /** A client whose connection was ended behind an answer makes another. */
  overResp(count: number, { url, password }: { url: string; password: string }, words: readonly string[]): void {
    const { hostname: host, port } = new URL(url);
    for (let started = 0; started < count; started += 1) {
      let client: RespClient | undefined;
      const ask = async () => {
        // This process does much else: what has arrived meanwhile is heard first.
        for (let round = 0; round < 2; round += 1) await loopRound();
        if (client?.hasEnded !== false) {
          client = await RespClient.connect({ host, port: Number(port) });
          await client.call(['AUTH', password]);
        }
        await client.call(words);
      };
      this.#running.push(this.#again('resp', ask, RESP_PAUSE_MS).finally(() => client?.close()));
    }
  }

  /** Resolves when nobody listens to any of them. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #again(name: string, ask: () => Promise<void>, leastPauseMs = 0): Promise<void> {
    for (;;) {
      try {
        await ask();
        this.#answered += 1;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === 'ECONNREFUSED') return;
        this.lost.push(`${name}: ${code ?? message}`);
        // One that goes on would count the same end twice.
        return;
      }
      await pause(leastPauseMs + Math.random() * MAX_PAUSE_MS);
    }
  }
}
