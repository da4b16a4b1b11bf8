/** Random requests of an endpoint during a run: they are accepted, or refused with a status that the client shows. */
import { expect } from 'chai';
import fc from 'fast-check';
import { repetitions } from '../../support/depth.js';
import { QUEUE_USER, QueueEndpointHarness } from '../../support/queue-endpoint.js';

const URL = 'https://app.example/flow';
const RUNS = 150;
/** Values with a meaning in some field, mixed with meaningless ones. */
const WORDS = [
  '',
  '0',
  '1',
  '-1',
  '21',
  '1e3',
  'true',
  'false',
  'null',
  'toCallback',
  'step',
  '7d',
  '8d',
  'x,y',
  URL,
  'https://forbidden.example/',
  'group',
  'é',
  '€',
  'a\nb',
  '%zz',
  '__proto__',
];
const HEADERS = [
  'Svc-Workflow-Init',
  'Svc-Workflow-CallType',
  'Svc-Workflow-Url',
  'Svc-Workflow-Trigger-By-Sdk',
  'Svc-Feature-Set',
  'Svc-Delay',
  'Svc-Not-Before',
  'Svc-Retries',
  'Svc-Timeout',
  'Svc-Label',
  'Svc-Redact-Fields',
  'Svc-Flow-Control-Key',
  'Svc-Callback',
  'Svc-Failure-Callback',
  'Svc-Callback-Feature-Set',
  'Svc-Callback-Retries',
  'Svc-Callback-Forward-Svc-Workflow-StepId',
  'Svc-Callback-Forward-Svc-Workflow-StepName',
  'Svc-Callback-Forward-Svc-Workflow-Concurrent',
  'Svc-Forward-Svc-Workflow-Invoke-Count',
  'Svc-Forward-Host',
  'Svc-Forward-X-Mine',
  'Svc-Deduplication-Id',
  'Acme-Workflow-RunId',
  'Acme-Forward-Acme-Label',
  'Content-Type',
];
const MEMBERS = [
  'stepId',
  'targetStep',
  'concurrent',
  'stepName',
  'stepType',
  'out',
  'body',
  'workflowRunId',
  'workflowUrl',
  'headers',
  'step',
  'url',
  'timeout',
  'timeoutUrl',
  'timeoutBody',
  'timeoutHeaders',
];

const word = fc.constantFrom(...WORDS);
/** Often no odd value at all: otherwise hardly any request would be accepted. */
const seldom = <T>(odd: fc.Arbitrary<T>, plain: T) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: odd });
const headers = seldom(fc.dictionary(fc.constantFrom(...HEADERS), word, { maxKeys: 5 }), {});
const destination = seldom(word, URL);
const leaf = fc.oneof(word, fc.integer({ min: -1, max: 5 }), fc.constant(null), fc.double(), fc.boolean());
const object = (value: fc.Arbitrary<unknown>) => fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 8 });
const nested = fc.oneof(leaf, object(leaf), fc.array(leaf, { maxLength: 3 }));
/** Valid values, with one changed. */
const step = seldom<Record<string, unknown>>(
  fc.record({ stepId: leaf, targetStep: leaf, concurrent: leaf, stepName: leaf, stepType: leaf }, { requiredKeys: [] }),
  {},
);
const record = fc.oneof(
  fc.constant('').map((text): unknown => text),
  object(nested),
  step.map((changes) => ({ stepId: 1, stepName: 'one', stepType: 'Run', ...changes })),
  fc.tuple(step, seldom(object(nested), {})).map(([changes, more]) => ({
    workflowRunId: 'wfr_0',
    workflowUrl: URL,
    url: URL,
    headers: {},
    step: { stepId: 1, stepName: 'one', stepType: 'Run', ...changes },
    ...more,
  })),
);
const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

describe('edge/queue: random requests of workflow endpoints', () => {
  let face: QueueEndpointHarness;
  before(async () => {
    face = await new QueueEndpointHarness().start();
    face.gateway.answer('Notify', { type: 'Notified', notified: [] });
  });
  after(async () => {
    await face.stop();
    // The requests of all tests together: those of one test may all be refused.
    expect([...seen]).to.include.members([200, 201, 400, 404, 412]);
  });
  afterEach(() => {
    expect(face.log.lines.filter(({ event }) => event === 'queue.request.failed')).to.deep.equal([]);
  });
  const seen = new Set<number>();
  const note = (status: number) => {
    seen.add(status);
    return status;
  };

  it('messages are accepted, or refused with 412', () =>
    fc.assert(
      fc.asyncProperty(headers, record, fc.boolean(), destination, async (given, body, isInvoke, to) => {
        const control = isInvoke
          ? { 'svc-workflow-init': 'true', 'svc-workflow-invoke': 'true' }
          : { 'svc-workflow-init': 'false' };
        const { 'Svc-Workflow-Init': _, ...others } = given;
        const item = {
          destination: to,
          headers: { ...others, ...control, 'svc-workflow-runid': 'wfr_1' },
          body: textOf(body),
        };
        const { status, text } = await face.post('/v2/batch', { body: [item] });
        expect(note(status), text).to.be.oneOf([200, 412]);
      }),
      { numRuns: repetitions(RUNS) },
    ));

  it('triggers are accepted or refused', () =>
    fc.assert(
      fc.asyncProperty(headers, destination, async (given, to) => {
        const item = { destination: to, headers: given, body: 'payload' };
        const { status, text } = await face.post('/v2/batch/trigger', { body: [item] });
        expect(note(status), text).to.be.oneOf([201, 400, 412]);
      }),
      { numRuns: repetitions(RUNS) },
    ));

  it('waits are accepted, or refused with 412', () =>
    fc.assert(
      fc.asyncProperty(record, word, async (body, event) => {
        const path = `/v2/wait/${encodeURI(event) || 'e'}`;
        const asked = { headers: { 'Svc-Workflow-RunId': 'wfr_1' }, body: textOf(body) };
        const { status, text } = await face.post(path, asked);
        expect(note(status), text).to.be.oneOf([200, 412]);
      }),
      { numRuns: repetitions(RUNS) },
    ));

  it('webhooks are accepted or refused', () =>
    fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 4 }), async (segments) => {
        const path = `/v2/workflows/hooks/${[QUEUE_USER, ...segments.map(encodeURI)].join('/')}`;
        const { status, text } = await face.post(path, { token: null });
        expect(note(status), text).to.be.oneOf([200, 400, 404]);
      }),
      { numRuns: repetitions(RUNS) },
    ));
});
