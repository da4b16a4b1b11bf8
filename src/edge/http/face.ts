/** What every face that has a port of its own is made of: who asks, what is held for it, what failed, and its server. */
import { ByteBudget, describeError } from '../../kernel/index.js';
import {
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
import { createFaceServer, type FaceBehaviour, type FaceServer, type TlsTexts } from './face-server.js';
import type { HttpLimits } from './http-limits.js';
import { Incidents } from './incidents.js';

export interface FaceParts<Limits extends HttpLimits = HttpLimits> {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Left out: nobody watches. */
  readonly metrics?: Metrics | undefined;
  /** Left out: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly limits: Limits;
  /** Whose word counts on who asks; without them the peer is who asks. */
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  /** Left out: what requests hold has no bound. */
  readonly budget?: ByteBudget | undefined;
}

export interface SocketParts {
  /** Without them the face speaks plain HTTP. */
  readonly tls?: TlsTexts;
  /** Left out: nobody waits for it. */
  readonly freshness?: Freshness;
}

export abstract class Face<Parts extends FaceParts> {
  readonly addresses: ClientAddresses;
  readonly signIns: SignIns;
  readonly budget: ByteBudget;
  readonly incidents: Incidents;
  /** Set while draining: every answer is its connection's last. */
  isDraining = false;

  /** @param name the first word of its events in the log: `kv` */
  constructor(
    private readonly name: string,
    readonly parts: Parts,
  ) {
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.incidents = new Incidents(name, parts);
  }

  /** @param onDrain ends what would not end by itself */
  serve(
    { tls, freshness }: SocketParts,
    behaviour: Omit<FaceBehaviour, 'acceptFailed' | 'drain'>,
    onDrain: () => void = () => {},
  ): FaceServer {
    const { name } = this;
    const { limits, log, clock, timers, tracing, metrics = UNWATCHED } = this.parts;
    const acceptFailed = (error: Error) => log.warn(`${name}.accept-failed`, { error: describeError(error) });
    const drain = () => {
      this.isDraining = true;
      onDrain();
    };
    return createFaceServer(
      { name, metrics, tracing, limits, clock, timers, tls, freshness },
      { ...behaviour, acceptFailed, drain },
    );
  }
}
