/** What the commands of the data plane have in common. */
import type { SearchCall } from '../search-call.js';

export interface SearchCommand {
  /** Beside POST, which every command takes. */
  readonly alsoBy?: 'GET' | 'DELETE';
  /** The read-only token may do it. */
  readonly isRead: boolean;
  /** `named`: of one index. `unnamed`: of all, a name is ignored. `either`: of all only when the query says `all`. */
  readonly scope: 'named' | 'unnamed' | 'either';
  /** Carries documents: their bound is the upsert's, and the month's bandwidth counts. */
  readonly isUpsert?: boolean;
  /** @throws Refused; what the gateway and the projection throw */
  run(call: SearchCall): Promise<void>;
}
