/**
 * Trial runs: runs that exist only while an endpoint is checked. An endpoint's requests for them are answered as accepted
 * and have no other effect, in each process that receives one:
 *
 *  TRI1 no request for a trial run is executed or stored, also after the end of its check
 *  TRI2 a check sees the requests with a token of the checking account, and of others only that there were some
 */
import type { AccountId, RunId } from '../kernel/index.js';
import type { TrialRequest } from '../protocol/index.js';

export interface Trial {
  readonly runId: RunId;
  /** In the order of their arrival. */
  readonly requests: readonly TrialRequest[];
  /** A request came with the token of another account. */
  readonly isOfOtherAccount: boolean;
  end(): void;
}

export interface TrialRuns {
  begin(account: AccountId): Trial;
  /** Reports a request to the process that checks; resolves also if that process does not answer. */
  take(account: AccountId, runId: RunId, request: TrialRequest): Promise<void>;
}
