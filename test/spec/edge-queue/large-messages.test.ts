/** Bodies of several megabytes: the same messages and refusals as for small ones, while other requests run. */
import { expect } from 'chai';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';
const OUT = 'lärge "text" 😀 \\ \n'.repeat(30_000);
const STEP = { stepId: 1, stepName: 'one', stepType: 'Run', out: OUT, concurrent: 1 };
const MARK = { stepId: 1, targetStep: 0, concurrent: 1, stepName: 'one', stepType: 'Run' };
const ENTRY = { 'Svc-Workflow-RunId': 'wfr_1', 'Svc-Workflow-Init': 'false' };
const TRIGGER = { 'Svc-Workflow-RunId': 'wfr_1', 'Svc-Workflow-Init': 'true' };
const INVOKE = { ...TRIGGER, 'Svc-Workflow-Invoke': 'true' };
const ENVELOPE = {
  body: OUT,
  workflowRunId: 'wfr_parent',
  workflowUrl: URL,
  headers: {},
  step: { stepId: 3, stepName: 'start', stepType: 'Invoke', concurrent: 1 },
};

type Headers = Readonly<Record<string, string>>;

describe('edge/queue: large messages', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());
  beforeEach(async () => {
    face.limits = { ...face.limits, maxMessageBytes: 8 * 1024 * 1024 };
  });

  const publish = (headers: Headers, body: string) => face.post(`/v2/publish/${URL}`, { headers, body });
  const batch = (headers: Headers, body: string) =>
    face.post('/v2/batch', { body: [{ destination: URL, headers, body }] });
  const published = () => face.gateway.lastPublished;

  for (const [road, send] of [
    ['alone', publish],
    ['in a batch', batch],
  ] as const) {
    it(`are accepted ${road}, byte for byte`, async () => {
      expect((await send({}, OUT)).status).to.be.within(200, 201);
      expect(published().body.toString()).to.equal(OUT);
    });

    it(`are accepted as steps ${road}, with an unchanged result`, async () => {
      expect((await send(ENTRY, JSON.stringify(STEP))).status).to.be.within(200, 201);
      expect(published().workflow).to.deep.include({ kind: 'entry', step: MARK });
      expect(published().body.toString()).to.equal(JSON.stringify(STEP));
    });

    it(`are accepted as invokes ${road}, with their payload for the child run`, async () => {
      expect((await send(INVOKE, JSON.stringify(ENVELOPE))).status).to.be.within(200, 201);
      expect(published().workflow).to.deep.include({ kind: 'trigger', depth: 1 });
      expect(published().body.toString()).to.equal(OUT);
    });

    it(`are accepted as trigger payloads ${road}, without being parsed`, async () => {
      expect((await send(TRIGGER, `${OUT}{`)).status).to.be.within(200, 201);
      expect(published().body.toString()).to.equal(`${OUT}{`);
    });

    it(`are refused ${road} with the errors of small ones`, async () => {
      const wrong: readonly (readonly [Headers, string, string])[] = [
        [ENTRY, OUT, 'the body is not valid JSON'],
        [ENTRY, JSON.stringify(STEP).replace('\\n', '\n'), 'the body is not valid JSON'],
        [ENTRY, JSON.stringify([STEP]), 'the step is not a JSON object'],
        [ENTRY, JSON.stringify({ ...STEP, stepId: OUT }), 'the step has no valid stepId and targetStep'],
        [ENTRY, JSON.stringify({ ...STEP, stepName: OUT }), 'stepName of the step is longer than 4096 bytes'],
        [INVOKE, JSON.stringify({ ...ENVELOPE, body: [OUT] }), 'body must be a string'],
        [INVOKE, JSON.stringify({ ...ENVELOPE, step: { ...STEP } }), 'the step is longer than 65536 bytes'],
        [INVOKE, JSON.stringify({ ...ENVELOPE, workflowRunId: undefined }), 'workflowRunId must be a string'],
      ];
      for (const [headers, body, words] of wrong) {
        const { status, json } = await send(headers, body);
        expect([status, (json as { error: string }).error.replace(/^message 0: /, '')]).to.deep.equal([412, words]);
      }
      expect(face.gateway.published).to.deep.equal([]);
    });
  }

  it('are parsed like JSON in a batch: the last member of a name counts, also null and other types', async () => {
    const texts = [
      `[{"destination":"${URL}","body":"first","body":${JSON.stringify(OUT)}}]`,
      `[{"destination":"${URL}","body":${JSON.stringify(OUT)},"body":"last"}]`,
      `[{"destination":"${URL}","body":${JSON.stringify(OUT)},"body":null}]`,
    ];
    const bodies: string[] = [];
    for (const body of texts) {
      expect((await face.post('/v2/batch', { body })).status).to.equal(200);
      bodies.push(published().body.toString());
    }
    expect(bodies).to.deep.equal([OUT, 'last', '']);
    const list = await face.post('/v2/batch', { body: `[{"destination":"${URL}","body":[${JSON.stringify(OUT)}]}]` });
    expect([list.status, list.text]).to.deep.equal([400, '{"error":"message 0: body must be a string"}']);
  });
});
