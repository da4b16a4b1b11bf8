import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import type { EntryView, WorkflowReply } from '../../../src/domain/queue/runs/index.js';
import { QUEUE_READ_ONLY_TOKEN, QueueEndpointHarness, ScriptedGateway } from '../../support/queue-endpoint.js';

type Page = Extract<WorkflowReply, { type: 'Run' }>;

const RUNS = '/v2/workflows/runs';

/** A gateway with the pages of a run, by their first position. */
class PagedGateway extends ScriptedGateway {
  readonly pages = new Map<number, QueueReply>();

  override async ask(...asked: Parameters<ScriptedGateway['ask']>): Promise<QueueReply> {
    const reply = await super.ask(...asked);
    const [, command] = asked;
    return command.type === 'GetRun' ? (this.pages.get(command.from) as QueueReply) : reply;
  }
}

describe('edge/queue: runs', () => {
  let gateway: PagedGateway;
  let face: QueueEndpointHarness;
  beforeEach(async () => {
    gateway = new PagedGateway();
    face = await new QueueEndpointHarness({ gateway }).start();
  });
  afterEach(() => face.stop());

  const entry = (id: string, content: string): EntryView => ({
    messageId: id as never,
    body: { number: content === '' ? 0 : 1, bytes: content.length },
    content: content === '' ? undefined : Buffer.from(content),
  });
  const page = (entries: readonly EntryView[], nextFrom?: number, createdAtMs = 1): Page => ({
    type: 'Run',
    run: { runId: 'wfr_1' as never, createdAtMs },
    entries,
    nextFrom,
  });
  const shown = (messageId: string, content: string) => ({
    messageId,
    body: Buffer.from(content).toString('base64'),
    callType: 'step',
  });

  describe('GET /v2/workflows/runs/:id', () => {
    it('answers the entries of the run, in order', async () => {
      gateway.pages.set(0, page([entry('msg_0', ''), entry('msg_1', '{"stepId":1}')]));
      const answer = await face.get(`${RUNS}/wfr_1`, { token: QUEUE_READ_ONLY_TOKEN });
      expect([answer.status, answer.json]).to.deep.equal([200, [shown('msg_0', ''), shown('msg_1', '{"stepId":1}')]]);
      expect(gateway.last('GetRun')).to.deep.include({ runId: 'wfr_1', from: 0, maxBytes: 4 * 1024 * 1024 });
    });

    it('reads the run page by page, for any length', async () => {
      const large = 'x'.repeat(100_000);
      gateway.pages.set(0, page([entry('msg_0', large), entry('msg_1', large)], 2));
      gateway.pages.set(2, page([entry('msg_2', large)], 3));
      gateway.pages.set(3, page([entry('msg_3', 'end')]));
      const answer = await face.get(`${RUNS}/wfr_1`);
      expect(answer.json).to.deep.equal([
        shown('msg_0', large),
        shown('msg_1', large),
        shown('msg_2', large),
        shown('msg_3', 'end'),
      ]);
    });

    it('answers 404 to an unknown run, also when it ends before the first page was sent', async () => {
      const message = 'workflowRun wfr_1 not found';
      gateway.pages.set(0, { type: 'Rejected', reason: 'NOT_FOUND', message });
      const none = await face.get(`${RUNS}/wfr_1`);
      expect([none.status, none.json]).to.deep.equal([404, { error: message }]);
      gateway.pages.set(0, page([entry('msg_0', 'a')], 1));
      gateway.pages.set(1, { type: 'Rejected', reason: 'NOT_FOUND', message });
      expect((await face.get(`${RUNS}/wfr_1`)).status).to.equal(404);
      // Another run under the same id.
      gateway.pages.set(1, page([entry('msg_9', 'b')], undefined, 2));
      expect((await face.get(`${RUNS}/wfr_1`)).status).to.equal(404);
    });

    it('cuts the connection when the run ends in the middle', async () => {
      gateway.pages.set(0, page([entry('msg_0', 'x'.repeat(100_000))], 1));
      gateway.pages.set(1, { type: 'Rejected', reason: 'NOT_FOUND', message: 'gone' });
      const failure = await face.get(`${RUNS}/wfr_1`).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(failure).to.be.instanceOf(Error);
    });

    it('accepts any run id', async () => {
      gateway.pages.set(0, page([]));
      for (const [path, runId] of [
        ['wfr_a%20b', 'wfr_a b'],
        ['wfr_a/b', 'wfr_a/b'],
        ['wfr_100%', 'wfr_100%'],
      ] as const) {
        await face.get(`${RUNS}/${path}`);
        expect(gateway.last('GetRun').runId).to.equal(runId);
      }
      expect((await face.get(`${RUNS}/${'x'.repeat(300)}`)).status).to.equal(400);
      expect((await face.get(`${RUNS}/%E2%82%AC`)).status).to.equal(400);
    });
  });

  describe('DELETE /v2/workflows/runs/:id', () => {
    it('finishes the run with cancel=false and a result', async () => {
      const answer = await face.delete(`${RUNS}/wfr_1?cancel=false`, { body: '{"a":1}' });
      expect(answer.status).to.equal(200);
      expect(gateway.last('EndRun')).to.deep.equal({
        type: 'EndRun',
        runId: 'wfr_1',
        how: 'finish',
        response: Buffer.from('{"a":1}'),
      });
      await face.delete(`${RUNS}/wfr_1?cancel=false`);
      expect(gateway.last('EndRun').response).to.equal(undefined);
    });

    it('cancels the run without cancel=false', async () => {
      for (const path of [`${RUNS}/wfr_1`, `${RUNS}/wfr_1?cancel=true`]) {
        expect((await face.delete(path)).status).to.equal(200);
        expect(gateway.last('EndRun')).to.deep.include({ how: 'cancel', response: undefined });
      }
    });

    it('answers 404 to an unknown run', async () => {
      gateway.answer('EndRun', { type: 'Rejected', reason: 'NOT_FOUND', message: 'workflowRun wfr_1 not found' });
      const answer = await face.delete(`${RUNS}/wfr_1`);
      expect([answer.status, answer.json]).to.deep.equal([404, { error: 'workflowRun wfr_1 not found' }]);
    });

    it('answers 412 to a result that is too large, and the run fails with the reason', async () => {
      const large = 'x'.repeat(face.limits.maxMessageBytes + 1);
      for (const [path, body] of [
        [`${RUNS}/wfr_1?cancel=false`, large],
        [`${RUNS}/wfr_1?cancel=perhaps`, ''],
        [`${RUNS}/wfr_1?other=1`, ''],
        [`${RUNS}/${'x'.repeat(300)}?cancel=false`, ''],
      ] as const) {
        expect((await face.delete(path, { body })).status, path).to.equal(412);
      }
      const error = `the step was refused: body is too large, current limit: ${face.limits.maxMessageBytes} bytes`;
      expect(gateway.asked).to.deep.equal([{ type: 'RefuseStep', runId: 'wfr_1', error }]);
    });

    it('refuses a read-only token, and other methods', async () => {
      expect((await face.delete(`${RUNS}/wfr_1`, { token: QUEUE_READ_ONLY_TOKEN })).status).to.equal(403);
      expect((await face.delete(RUNS, { token: QUEUE_READ_ONLY_TOKEN })).status).to.equal(403);
      expect((await face.delete(`${RUNS}/wfr_1`, { token: null })).status).to.equal(401);
      const other = await face.post(`${RUNS}/wfr_1`);
      expect([other.status, other.json]).to.deep.equal([405, { error: 'method is not allowed' }]);
      expect((await face.post(RUNS)).status).to.equal(405);
    });
  });

  describe('DELETE /v2/workflows/runs', () => {
    beforeEach(() => gateway.answer('CancelRuns', { type: 'Cancelled', count: 3 }));
    const selector = () => gateway.last('CancelRuns').selector;

    it('takes ids, and ignores other filters then', async () => {
      const answer = await face.delete(`${RUNS}?workflowRunIds=a,b&workflowRunIds=c&label=x&workflowRunIds=a`);
      expect([answer.status, answer.json]).to.deep.equal([200, { cancelled: 3 }]);
      expect(selector()).to.deep.equal({ kind: 'ids', runIds: ['a', 'b', 'c'] });
    });

    it('takes filters', async () => {
      const url = 'https://a.example/x,y';
      const query = new URLSearchParams({
        workflowUrl: `${url},https://b.example/`,
        workflowUrlExactMatch: 'true',
        fromDate: '1',
        toDate: '2',
        label: 'l,m',
        flowControlKey: 'k',
        callerIp: '192.0.2.1',
        callerIP: '192.0.2.2',
        host: 'a.example,b.example:8443',
        path: '/x,/y',
        count: '7',
      });
      await face.delete(`${RUNS}?${query}`);
      expect(selector()).to.deep.equal({
        kind: 'filter',
        filter: {
          url: [url, 'https://b.example/'],
          isUrlExact: true,
          fromMs: 1,
          toMs: 2,
          label: ['l', 'm'],
          flowControlKey: ['k'],
          callerIp: ['192.0.2.1', '192.0.2.2'],
          host: ['a.example', 'b.example:8443'],
          path: ['/x', '/y'],
        },
        count: 7,
      });
    });

    it('cancels a hundred runs without a filter, and accepts URL prefixes', async () => {
      await face.delete(RUNS);
      expect(selector()).to.deep.equal({ kind: 'filter', filter: {}, count: 100 });
      await face.delete(`${RUNS}?workflowUrl=https://a.example/`);
      expect(selector()).to.deep.include({ filter: { url: ['https://a.example/'], isUrlExact: false } });
    });

    it('takes ids or filters in a body', async () => {
      await face.delete(RUNS, { body: { workflowRunIds: ['a', 'b'] } });
      expect(selector()).to.deep.equal({ kind: 'ids', runIds: ['a', 'b'] });
      await face.delete(RUNS, { body: { workflowUrl: 'https://a.example/', workflowUrlExactMatch: true, count: 2 } });
      expect(selector()).to.deep.equal({
        kind: 'filter',
        filter: { url: ['https://a.example/'], isUrlExact: true },
        count: 2,
      });
      await face.delete(RUNS, { body: {} });
      expect(selector()).to.deep.include({ kind: 'filter', count: 100 });
    });

    it('answers 400 to unknown or incomplete filters', async () => {
      for (const query of [
        'workflowRunId=a',
        'workflowRunIds=',
        'workflowUrl=',
        'count=0',
        'count=1001',
        'count=x',
        'fromDate=x',
        'workflowUrl=https://a.example/&workflowUrlExactMatch=perhaps',
      ]) {
        expect((await face.delete(`${RUNS}?${query}`)).status, query).to.equal(400);
      }
      for (const body of ['x', '[]', '{"workflowRunIds":[]}', '{"workflowRunIds":{}}']) {
        expect((await face.delete(RUNS, { body })).status, body).to.equal(400);
      }
      // An id that a client has lost.
      expect((await face.delete(`${RUNS}/`)).status).to.equal(400);
      expect(gateway.asked).to.deep.equal([]);
    });
  });
});
