/**
 * One connection to NATS, watched. It adds to the client what a single try needs: a failure says
 * whether anything can have been sent, and a lost connection fails what waits on it at once instead
 * of at its timeout.
 *
 *  LK1 `not-sent` and `no-responders` mean that nobody received the request and nobody will
 *  LK2 every other failure promises nothing
 *  LK3 a request is sent once
 *  LK4 a server that leaves a request unanswered is asked for a sign of life; without one its connection is given up
 *  LK5 a server that says it is about to end is left at once, for another
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
import { streamDirectly } from './direct-stream.js';
import { isForbidden, LinkFailure } from './link-failure.js';
import { RequestInbox, type Settle } from './request-inbox.js';
import { inboxPrefix, type NatsUser } from './subjects.js';

export interface LinkRequest {
  readonly timeoutMs: number;
  /** As they are sent, with their first line and an empty last one. */
  readonly headers?: string;
}

/** It bounds the writing of what is buffered at the end; a process has ten seconds in all to stop. */
const DRAIN_TIMEOUT_MS = 3000;
/** A server says that it lives beside whatever it does for others; a network's worst pause is shorter. */
const ALIVE_WITHIN_MS = 2000;

export class NatsLink {
  readonly #inbox: RequestInbox;
  readonly #onReconnect = new Set<() => void>();
  #isConnected = true;
  #isProbing = false;

  constructor(
    /** The connection itself, for what has no other shape here. */
    readonly raw: NatsConnection,
    /** What this connection is for; appears in messages. */
    readonly role: string,
    /** As whom it is signed in, as far as we know. */
    readonly user: NatsUser = 'process',
    /** How long a sign of life may take. */
    private readonly aliveWithinMs = ALIVE_WITHIN_MS,
  ) {
    this.#inbox = new RequestInbox(raw, inboxPrefix(user, role), () => void this.#probe());
    streamDirectly(raw);
    void this.#watch();
  }

  isConnected(): boolean {
    return this.#isConnected;
  }

  /** The version of the server that it is connected to now; after a reconnect it may be another one. */
  get serverVersion(): string {
    return this.raw.info?.version ?? '0.0.0';
  }

  /** @throws LinkFailure and nothing else */
  request(subject: string, payload: Payload, options: LinkRequest): Promise<Msg> {
    return new Promise((resolve, reject) =>
      this.send(subject, payload, options, (answer) =>
        answer instanceof LinkFailure ? reject(answer) : resolve(answer),
      ),
    );
  }

  /** As `request`, without a promise, and with as many answers as `settle` asks for; it may be called before this returns. */
  send(subject: string, payload: Payload, { timeoutMs, headers = '' }: LinkRequest, settle: Settle): void {
    if (!this.#isConnected) {
      settle(this.#notSent());
      return;
    }
    try {
      this.#inbox.request(subject, payload, timeoutMs, headers, settle);
    } catch (cause) {
      settle(failureOf(cause));
    }
  }

  /** At most once, and not at all while disconnected. */
  publish(subject: string, payload: Payload, options: { headers?: MsgHdrs; reply?: string } = {}): void {
    if (!this.#isConnected) return;
    try {
      this.raw.publish(subject, payload, options);
    } catch (error) {
      if (!isClosing(error)) throw error;
    }
  }

  newInbox(): string {
    return createInbox(inboxPrefix(this.user, this.role));
  }

  /** Survives reconnects. What `onMessage` throws ends the process, not the connection. */
  subscribe(subject: string, onMessage: (message: Msg) => void): NatsSubscription {
    return this.raw.subscribe(subject, {
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

  /** Resolves when the server has handled everything sent before. @throws LinkFailure */
  async flush(timeoutMs: number): Promise<void> {
    if (!this.#isConnected) throw this.#notSent();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LinkFailure('timed-out', 'the server did not answer a ping')), timeoutMs);
    });
    try {
      await Promise.race([this.raw.flush(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends what is buffered, then closes. Requests still waiting fail. Safe to call twice. */
  async close(): Promise<void> {
    if (this.raw.isClosed()) return;
    if (this.#isConnected && !this.raw.isDraining()) {
      // A server that does not answer would hold a drain for as long as its silence lasts.
      const late = setTimeout(() => void this.raw.close(), DRAIN_TIMEOUT_MS);
      await Promise.race([this.raw.drain().catch(() => {}), this.raw.closed()]);
      clearTimeout(late);
    }
    if (!this.raw.isClosed()) await this.raw.close();
    this.#disconnected();
  }

  /** LK4. The client's own pings are far apart, so that a process without work costs nothing. */
  async #probe(): Promise<void> {
    if (this.#isProbing || !this.#isConnected || this.raw.isClosed()) return;
    this.#isProbing = true;
    try {
      await this.flush(this.aliveWithinMs);
    } catch (error) {
      // Another failure than silence is that of a connection which is lost already.
      if (error instanceof LinkFailure && error.kind === 'timed-out') this.#leave();
    } finally {
      this.#isProbing = false;
    }
  }

  /** Connects again, to another server where there is one. Nothing that was sent is waited for. */
  #leave(): void {
    if (!this.raw.isClosed() && !this.raw.isDraining()) void this.raw.reconnect();
  }

  async #watch(): Promise<void> {
    for await (const status of this.raw.status()) {
      if (status.type === 'ldm') this.#leave();
      if (status.type === 'disconnect' && !this.#isConnected) this.#endDial();
      if (status.type === 'disconnect' || status.type === 'close') this.#disconnected();
      if (status.type === 'error') this.#refused(status.error);
      if (status.type === 'reconnect') {
        streamDirectly(this.raw);
        this.#isConnected = true;
        for (const listener of [...this.#onReconnect]) listener();
      }
    }
    this.#disconnected();
  }

  /** What the server does not let us do has no answer: it fails now, and says why, instead of when its time is up. */
  #refused(error: Error): void {
    if (!(error instanceof errors.PermissionViolationError)) return;
    const { operation, subject } = error;
    const what = `the NATS user of this process may not ${operation === 'publish' ? 'publish' : 'listen'} to ${subject}`;
    if (operation === 'publish') this.#inbox.failSubject(subject, what);
    else if (subject.startsWith(inboxPrefix(this.user, this.role))) this.#inbox.failAll(what, 'forbidden');
  }

  /** A connection that is lost while it is being made is waited for by the client as if it could still answer. */
  #endDial(): void {
    const { protocol } = this.raw as unknown as { protocol: { connectError?: (error: Error) => void } };
    protocol.connectError?.(new Error('the connection was lost before it was made'));
  }

  #disconnected(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#inbox.failAll(`the ${this.role} connection was lost`);
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
  const message = isForbidden(cause) ? cause.message : 'the journal does not answer';
  return new MillraceError('JOURNAL_UNAVAILABLE', message, details, cause);
}
