/**
 * Sockets to destinations: name lookup, judgement of addresses, TCP, TLS. The lookup has a time limit, and all that
 * comes after it another.
 *
 * Invariants
 *  CO1 a socket is opened only when every address of the name is allowed, and only to those that were judged
 *  CO2 the address that the socket has at last is judged again before anything of a request is written: address
 *      literals never pass a lookup
 *  CO3 whoever asked can end the attempt at any moment; nothing stays open then
 *
 * TLS is that of Node with its trust store, HTTP/1.1 alone is offered.
 */
import type { LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressRules } from './address-rules.js';
import { bareHost } from './call-target.js';
import { CallFailure } from './failure-words.js';
import type { NameLookup } from './name-lookup.js';

/** The target of a connection. */
export interface ConnectTarget {
  readonly hostname: string;
  readonly protocol: string;
  /** Empty: the scheme's default. */
  readonly port: string;
}

export type Connected = (...result: [null, Socket] | [Error, null]) => void;

export interface ConnectorOptions {
  readonly rules: AddressRules;
  readonly lookup: NameLookup;
  /** From the end of the lookup to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
}

/** With several addresses, the next is tried in parallel after this time. */
const NEXT_ADDRESS_AFTER_MS = 500;
const TCP_KEEP_ALIVE_MS = 60_000;

export class Connector {
  constructor(readonly options: ConnectorOptions) {}

  /**
   * Calls back once. Destroying the returned socket ends the attempt.
   * @param onread  receives all bytes instead of the socket's events
   */
  connect(target: ConnectTarget, onread: OnReadOpts, connected: Connected): Socket {
    const isTls = target.protocol === 'https:';
    const host = bareHost(target.hostname);
    const port = Number(target.port) || (isTls ? 443 : 80);
    const attempt = new Attempt(port, this.options);
    const tcp = {
      host,
      port,
      lookup: attempt.lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      onread,
    };
    const socket = isTls
      ? connectTls({
          ...tcp,
          ca: this.options.ca,
          ALPNProtocols: ['http/1.1'],
          ...(isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}),
        })
      : connectTcp(tcp);
    this.#watch(socket, isTls ? 'secureConnect' : 'connect', attempt, connected);
    return socket;
  }

  #watch(socket: Socket, readyEvent: string, attempt: Attempt, connected: Connected): void {
    let isOver = false;
    const over = (...result: [null, Socket] | [Error, null]) => {
      if (isOver) return;
      isOver = true;
      attempt.end();
      connected(...result);
    };
    attempt.onTimeout = () => socket.destroy(new CallFailure('connecting timed out'));
    socket.once(readyEvent, () => {
      const address = socket.remoteAddress ?? '';
      const kind = this.options.rules.refusalOf(address, attempt.port);
      if (kind === undefined) over(null, socket);
      else socket.destroy(notAllowed(address, kind));
    });
    socket.on('error', (error) => over(error, null));
    socket.once('close', () => over(new CallFailure('connection closed'), null));
  }
}

/** The timer and the lookup of one connecting socket. The lookup has a separate limit and comes first. */
class Attempt {
  onTimeout: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #leaveLookup: (() => void) | undefined;

  constructor(
    readonly port: number,
    readonly options: ConnectorOptions,
  ) {
    this.#startClock();
  }

  /** For node:net, which calls it for names only. */
  readonly lookup: LookupFunction = (name, { all }, done) => {
    clearTimeout(this.#timer);
    this.#leaveLookup = this.options.lookup.ask(name, (error, addresses) => {
      this.#startClock();
      const failure = error ?? this.#refusalOf(addresses);
      const first = addresses[0];
      if (failure !== undefined || first === undefined) done(failure ?? new CallFailure('no such host'), '', 0);
      else if (all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };

  /** Connected, failed or cancelled. */
  end(): void {
    clearTimeout(this.#timer);
    this.#leaveLookup?.();
  }

  #startClock(): void {
    this.#timer = setTimeout(() => this.onTimeout(), this.options.connectTimeoutMs);
  }

  /** Refuses unless every address is allowed (CO1). */
  #refusalOf(addresses: readonly LookupAddress[]): CallFailure | undefined {
    for (const { address } of addresses) {
      const kind = this.options.rules.refusalOf(address, this.port);
      if (kind !== undefined) return notAllowed(address, kind);
    }
    return undefined;
  }
}

function notAllowed(address: string, kind: string): CallFailure {
  return new CallFailure(`destination address is not allowed: ${address} (${kind})`);
}
