import { expect } from 'chai';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://app.example/flow';
const RUN = { 'Svc-Workflow-RunId': 'wfr_1', 'Svc-Workflow-Init': 'false' };
const LARGE = 'x'.repeat(2 * 1024 * 1024);

describe('edge/queue: refused steps with a read-only token', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  for (const [method, path, body] of [
    ['POST', `/v2/publish/${URL}`, LARGE],
    ['POST', '/v2/batch', [{ destination: URL, headers: RUN, body: LARGE }]],
    ['POST', '/v2/batch', [{ destination: URL, headers: RUN, body: 'no record' }]],
    ['POST', '/v2/batch', `[{"headers":${JSON.stringify(RUN)},`],
    ['POST', '/v2/wait/e', LARGE],
    ['POST', '/v2/wait/e', 'no JSON'],
    ['DELETE', '/v2/workflows/runs/wfr_1?cancel=false', LARGE],
  ] as const) {
    it(`${method} ${path} with ${String(body).slice(0, 8)} does not end the run`, async () => {
      const answer = await face.request(method, path, { token: QUEUE_READ_ONLY_TOKEN, headers: RUN, body });
      expect(answer.status).to.be.within(400, 499);
      expect(face.gateway.asked.filter(({ type }) => type === 'RefuseStep')).to.deep.equal([]);
    });
  }
});
