/** The base of every endpoint with a port: client addresses, sign-ins, the byte budget, incidents and the server. */
import { ByteBudget, describeError } from '../../kernel/index.js';
import {
  type Acceptor,
  type Clock,
  type Freshness,
  type Log,
  type Metrics,
  type Timers,
  type Tracing,
  UNWATCHED,
} from '../../ports/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { ClientAddresses, type ProxyRange } from './client-address.js';
import { createEndpointServer, type EndpointBehaviour, type EndpointServer, type TlsTexts } from './endpoint-server.js';
import type { HttpLimits } from './http-limits.js';
import { Incidents } from './incidents.js';

export interface EndpointParts<Limits extends HttpLimits = HttpLimits> {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined;
  /** Default: no traces. */
  readonly tracing?: Tracing | undefined;
  readonly limits: Limits;
  /** Proxies whose forwarding headers count. Default: the peer is the client. */
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  /** Default: no limit on the bytes that requests hold. */
  readonly budget?: ByteBudget | undefined;
}

export interface SocketParts {
  /** Default: plain HTTP. */
  readonly tls?: TlsTexts;
  /** Default: requests do not wait for it. */
  readonly freshness?: Freshness;
  /** Default: the port of this process alone. */
  readonly acceptor?: Acceptor | undefined;
}

export abstract class Endpoint<Parts extends EndpointParts> {
  readonly addresses: ClientAddresses;
  readonly signIns: SignIns;
  readonly budget: ByteBudget;
  readonly incidents: Incidents;
  /** Set while draining: every answer closes its connection. */
  isDraining = false;

  /** @param name the first word of its log events: `kv` */
  constructor(
    private readonly name: string,
    readonly parts: Parts,
  ) {
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.incidents = new Incidents(name, parts);
  }

  /** @param onDrain ends the requests that would not end on their own */
  serve(
    { tls, freshness, acceptor }: SocketParts,
    behaviour: Omit<EndpointBehaviour, 'acceptFailed' | 'drain'>,
    onDrain: () => void = () => {},
  ): EndpointServer {
    const { name } = this;
    const { limits, log, clock, timers, tracing, metrics = UNWATCHED } = this.parts;
    const acceptFailed = (error: Error) => log.warn(`${name}.accept-failed`, { error: describeError(error) });
    const drain = () => {
      this.isDraining = true;
      onDrain();
    };
    return createEndpointServer(
      { name, metrics, tracing, limits, clock, timers, tls, freshness, acceptor },
      { ...behaviour, acceptFailed, drain },
    );
  }
}
