/** What the data plane of search indexes is made of: ports from outside, and what its requests share. */
import { ByteBudget, type DatabaseId } from '../../kernel/index.js';
import { uuidOf } from '../../messages/index.js';
import type { Clock, KvGateway, Log, Meter, Quota, SearchAccess, SearchQueries, Timers } from '../../ports/index.js';
import { Incidents } from '../http/incidents.js';
import { ClientAddresses, type ProxyRange, RequestBodyReader } from '../http/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { DEFAULT_SEARCH_FACE_LIMITS, type SearchFaceLimits } from './face-limits.js';
import { SearchAllowance } from './search-allowance.js';

/** What of an index was used in this month (UTC), as far as this process has heard. */
export interface SearchMonth {
  rerankUnits(index: DatabaseId): number;
  /** They are those of bodies, in and out. */
  bytes(index: DatabaseId): number;
}

export interface SearchHandlerParts {
  readonly access: SearchAccess;
  readonly gateway: KvGateway;
  readonly queries: SearchQueries;
  readonly quota: Quota;
  readonly usage: SearchMonth;
  readonly meter: Pick<Meter, 'recordSearch' | 'gaugeSearch'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Left out: what requests hold has no bound. */
  readonly budget?: ByteBudget | undefined;
  /** Those not given have their defaults. */
  readonly limits?: Partial<SearchFaceLimits>;
  /** While it says so, every answer is its connection's last. */
  readonly isDraining?: () => boolean;
}

export class SearchFace {
  readonly limits: SearchFaceLimits;
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
    this.limits = { ...DEFAULT_SEARCH_FACE_LIMITS, ...parts.limits };
    this.bodies = new RequestBodyReader(parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY));
    this.allowance = new SearchAllowance(parts);
  }

  get isDraining(): boolean {
    return this.parts.isDraining?.() ?? false;
  }

  /** The name that its owner gave it. One that was deleted a moment ago goes by its id. */
  nameOf(index: DatabaseId): string {
    for (const { id, name } of this.parts.access.searchIndexes()) if (id === index) return name;
    return uuidOf(index);
  }

  /** Lets others run. */
  breathe(): Promise<void> {
    return this.parts.timers.breathe();
  }

  /** Runs what reads a whole index. @returns undefined when too many of them run, and has run nothing */
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
