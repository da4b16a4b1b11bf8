/** `/v2/workflows/runs/…/rerun`: new runs that begin with the results of earlier ones. */
import { webcrypto } from 'node:crypto';
import { parseDestinationUrl } from '../../../domain/queue/index.js';
import { newRunId, type RunName } from '../../../domain/queue/runs/index.js';
import { RERUNS_FORMAT_LEVEL, type RunId } from '../../../kernel/index.js';
import type { RunEntries } from '../../../ports/index.js';
import { notFound } from '../../error-map.js';
import { membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { record } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { fieldsOf } from '../../http/request-class.js';
import { shows } from '../answer-schemas.js';
import { RERUN_MEMBERS } from '../body-shapes.js';
import { countOf, cursorOf, memberParameters, queryParameters, single, wholeNumber } from '../call-filters.js';
import { filterMembers, filterParameters } from '../call-parameters.js';
import { keptEntries, MAX_RERUN_BYTES } from '../kept-entries.js';
import { refuseForbidden, settingsOf } from '../publish-items.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { nameRecord } from '../records/workflow-run-record.js';
import { RerunRequest } from '../requests/rerun-request.js';
import { chosenRunId, overridesOf } from '../requests/workflow-dlq-request.js';
import { runIdInPath } from '../run-names.js';
import { RUN_FILTERS, runFilterOf, runStatesOf } from './workflow-logs.js';

type StoredRun = NonNullable<RunEntries['run']>;

const [NEEDED, OPTIONAL] = RERUN_MEMBERS;
const CREATED_AT = 'workflowCreatedAt';
const OF_RERUN: ReadonlySet<string> = new Set([CREATED_AT]);
const OF_BULK: ReadonlySet<string> = new Set([...RUN_FILTERS, 'state', 'count', 'cursor']);
/** Each run is read and stored as a whole, up to `MAX_RERUN_BYTES`. */
const DEFAULT_BULK_RERUNS = 10;
const MAX_BULK_RERUNS = 50;

export const WORKFLOW_RERUN_ROUTES: readonly QueueRoute[] = [
  queueRoute('POST /v2/workflows/runs/:id/rerun', {
    summary: 'Starts a run that begins with the results of another one, up to a step.',
    permission: 'publish',
    bodyBound: 'message',
    boundBy: 'day',
    parameters: filterParameters(OF_RERUN),
    bodyShape: { of: record(...RERUN_MEMBERS) },
    example: { fromStep: 'charge' },
    answer: shows('RunName'),
    async handle(call, { path: { id = '' } }) {
      const request = RerunRequest.from(membersOf(parseJson(call.body)));
      const created = single(queryParameters(call.words.rest, OF_RERUN), CREATED_AT);
      const createdAtMs = created === undefined ? undefined : wholeNumber(CREATED_AT, created);
      const run = await storedRun(call, runIdInPath(id), createdAtMs);
      call.value(200, nameRecord(await rerun(call, run, request, chosenRunId(call))));
    },
  }),

  queueRoute('POST /v2/workflows/runs/rerun', {
    summary: 'Starts a run for each run that a filter meets, with the results up to a step.',
    permission: 'publish',
    bodyBound: 'message',
    boundBy: 'day',
    bodyShape: { of: record(NEEDED, { ...filterMembers(OF_BULK), ...OPTIONAL }) },
    example: { workflowUrl: 'https://example.com/api/orders', state: 'RUN_FAILED', fromStep: 'charge', count: 10 },
    answer: shows('Reruns'),
    handle: rerunMany,
  }),
];

async function rerunMany(call: QueueCall): Promise<void> {
  const members = [...membersOf(parseJson(call.body))];
  const isOfRerun = ([name]: [string, unknown]) => fieldsOf(RerunRequest).includes(name);
  const request = RerunRequest.from(new Map(members.filter(isOfRerun)));
  const parameters = memberParameters(
    members.filter((member) => !isOfRerun(member)),
    OF_BULK,
  );
  const { filter, others } = runFilterOf(parameters);
  const { states, stepStates } = runStatesOf(others);
  if (Object.keys(filter).length === 0 && states.length === 0 && stepStates.length === 0) {
    throw invalid('a filter is missing: name runs, or give a state, a workflowUrl or another filter');
  }
  const count = countOf(parameters, MAX_BULK_RERUNS) ?? DEFAULT_BULK_RERUNS;
  const query = { filter, states, stepStates, count, cursor: cursorOf(parameters), trimBytes: -1 };
  const page = await call.endpoint.parts.runLog.runs(call.grant.account, query, await call.position());
  const started: object[] = [];
  const refused: object[] = [];
  for (const { runId, createdAtMs } of page.runs) {
    try {
      const name = await rerun(call, await storedRun(call, runId, createdAtMs), request);
      started.push({ ...nameRecord(name), rerunOf: runId });
    } catch (failure) {
      if (!(failure instanceof RefusedRequest)) throw failure;
      refused.push({ workflowRunId: runId, workflowCreatedAt: createdAtMs, error: failure.refusal.text });
    }
  }
  call.value(200, { workflowRuns: started, refused, cursor: page.cursor });
}

/** @throws Refused 404 */
async function storedRun(call: QueueCall, runId: RunId, createdAtMs: number | undefined): Promise<StoredRun> {
  const query = { runId, createdAtMs, maxBytes: MAX_RERUN_BYTES };
  const { run } = await call.endpoint.parts.runLog.runEntries(call.grant.account, query, await call.position());
  if (run === undefined) throw new RefusedRequest(notFound(`workflowRun ${runId}`));
  return run;
}

/** @param chosen the id of the new run. @throws Refused */
async function rerun(call: QueueCall, run: StoredRun, request: RerunRequest, chosen?: RunId): Promise<RunName> {
  if (call.endpoint.parts.formatLevel() < RERUNS_FORMAT_LEVEL) {
    throw invalid(`a rerun needs format level ${RERUNS_FORMAT_LEVEL}: run millrace cluster upgrade`);
  }
  const { clock, random } = call.endpoint.parts;
  const overrides = overridesOf(call);
  settingsOf(call, overrides, 'retry', {});
  const entries = keptEntries(run.entries, request, clock.nowMs());
  const payload = entries[0]?.body ?? new Uint8Array(0);
  const command = {
    type: 'RerunRun',
    from: { runId: run.runId, createdAtMs: run.createdAtMs },
    firstRunId: chosen ?? newRunId(random),
    firstId: call.newMessageId(),
    envelope: request.url === undefined ? run.envelope : atUrl(call, run.envelope, request.url),
    overrides,
    entries,
    payloadHash: Buffer.from(await webcrypto.subtle.digest('SHA-256', payload)).toString('base64url'),
  } as const;
  return only((await call.ask(command, 'RunsStarted')).runs);
}

/** The envelope for another endpoint; a failure function at the old URL moves with it. */
function atUrl(call: QueueCall, envelope: StoredRun['envelope'], text: string): StoredRun['envelope'] {
  const outcome = parseDestinationUrl(text, 'workflow');
  if (!outcome.isOk) throw invalid(outcome.message);
  const { url } = outcome;
  refuseForbidden(call, 'workflow', url);
  const { failureCallback } = envelope.settings;
  if (failureCallback?.url !== envelope.url) return { ...envelope, url };
  return { ...envelope, url, settings: { ...envelope.settings, failureCallback: { ...failureCallback, url } } };
}
