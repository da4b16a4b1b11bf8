/**
 * Clients that ask again and again, each on one connection that it keeps, until nobody listens any more. What they must
 * never meet is a request that was sent and not answered, or one that was carried out for nobody.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { KvClient, type RequestParts } from './kv-client.js';
import { RespClient } from './resp-client.js';

/** Between two requests of one client: at any moment many connections are idle, and many a request is on its way. */
const MAX_PAUSE_MS = 8;

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

  /**
   * Clients of the native protocol, each of which counts in a key of its own. No answer of that protocol says that it is the
   * last, so a command may be sent to who is ending the connection already: it gets no answer, and must not be carried out.
   * The next count tells, of a later process too.
   * @param counted by key, what the answers have said so far
   */
  overResp(count: number, { url, password }: { url: string; password: string }, counted: Map<string, number>): void {
    const { hostname: host, port } = new URL(url);
    for (let started = 0; started < count; started += 1) {
      const key = `counted:${started}`;
      let client: RespClient | undefined;
      const ask = async () => {
        if (client?.hasEnded !== false) {
          client = await RespClient.connect({ host, port: Number(port) });
          await client.call(['AUTH', password]);
        }
        const next = (counted.get(key) ?? 0) + 1;
        const reply = await client.call(['INCR', key]);
        if (reply !== `:${next}\r\n`) throw new Error(`answered ${reply}, not ${next}`);
        counted.set(key, next);
      };
      const unlessEnded = (error: unknown) => {
        if (client?.hasEnded !== true || (error as NodeJS.ErrnoException).code !== undefined) throw error;
      };
      this.#running.push(this.#again('resp', () => ask().catch(unlessEnded)).finally(() => client?.close()));
    }
  }

  /** Resolves when nobody listens to any of them. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #again(name: string, ask: () => Promise<void>): Promise<void> {
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
      await pause(Math.random() * MAX_PAUSE_MS);
    }
  }
}
