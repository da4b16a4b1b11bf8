/**
 * Sockets to destinations: name lookup, judgement of addresses, TCP, TLS, within one time limit.
 *
 * Invariants
 *  C1 a socket is opened only when every address of the name is allowed, and only to those that were judged
 *  C2 the address that the socket has at last is judged again before anything of a request is written: address
 *     literals never pass a lookup
 *  C3 whoever asked can end the attempt at any moment; nothing stays open then
 *
 * TLS is that of Node with its trust store, HTTP/1.1 alone is offered.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressRules } from './address-rules.js';
import { bareHost } from './call-target.js';
import { CallFailure } from './failure-words.js';
import type { NameLookup } from './name-lookup.js';

/** What is to be connected, as undici asks. */
export interface ConnectTarget {
  readonly hostname: string;
  readonly protocol: string;
  /** Empty: the scheme's own. */
  readonly port: string;
}

export type Connected = (...result: [null, Socket] | [Error, null]) => void;

export interface ConnectorOptions {
  readonly rules: AddressRules;
  readonly lookup: NameLookup;
  /** From the lookup to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
}

/** Of a name with several addresses each gets so long before the next is tried beside it. */
const NEXT_ADDRESS_AFTER_MS = 500;
const TCP_KEEP_ALIVE_MS = 60_000;

export class Connector {
  constructor(readonly options: ConnectorOptions) {}

  /** Calls back once. Destroying the socket that is returned ends the attempt. */
  connect(target: ConnectTarget, connected: Connected): Socket {
    const isTls = target.protocol === 'https:';
    const host = bareHost(target.hostname);
    const port = Number(target.port) || (isTls ? 443 : 80);
    const { lookup, progress } = this.#judgedLookup(port);
    const tcp = {
      host,
      port,
      lookup,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    };
    const socket = isTls
      ? connectTls({
          ...tcp,
          ca: this.options.ca,
          ALPNProtocols: ['http/1.1'],
          ...(isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}),
        })
      : connectTcp(tcp);
    this.#watch(socket, isTls ? 'secureConnect' : 'connect', port, progress, connected);
    return socket;
  }

  #watch(socket: Socket, readyEvent: string, port: number, progress: { phase: string }, connected: Connected): void {
    let isOver = false;
    const over = (...result: [null, Socket] | [Error, null]) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      connected(...result);
    };
    const timer = setTimeout(
      () => socket.destroy(new CallFailure(`${progress.phase} timed out`)),
      this.options.connectTimeoutMs,
    );
    socket.once(readyEvent, () => {
      const address = socket.remoteAddress ?? '';
      const kind = this.options.rules.refusalOf(address, port);
      if (kind === undefined) over(null, socket);
      else socket.destroy(notAllowed(address, kind));
    });
    socket.on('error', (error) => over(error, null));
    socket.once('close', () => over(new CallFailure('connection closed'), null));
  }

  /** A lookup for one socket; `progress` tells how far it came, for the words of a timeout. */
  #judgedLookup(port: number): { lookup: LookupFunction; progress: { phase: string } } {
    const progress = { phase: 'connecting' };
    const lookup: LookupFunction = (name, options, done) => {
      progress.phase = 'name lookup';
      this.options.lookup.addressesOf(name).then(
        (addresses) => {
          progress.phase = 'connecting';
          for (const { address } of addresses) {
            const kind = this.options.rules.refusalOf(address, port);
            if (kind !== undefined) return done(notAllowed(address, kind), '', 0);
          }
          const first = addresses[0];
          if (first === undefined) return done(new CallFailure('no such host'), '', 0);
          if (options.all) return done(null, [...addresses]);
          return done(null, first.address, first.family);
        },
        (error) => done(error as Error, '', 0),
      );
    };
    return { lookup, progress };
  }
}

function notAllowed(address: string, kind: string): CallFailure {
  return new CallFailure(`destination address is not allowed: ${address} (${kind})`);
}
