/** The actions of an attacker, with and without credentials: many connections, and clients that violate protocols. */
import http from 'node:http';
import { encodeCommand } from '../../../src/codec/resp/command-reader.js';
import { RespClient } from '../resp-client.js';
import type { Tenant } from './attack-stand.js';
import { RawConnection, type RawConnectionOptions, SHOWN } from './raw-connection.js';

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** The data that an attacker has: the server's addresses and the credentials of one tenant. */
export interface Scene {
  readonly addresses: Readonly<Record<string, string>>;
  readonly credentials: Tenant;
}

export type ConnectionOptions = Omit<RawConnectionOptions, 'port'>;

export class Attacker {
  readonly #open: { close(): unknown }[] = [];
  readonly #agent = new http.Agent({ keepAlive: true });

  /**
   * @param waitForSteadyTenant resolves when the second tenant has received this number of further answers, at about
   * 250 per second
   */
  constructor(
    private readonly scene: Scene,
    readonly waitForSteadyTenant: (answers: number) => Promise<void>,
  ) {}

  get credentials(): Tenant {
    return this.scene.credentials;
  }

  /** Registers a resource that is closed when the attack ends. */
  closeAtEnd<T extends { close(): unknown }>(opened: T): T {
    this.#open.push(opened);
    return opened;
  }

  /** A RESP client that is signed in. */
  async resp(): Promise<RespClient> {
    const client = this.closeAtEnd(await RespClient.connect({ port: this.#portOf('resp'), host: '127.0.0.1' }));
    const reply = await client.call(['AUTH', this.credentials.password]);
    if (reply !== '+OK\r\n') throw new Error(reply);
    return client;
  }

  async openRaw(endpoint: string, options: ConnectionOptions = {}): Promise<RawConnection> {
    return this.closeAtEnd(await RawConnection.open({ port: this.#portOf(endpoint), ...options }));
  }

  /** A raw RESP connection that sends AUTH first. */
  async openRawResp(options: ConnectionOptions = {}): Promise<RawConnection> {
    const connection = await this.openRaw('resp', options);
    await connection.write(encodeCommand(['AUTH', this.credentials.password]));
    return connection;
  }

  /** Sends a command over REST. */
  rest(words: readonly (string | number)[], token = this.credentials.restToken): Promise<HttpAnswer> {
    return this.http('kv', '/', `Bearer ${token}`, JSON.stringify(words));
  }

  /** Sends a request to the queue API. */
  queue(method: string, path: string, body?: string): Promise<HttpAnswer> {
    return this.http('queue', path, `Bearer ${this.credentials.queueToken}`, body, method);
  }

  /** Sends a request to the management API and returns the complete answer. */
  manage(method: string, path: string, body?: string): Promise<HttpAnswer> {
    const { email, mgmtKey } = this.credentials;
    const authorization = `Basic ${Buffer.from(`${email}:${mgmtKey}`).toString('base64')}`;
    return this.#request({ method, url: `${this.scene.addresses.mgmt}${path}`, authorization }, body);
  }

  /** Sends an HTTP request and returns the first characters of the answer. */
  async http(
    endpoint: string,
    path: string,
    authorization: string,
    body?: string,
    method = 'POST',
  ): Promise<HttpAnswer> {
    return this.#request({ method, url: `${this.scene.addresses[endpoint]}${path}`, authorization }, body, SHOWN);
  }

  #request(
    { method, url, authorization }: { readonly method: string; readonly url: string; readonly authorization: string },
    body: string | undefined,
    shown = Number.POSITIVE_INFINITY,
  ): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers = { authorization, 'content-type': 'application/json' };
      const request = http.request(url, { method, agent: this.#agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          if (text.length < shown) text = (text + piece).slice(0, shown);
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Closes every connection. */
  close(): void {
    for (const open of this.#open.splice(0)) void open.close();
    this.#agent.destroy();
  }

  #portOf(face: string): number {
    return Number(new URL(this.scene.addresses[face] as string).port);
  }
}
