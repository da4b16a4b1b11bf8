/** A connection to a Redis server, named by a URL: commands are sent together, replies are returned in their order. */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { encodeCommand } from '../../codec/resp/index.js';
import { type ByteString, bytesOfText } from '../../kernel/index.js';
import { UsageError } from '../parser.js';
import { type ClientReply, ReplyError, ReplyReader } from './reply-reader.js';

const DEFAULT_PORT = 6379;
const CONNECT_MS = 10_000;
/** A server without any reply for this long is considered lost. */
const SILENCE_MS = 60_000;
const PROTOCOLS = ['redis:', 'rediss:'];

interface Waiting {
  readonly count: number;
  readonly replies: ClientReply[];
  resolve(replies: ClientReply[]): void;
  reject(error: Error): void;
}

export interface RespAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly user: string;
  readonly password: string;
  /** Undefined: not in the URL. */
  readonly database: number | undefined;
}

/** `redis://[user[:password]@]host[:port][/database]`, with `rediss:` over TLS. @throws UsageError */
export function respAddress(text: string): RespAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !PROTOCOLS.includes(url.protocol) || url.hostname === '') {
    throw new UsageError(`${withoutPassword(text)} is not a redis:// or rediss:// URL`);
  }
  const path = url.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(path))
    throw new UsageError(
      `${withoutPassword(text)}: the path after the port must be a database number, as in redis://host:6379/0`,
    );
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    isTls: url.protocol === 'rediss:',
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: path === '' ? undefined : Number(path),
  };
}

/** The URL without its password, for messages. */
export function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//');
}

export class RespLink {
  readonly #reader = new ReplyReader();
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly name: string,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
    socket.setTimeout(SILENCE_MS, () => {
      if (this.#waiting.length > 0) socket.destroy(new Error('it does not answer'));
    });
  }

  /** Connects, signs in and selects the database. @throws Error, in one line */
  static async open(address: RespAddress): Promise<RespLink> {
    const { host, port, user, password, database = 0 } = address;
    const name = `${host}:${port}`;
    const link = new RespLink(await connected(address, name), name);
    try {
      if (password !== '') await link.must(['AUTH', ...(user === '' ? [] : [user]), password].map(bytesOfText));
      if (database !== 0) await link.must(['SELECT', String(database)]);
      await link.must(['PING']);
    } catch (error) {
      link.close();
      throw error;
    }
    return link;
  }

  /** The connection is closed. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Sends all commands together; the error of one is its reply. @throws Error if the connection is lost */
  all(commands: readonly (readonly ByteString[])[]): Promise<ClientReply[]> {
    if (commands.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#waiting.push({ count: commands.length, replies: [], resolve, reject });
      this.socket.cork();
      for (const words of commands) this.socket.write(encodeCommand(words), 'latin1');
      this.socket.uncork();
    });
  }

  async one(words: readonly ByteString[]): Promise<ClientReply> {
    return (await this.all([words]))[0] as ClientReply;
  }

  /** @throws Error if the reply is an error */
  async must(words: readonly ByteString[]): Promise<ClientReply> {
    const reply = await this.one(words);
    if (reply instanceof ReplyError) throw new Error(`${this.name} refuses ${words[0]}: ${reply.text}`);
    return reply;
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#reader.feed(chunk);
    try {
      for (;;) {
        const reply = this.#reader.next();
        if (reply === undefined) return;
        const first = this.#waiting[0];
        if (first === undefined) throw new Error('the server sent a reply without a request');
        first.replies.push(reply);
        if (first.replies.length < first.count) continue;
        this.#waiting.shift();
        first.resolve(first.replies);
      }
    } catch (error) {
      this.socket.destroy(error as Error);
    }
  }

  #fail({ message }: Error): void {
    this.#ended ??= new Error(`the connection to ${this.name} was lost: ${message}`);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

function connected({ host, port, isTls }: RespAddress, name: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // TLS does not allow an IP address as server name.
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = isTls ? connectTls({ host, port, ...named }) : connectPlain({ host, port });
    const refuse = (error: Error) => reject(new Error(`cannot connect to ${name}: ${error.message}`));
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('it does not answer')));
    socket.once('error', refuse);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', refuse);
      socket.removeAllListeners('timeout');
      resolve(socket);
    });
  });
}
