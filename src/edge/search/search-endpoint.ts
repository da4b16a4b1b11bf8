/** The parts of the search endpoint: ports from outside, and objects that its requests share. */
import { ByteBudget, type DatabaseId } from '../../kernel/index.js';
import type {
  Clock,
  Embeddings,
  KvGateway,
  Log,
  Meter,
  Quota,
  Random,
  SearchAccess,
  SearchQueries,
  Timers,
  VectorQueries,
} from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { Incidents } from '../http/incidents.js';
import { ClientAddresses, type ProxyRange, RequestBodyReader } from '../http/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { DEFAULT_SEARCH_ENDPOINT_LIMITS, type SearchEndpointLimits } from './endpoint-limits.js';
import { SearchAllowance, type SearchMonth } from './search-allowance.js';

export interface SearchHandlerParts {
  readonly access: SearchAccess;
  readonly gateway: KvGateway;
  readonly queries: SearchQueries & VectorQueries;
  /** Undefined: texts of vectors are hashed. */
  readonly embeddings?: Embeddings | undefined;
  readonly random: Random;
  readonly quota: Quota;
  readonly usage: SearchMonth;
  readonly meter: Pick<Meter, 'recordSearch' | 'gaugeSearch'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Default: no limit on the bytes that requests hold. */
  readonly budget?: ByteBudget | undefined;
  /** Missing ones have their defaults. */
  readonly limits?: Partial<SearchEndpointLimits>;
  /** While it returns true, every answer closes its connection. */
  readonly isDraining?: () => boolean;
}

export class SearchEndpoint {
  readonly limits: SearchEndpointLimits;
  readonly bodies: RequestBodyReader;
  readonly allowance: SearchAllowance;
  #scans = 0;
  readonly incidents: Incidents;
  readonly signIns: SignIns;
  readonly addresses: ClientAddresses;

  constructor(readonly parts: SearchHandlerParts) {
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    this.incidents = new Incidents('search', parts, 's');
    this.limits = { ...DEFAULT_SEARCH_ENDPOINT_LIMITS, ...parts.limits };
    this.bodies = new RequestBodyReader(parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY));
    this.allowance = new SearchAllowance(parts);
  }

  get isDraining(): boolean {
    return this.parts.isDraining?.() ?? false;
  }

  /** The name from its owner. A recently deleted index has its id instead. */
  nameOf(index: DatabaseId): string {
    for (const { id, name } of this.parts.access.searchIndexes()) if (id === index) return name;
    return uuidOf(index);
  }

  /** Lets other work run. */
  yieldToEventLoop(): Promise<void> {
    return this.parts.timers.yieldToEventLoop();
  }

  /** Runs an operation that reads a whole index. @returns undefined, without running it, if too many are running */
  async scanning<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#scans >= this.limits.maxScans) return undefined;
    this.#scans += 1;
    try {
      return await run();
    } finally {
      this.#scans -= 1;
    }
  }
}
