/** `POST /v2/workflows/check`: plays recorded runs to the endpoint of a new version, without an effect on the runs. */

import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { MAX_URL_BYTES, parseDestinationUrl } from '../../../domain/queue/index.js';
import type { LoggedRun, RunEntries } from '../../../ports/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { record } from '../../http/openapi/parts.js';
import { invalid } from '../../http/refused.js';
import { fieldsOf, filled } from '../../http/request-class.js';
import { shows } from '../answer-schemas.js';
import { CHECK_MEMBERS } from '../body-shapes.js';
import { countOf, cursorOf, memberParameters } from '../call-filters.js';
import { filterMembers } from '../call-parameters.js';
import { randomGuard } from '../checks/guard.js';
import { type RecordedRun, recordedRun } from '../checks/recorded-run.js';
import { type CheckedEndpoint, RunCheck, type RunVerdict, unknown } from '../checks/run-check.js';
import { TrialPlayer } from '../checks/trial-player.js';
import { refuseForbidden } from '../publish-items.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { nameRecord } from '../records/workflow-run-record.js';
import { RUN_FILTERS, runFilterOf, runStatesOf } from './workflow-logs.js';

/** `POST /v2/workflows/check`: the endpoint of a new version, and how it is checked. */
class CheckRequest {
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url!: string;

  /** Every step's code is executed by the endpoint; undefined: false. */
  @IsOptional()
  @IsBoolean()
  readonly executeSteps: boolean | undefined;

  /** @throws Refused 400 */
  static from(members: ReadonlyMap<string, unknown>): CheckRequest {
    return checked(filled(CheckRequest, (name) => members.get(name)));
  }
}

const [NEEDED, OPTIONAL] = CHECK_MEMBERS;
const OF_CHECK: ReadonlySet<string> = new Set([...RUN_FILTERS, 'state', 'count', 'cursor']);
/** A page takes at most `CHECK_MS`, so callers check more runs page by page. */
const DEFAULT_CHECKED_RUNS = 10;
const MAX_CHECKED_RUNS = 50;
/** Shorter than the time limits of common proxies, which is a minute. */
const CHECK_MS = 45_000;
/** Runs that are played at the same time; each has one request in progress, and its entries in memory. */
const RUNS_AT_ONCE = 16;
/** Of one run. Longer lists are not sent with a delivery either, by default: the endpoint fetches them. */
const MAX_CHECKED_BYTES = 1024 * 1024;

export const WORKFLOW_CHECK_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/workflows/check', {
    summary: 'Plays recorded runs to an endpoint, and shows the runs and steps that it would break.',
    permission: 'publish',
    bodyShape: { of: record(NEEDED, { ...filterMembers(OF_CHECK), ...OPTIONAL }) },
    example: {
      url: 'https://staging.example.com/api/orders',
      workflowUrl: 'https://example.com/api/orders',
      count: 50,
    },
    answer: shows('CheckedRuns'),
    handle: checkRuns,
  }),
];

async function checkRuns(call: QueueCall): Promise<void> {
  const members = [...membersOf(parseJson(call.body))];
  const isOfCheck = ([name]: [string, unknown]) => fieldsOf(CheckRequest).includes(name);
  const request = CheckRequest.from(new Map(members.filter(isOfCheck)));
  const parameters = memberParameters(
    members.filter((member) => !isOfCheck(member)),
    OF_CHECK,
  );
  const { filter, others } = runFilterOf(parameters);
  const { states, stepStates } = runStatesOf(others);
  if (Object.keys(filter).length === 0 && states.length === 0 && stepStates.length === 0) {
    throw invalid('a filter is missing: name runs, or give a workflowUrl, a state or another filter');
  }
  const urlFor = urlsOf(call, request.url);
  const count = countOf(parameters, MAX_CHECKED_RUNS) ?? DEFAULT_CHECKED_RUNS;
  const query = { filter, states, stepStates, count, cursor: cursorOf(parameters), trimBytes: -1 };
  const { runs, cursor } = await call.endpoint.checks.within(call.grant.account, async () => {
    const seen = await call.position();
    const page = await call.endpoint.parts.runLog.runs(call.grant.account, query, seen);
    const checks = new PageOfChecks(call, { urlFor, executes: request.executeSteps === true, seen });
    return { runs: await checks.records(page.runs), cursor: page.cursor };
  });
  call.value(200, { runs, cursor });
}

interface CheckOptions {
  urlFor(run: LoggedRun): string;
  readonly executes: boolean;
  readonly seen: number;
}

class PageOfChecks {
  readonly #endpoint: CheckedEndpoint = { compares: undefined };
  readonly #signal = AbortSignal.timeout(CHECK_MS);

  constructor(
    private readonly call: QueueCall,
    private readonly options: CheckOptions,
  ) {}

  /** The first run is checked alone: it shows whether the endpoint compares records. */
  async records(runs: readonly LoggedRun[]): Promise<readonly object[]> {
    const found: object[] = [];
    let next = 0;
    const work = async (isAlone: boolean) => {
      while (next < runs.length) {
        const at = next;
        next += 1;
        found[at] = this.#record(runs[at] as LoggedRun, await this.#verdict(runs[at] as LoggedRun));
        if (isAlone) return;
      }
    };
    await work(true);
    await Promise.all(Array.from({ length: RUNS_AT_ONCE }, () => work(false)));
    return found;
  }

  async #verdict(log: LoggedRun): Promise<RunVerdict> {
    if (this.#signal.aborted) return unknown('the time of the check was over');
    const { endpoint, grant } = this.call;
    const { runId, createdAtMs } = log;
    const query = { runId, createdAtMs, maxBytes: MAX_CHECKED_BYTES };
    const { run } = await endpoint.parts.runLog.runEntries(grant.account, query, this.options.seen);
    const recorded = run && recordedRun(log, run.entries);
    if (run === undefined || recorded === undefined) {
      return unknown(`the run has more than ${MAX_CHECKED_BYTES} bytes of entries, or they are no longer in the log`);
    }
    return this.#checked(log, run, recorded);
  }

  #checked(log: LoggedRun, run: NonNullable<RunEntries['run']>, recorded: RecordedRun): Promise<RunVerdict> {
    const { parts } = this.call.endpoint;
    const envelope = { ...run.envelope, url: this.options.urlFor(log) };
    const played = { account: this.call.grant.account, createdAtMs: run.createdAtMs, envelope };
    const player = new TrialPlayer({ ...parts, ...parts.deliveries }, played, this.#signal);
    const check = new RunCheck(recorded, randomGuard(parts.random), this.#endpoint, (list) => player.play(list));
    return check.check(this.options.executes);
  }

  #record(run: LoggedRun, { outcome, differences, reason }: RunVerdict): object {
    return {
      ...nameRecord(run),
      workflowUrl: run.url,
      workflowState: run.state,
      outcome,
      differences: differences.map(({ step, breaks, text, found }) => ({
        stepId: step?.stepId,
        stepName: step?.stepName,
        stepType: step?.stepType,
        breaks,
        text,
        found,
      })),
      reason,
    };
  }
}

/** A URL without a path gets the path of each run's URL. @throws Refused 400 */
function urlsOf(call: QueueCall, text: string): (run: LoggedRun) => string {
  const outcome = parseDestinationUrl(text, 'workflow');
  if (!outcome.isOk) throw invalid(outcome.message);
  const { url } = outcome;
  refuseForbidden(call, 'workflow', url);
  const { origin, pathname, search } = new URL(url);
  if (pathname !== '/' || search !== '') return () => url;
  return (run) => {
    const of = URL.parse(run.url);
    return of === null ? url : origin + of.pathname + of.search;
  };
}
