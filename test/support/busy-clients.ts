/**
 * Clients that send requests continuously, each on one persistent connection, until the server refuses connections.
 * No request may be sent without getting an answer, and no command may be executed without one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { KvClient, type RequestParts } from './kv-client.js';
import { RespClient } from './resp-client.js';

/**
 * The maximum pause between two requests of a client, so that at any moment many connections are idle and many
 * requests are in flight.
 */
const MAX_PAUSE_MS = 8;

export class BusyClients {
  /** Requests without an answer, with the reason. */
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
   * RESP clients, each of which increments its own key. RESP has no sign of a last answer, so a command may be sent
   * while the server closes the connection. Such a command gets no answer and must not be executed; the next
   * increment, also at a later process, shows this.
   * @param counted the last answer of each key
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

  /** Resolves when all ports refuse connections. */
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
        // A client that continued would record the same end twice.
        return;
      }
      await pause(Math.random() * MAX_PAUSE_MS);
    }
  }
}
