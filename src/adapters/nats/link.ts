/**
 * One connection to NATS, watched. It adds to the client what a single try needs: a failure says
 * whether anything can have been sent, and a lost connection fails what waits on it at once instead
 * of at its timeout.
 *
 *  L1 `not-sent` and `no-responders` mean that nobody received the request and nobody will
 *  L2 every other failure promises nothing
 *  L3 a request is sent once
 */
import {
  createInbox,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription as NatsSubscription,
  type Payload,
} from 'nats';
import { describeError, MillraceError } from '../../kernel/index.js';
import type { Subscription } from '../../ports/index.js';
import { RequestInbox } from './request-inbox.js';
import { inboxPrefix } from './subjects.js';

export type LinkFailureKind = 'not-sent' | 'no-responders' | 'refused' | 'timed-out' | 'disconnected' | 'failed';

export class LinkFailure extends Error {
  readonly kind: LinkFailureKind;

  constructor(kind: LinkFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'LinkFailure';
    this.kind = kind;
  }
}

export interface LinkRequest {
  readonly timeoutMs: number;
  readonly headers?: MsgHdrs;
}

/** For what is buffered at the end; a process has ten seconds in all to stop. */
const DRAIN_TIMEOUT_MS = 3000;

export class NatsLink {
  readonly #connection: NatsConnection;
  readonly #inbox: RequestInbox;
  readonly #onReconnect = new Set<() => void>();
  readonly #onDisconnect = new Set<() => void>();
  #isConnected = true;

  constructor(
    connection: NatsConnection,
    /** What this connection is for; appears in messages. */
    readonly role: string,
  ) {
    this.#connection = connection;
    this.#inbox = new RequestInbox(connection, inboxPrefix(role));
    void this.#watch();
  }

  isConnected(): boolean {
    return this.#isConnected;
  }

  /** Of the server connected to now; another one after a reconnect, perhaps. */
  get serverVersion(): string {
    return this.#connection.info?.version ?? '0.0.0';
  }

  get maxPayloadBytes(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  /** The connection itself, for what has no other shape here. */
  get raw(): NatsConnection {
    return this.#connection;
  }

  /** @throws LinkFailure and nothing else */
  request(subject: string, payload: Payload, { timeoutMs, headers }: LinkRequest): Promise<Msg> {
    if (!this.#isConnected) return Promise.reject(this.#notSent());
    return new Promise((resolve, reject) => {
      try {
        this.#inbox.request(subject, payload, timeoutMs, headers, {
          onAnswer: resolve,
          onNoResponders: () => reject(new LinkFailure('no-responders', `nobody answers ${subject}`)),
          onTimeout: () => reject(new LinkFailure('timed-out', `no answer from ${subject} in time`)),
          onLost: () => reject(new LinkFailure('disconnected', `the ${this.role} connection was lost`)),
        });
      } catch (cause) {
        reject(failureOf(cause));
      }
    });
  }

  /** At most once, and not at all while disconnected. */
  publish(subject: string, payload: Payload, options: { headers?: MsgHdrs; reply?: string } = {}): void {
    if (!this.#isConnected) return;
    try {
      this.#connection.publish(subject, payload, options);
    } catch (error) {
      if (!isClosing(error)) throw error;
    }
  }

  newInbox(): string {
    return createInbox(inboxPrefix(this.role));
  }

  /** Survives reconnects. What `onMessage` throws ends the process, not the connection. */
  subscribe(subject: string, onMessage: (message: Msg) => void): NatsSubscription {
    return this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) return;
        try {
          onMessage(message);
        } catch (defect) {
          queueMicrotask(() => {
            throw defect;
          });
        }
      },
    });
  }

  onReconnect(listener: () => void): Subscription {
    this.#onReconnect.add(listener);
    return { stop: () => this.#onReconnect.delete(listener) };
  }

  onDisconnect(listener: () => void): Subscription {
    this.#onDisconnect.add(listener);
    return { stop: () => this.#onDisconnect.delete(listener) };
  }

  /** Resolves when the server has handled everything sent before. @throws LinkFailure */
  async flush(timeoutMs: number): Promise<void> {
    if (!this.#isConnected) throw this.#notSent();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LinkFailure('timed-out', 'the server did not answer a ping')), timeoutMs);
    });
    try {
      await Promise.race([this.#connection.flush(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends what is buffered, then closes. Requests still waiting fail. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#connection.isClosed()) return;
    if (this.#isConnected && !this.#connection.isDraining()) {
      // A server that does not answer would hold a drain for as long as its silence lasts.
      const late = setTimeout(() => void this.#connection.close(), DRAIN_TIMEOUT_MS);
      await Promise.race([this.#connection.drain().catch(() => {}), this.#connection.closed()]);
      clearTimeout(late);
    }
    if (!this.#connection.isClosed()) await this.#connection.close();
    this.#disconnected();
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect' || status.type === 'close') this.#disconnected();
      if (status.type === 'reconnect') {
        this.#isConnected = true;
        for (const listener of [...this.#onReconnect]) listener();
      }
    }
    this.#disconnected();
  }

  #disconnected(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#inbox.failAll();
    for (const listener of [...this.#onDisconnect]) listener();
  }

  #notSent(): LinkFailure {
    return new LinkFailure('not-sent', `the ${this.role} connection is down`);
  }
}

/** What `publish` throws: nothing was sent. */
function failureOf(cause: unknown): LinkFailure {
  if (isClosing(cause)) return new LinkFailure('not-sent', describeError(cause), cause);
  return new LinkFailure('refused', describeError(cause), cause);
}

function isClosing(error: unknown): boolean {
  return error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError;
}

/** How the rest of the system says that the journal's server did not answer. */
export function journalUnavailable(cause: unknown, details: Record<string, unknown> = {}): MillraceError {
  return new MillraceError('JOURNAL_UNAVAILABLE', 'the journal does not answer', details, cause);
}
