/**
 * Trial runs of this process, and the way of requests from the process that received them to the one that checks
 * (ports/trial-runs: TRI1, TRI2). The id of a trial run names that process.
 */
import { decodeTrialReport, encodeTrialReport } from '../../codec/cluster/index.js';
import { processOfTrial, trialRunId } from '../../domain/queue/runs/index.js';
import type { AccountId, RunId, SessionId } from '../../kernel/index.js';
import type { Bus, Random, Trial, TrialRuns } from '../../ports/index.js';
import type { TrialReport, TrialRequest } from '../../protocol/index.js';

/** An endpoint makes one request for each delivery; more show the same. */
const MAX_REQUESTS = 16;
/** The endpoint waits for its answer during this time. */
const REPORT_TIMEOUT_MS = 2000;
const RECEIVED = new Uint8Array(0);

interface OpenTrial {
  readonly account: AccountId;
  readonly requests: TrialRequest[];
  isOfOtherAccount: boolean;
}

export class ProcessTrials implements TrialRuns {
  readonly #open = new Map<RunId, OpenTrial>();

  constructor(
    private readonly ports: { readonly bus: Bus; readonly random: Random },
    private readonly processId: SessionId,
  ) {}

  begin(account: AccountId): Trial {
    const runId = trialRunId(this.processId, this.ports.random);
    const trial: OpenTrial = { account, requests: [], isOfOtherAccount: false };
    this.#open.set(runId, trial);
    return {
      runId,
      requests: trial.requests,
      get isOfOtherAccount() {
        return trial.isOfOtherAccount;
      },
      end: () => void this.#open.delete(runId),
    };
  }

  async take(account: AccountId, runId: RunId, request: TrialRequest): Promise<void> {
    const process = processOfTrial(runId);
    if (process === undefined) return;
    if (process === this.processId) {
      this.#note({ runId, account, request });
      return;
    }
    const report = encodeTrialReport({ runId, account, request });
    const topic = { kind: 'session', session: process } as const;
    // Without an answer the check has no request to compare, and says so.
    await this.ports.bus.request(topic, report, REPORT_TIMEOUT_MS).catch(() => undefined);
  }

  /** A report of another process. */
  receive(payload: Uint8Array): Uint8Array {
    this.#note(decodeTrialReport(payload));
    return RECEIVED;
  }

  #note({ runId, account, request }: TrialReport): void {
    const trial = this.#open.get(runId);
    if (trial === undefined) return;
    if (trial.account !== account) trial.isOfOtherAccount = true;
    else if (trial.requests.length < MAX_REQUESTS) trial.requests.push(request);
  }
}
