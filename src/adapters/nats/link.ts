/**
 * One monitored NATS connection. In addition to the client, a failure tells whether the request may have been sent, and
 * a lost connection fails its waiting requests immediately instead of at their timeout.
 *
 *  LK1 `not-sent` and `no-responders` mean that the request was not received and will not be
 *  LK2 every other failure promises nothing
 *  LK3 a request is sent once
 *  LK4 a server that leaves a request unanswered is asked for a sign of life; without one the connection is closed
 *  LK5 a server that announces its end is left immediately, for another
 *  LK6 requests that the client sends itself (`ask`) have the same failures
 */
import { JetStreamApiError } from '@nats-io/jetstream';
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
import { isForbidden, LinkFailure } from './link-failure.js';
import { RequestInbox, type Settle } from './request-inbox.js';
import { inboxPrefix, type NatsUser } from './subjects.js';

export interface LinkRequest {
  readonly timeoutMs: number;
  readonly headers?: MsgHdrs | undefined;
}

/** The time to write buffered data at the end; a process has ten seconds in total to stop. */
const DRAIN_TIMEOUT_MS = 3000;
/** A server answers a ping along with other work; the longest usual network pause is shorter. */
const ALIVE_WITHIN_MS = 2000;

export class NatsLink {
  readonly #inbox: RequestInbox;
  readonly #onReconnect = new Set<() => void>();
  /** Fail the waiting questions of `ask`. */
  readonly #onLoss = new Set<(failure: LinkFailure) => void>();
  #isConnected = true;
  #isProbing = false;

  constructor(
    /** The connection itself, for uses without a method here. */
    readonly raw: NatsConnection,
    /** The purpose of this connection, for messages. */
    readonly role: string,
    /** The user of this connection, as far as it is known here. */
    readonly user: NatsUser = 'process',
    /** How long a sign of life may take. */
    private readonly aliveWithinMs = ALIVE_WITHIN_MS,
  ) {
    this.#inbox = new RequestInbox(raw, inboxPrefix(user, role), () => void this.#probe());
    void this.#watch();
  }

  isConnected(): boolean {
    return this.#isConnected;
  }

  /** The version of the present server; it may change with a reconnect. */
  get serverVersion(): string {
    return this.raw.info?.version ?? '0.0.0';
  }

  /** @throws only LinkFailure */
  request(subject: string, payload: Payload, options: LinkRequest): Promise<Msg> {
    return new Promise((resolve, reject) =>
      this.send(subject, payload, options, (answer) =>
        answer instanceof LinkFailure ? reject(answer) : resolve(answer),
      ),
    );
  }

  /**
   * As `request`, without a promise, and with as many answers as `settle` asks for; `settle` may be called before this
   * returns.
   */
  send(subject: string, payload: Payload, { timeoutMs, headers }: LinkRequest, settle: Settle): void {
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

  /**
   * The answer to a request that a function of the client sends (LK6).
   * @param timeoutMs  earlier than the client's deadline
   * @throws LinkFailure; errors that are answers of JetStream unchanged
   */
  async ask<T>(question: () => Promise<T>, timeoutMs?: number): Promise<T> {
    try {
      return await this.#unlessLost(question, timeoutMs);
    } catch (error) {
      const failure = failureOfAnswer(error);
      if (failure instanceof LinkFailure && failure.kind === 'timed-out') void this.#probe();
      throw failure;
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

  /** Survives reconnects. An error of `onMessage` ends the process, not the connection. */
  subscribe(subject: string, onMessage: (message: Msg) => void): NatsSubscription {
    const receive = endingProcess(onMessage);
    return this.raw.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) receive(message);
      },
    });
  }

  /**
   * Ends a subscription after every message that the server has sent for it is handled: a request that was in transit
   * gets its answer.
   */
  drain(subscription: NatsSubscription): void {
    if (!this.raw.isClosed()) subscription.drain().catch(() => subscription.unsubscribe());
  }

  onReconnect(listener: () => void): Subscription {
    this.#onReconnect.add(listener);
    return { stop: () => this.#onReconnect.delete(listener) };
  }

  /** Resolves when the server has handled everything sent before. @throws LinkFailure, or the client's error */
  flush(timeoutMs: number): Promise<void> {
    return this.#unlessLost(() => this.raw.flush(), timeoutMs);
  }

  /** Sends buffered data, then closes. Waiting requests fail. May be called twice. */
  async close(): Promise<void> {
    if (this.raw.isClosed()) return;
    if (this.#isConnected && !this.raw.isDraining()) {
      // A server that does not answer would delay a drain for the whole silence.
      const late = setTimeout(() => void this.raw.close(), DRAIN_TIMEOUT_MS);
      await Promise.race([this.raw.drain().catch(() => {}), this.raw.closed()]);
      clearTimeout(late);
    }
    if (!this.raw.isClosed()) await this.raw.close();
    this.#disconnected();
  }

  /** Also fails when the connection is lost, and after `timeoutMs`. */
  async #unlessLost<T>(question: () => Promise<T>, timeoutMs: number | undefined): Promise<T> {
    if (!this.#isConnected) throw this.#notSent();
    let fail: (failure: LinkFailure) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.#onLoss.add(fail);
    const late = () => fail(new LinkFailure('timed-out', 'the server did not answer in time'));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    try {
      return await Promise.race([question(), failed]);
    } finally {
      clearTimeout(timer);
      this.#onLoss.delete(fail);
    }
  }

  /** Asks for a sign of life (LK4). The client's pings have long intervals, so that an idle process costs nothing. */
  async #probe(): Promise<void> {
    if (this.#isProbing || !this.#isConnected || this.raw.isClosed()) return;
    this.#isProbing = true;
    try {
      await this.flush(this.aliveWithinMs);
    } catch (error) {
      // Any failure except a timeout means that the connection is lost already.
      if (error instanceof LinkFailure && error.kind === 'timed-out') this.#leave();
    } finally {
      this.#isProbing = false;
    }
  }

  /** Reconnects, to another server where there is one, without waiting for sent requests. */
  #leave(): void {
    if (!this.raw.isClosed() && !this.raw.isDraining()) void this.raw.reconnect();
  }

  async #watch(): Promise<void> {
    for await (const status of this.raw.status()) {
      if (status.type === 'ldm') this.#leave();
      if (status.type === 'disconnect' || status.type === 'close') this.#disconnected();
      if (status.type === 'error') this.#refused(status.error);
      if (status.type === 'reconnect') {
        this.#isConnected = true;
        for (const listener of [...this.#onReconnect]) listener();
      }
    }
    this.#disconnected();
  }

  /** A request without permission gets no answer, so it fails now with the reason instead of at its timeout. */
  #refused(error: Error): void {
    if (!(error instanceof errors.PermissionViolationError)) return;
    const { operation, subject } = error;
    const reason = forbidden(error);
    if (operation === 'publish') this.#inbox.failSubject(subject, reason);
    else if (subject.startsWith(inboxPrefix(this.user, this.role))) this.#inbox.failAll(reason, 'forbidden');
  }

  #disconnected(): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    const reason = `the ${this.role} connection was lost`;
    this.#inbox.failAll(reason);
    for (const fail of [...this.#onLoss]) fail(new LinkFailure('disconnected', reason));
  }

  #notSent(): LinkFailure {
    return new LinkFailure('not-sent', `the ${this.role} connection is down`);
  }
}

/** The failure for an error of `publish`: the request was not sent. */
function failureOf(cause: unknown): LinkFailure {
  if (isClosing(cause)) return new LinkFailure('not-sent', describeError(cause), cause);
  return new LinkFailure('refused', describeError(cause), cause);
}

/** The failure for an error of a function of the client; an answer of JetStream is returned unchanged. */
function failureOfAnswer(error: unknown): unknown {
  if (error instanceof LinkFailure || error instanceof JetStreamApiError) return error;
  if (isClosing(error)) return new LinkFailure('not-sent', describeError(error), error);
  if (error instanceof errors.TimeoutError) return new LinkFailure('timed-out', describeError(error), error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof errors.PermissionViolationError) return new LinkFailure('forbidden', forbidden(cause), error);
  if (cause instanceof errors.NoRespondersError) return new LinkFailure('no-responders', describeError(error), error);
  // The client wraps a failed request, and JetStream's answer that it is off.
  const isWrapped = cause instanceof JetStreamApiError || cause instanceof errors.RequestError;
  return isWrapped ? failureOfAnswer(cause) : new LinkFailure('failed', describeError(error), error);
}

function forbidden({ operation, subject }: InstanceType<typeof errors.PermissionViolationError>): string {
  return `the NATS user of this process may not ${operation === 'publish' ? 'publish' : 'listen'} to ${subject}`;
}

function isClosing(error: unknown): boolean {
  return error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError;
}

/** A listener whose error ends the process, where the client would end its subscription. */
export function endingProcess<T>(listener: (message: T) => void): (message: T) => void {
  return (message) => {
    try {
      listener(message);
    } catch (defect) {
      queueMicrotask(() => {
        throw defect;
      });
    }
  };
}

/** The error of all ports when the journal's server did not answer. */
export function journalUnavailable(cause: unknown, details: Record<string, unknown> = {}): MillraceError {
  const message = isForbidden(cause) ? cause.message : 'the journal does not answer';
  return new MillraceError('JOURNAL_UNAVAILABLE', message, details, cause);
}
