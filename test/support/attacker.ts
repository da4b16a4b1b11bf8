/** What an attacker does with ordinary credentials, and with none: many connections, and little manners. */
import http from 'node:http';
import net from 'node:net';
import { encodeCommand } from '../../src/codec/resp/index.js';
import type { AttackStand } from './attack-stand.js';
import { RespClient } from './resp-client.js';

/** Bytes of an answer that are shown in a failure. */
const SHOWN = 300;

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** A connection that says things, and reads nothing once it was told not to. */
export class RudeConnection {
  /** The beginning of what it read. */
  heard = '';
  /** And the end of it. */
  heardLast = '';
  isClosed = false;
  readonly #unsaid = new Set<() => void>();

  private constructor(private readonly socket: net.Socket) {
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (this.heard.length < SHOWN) this.heard = (this.heard + piece).slice(0, SHOWN);
      this.heardLast = (this.heardLast + piece).slice(-SHOWN);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      for (const resolve of this.#unsaid) resolve();
    });
  }

  static open(port: number): Promise<RudeConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1' });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RudeConnection(socket));
      });
    });
  }

  stopReading(): void {
    this.socket.pause();
  }

  /** Resolves when the system has taken it, or the connection is closed; it may wait for ever. */
  say(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.isClosed) {
        resolve();
        return;
      }
      this.#unsaid.add(resolve);
      this.socket.write(bytes as string, 'latin1', () => {
        this.#unsaid.delete(resolve);
        resolve();
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

export class Attacker {
  readonly #open: { close(): void }[] = [];
  readonly #agent = new http.Agent({ keepAlive: true });

  constructor(private readonly stand: AttackStand) {}

  get credentials() {
    return this.stand.attacker;
  }

  /** Signed in. */
  async resp(): Promise<RespClient> {
    const client = await RespClient.connect({ port: this.stand.portOf('resp'), host: '127.0.0.1' });
    this.#open.push(client);
    const reply = await client.call(['AUTH', this.credentials.password]);
    if (reply !== '+OK\r\n') throw new Error(reply);
    return client;
  }

  async rude(face: string): Promise<RudeConnection> {
    const connection = await RudeConnection.open(this.stand.portOf(face));
    this.#open.push(connection);
    return connection;
  }

  /** Signs in with what it says first. */
  async rudeResp(): Promise<RudeConnection> {
    const connection = await this.rude('resp');
    await connection.say(encodeCommand(['AUTH', this.credentials.password]));
    return connection;
  }

  /** A command over REST. */
  rest(words: readonly (string | number)[], token = this.credentials.restToken): Promise<HttpAnswer> {
    return this.http('kv', '/', `Bearer ${token}`, JSON.stringify(words));
  }

  http(face: string, path: string, authorization: string, body?: string, method = 'POST'): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const options = { method, agent: this.#agent, headers: { authorization } };
      const request = http.request(`${this.stand.addresses[face]}${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text = (text + piece).slice(0, SHOWN);
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Ends every connection. */
  close(): void {
    for (const open of this.#open.splice(0)) open.close();
    this.#agent.destroy();
  }
}
