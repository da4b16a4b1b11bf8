/** Lists from a read model: a header gives the lag when the read model is not complete. */
import { expect } from 'chai';
import type { MessageId } from '../../../src/kernel/index.js';
import type { MaybeBehind } from '../../../src/ports/index.js';
import { PLAIN_ENVELOPE, T0 } from '../../support/message-log-stand.js';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const HEADER = 'millrace-stale';
const LISTS = [
  '/v2/events',
  '/v2/logs',
  '/v2/dlq',
  '/v2/dlq/counts',
  '/v2/logs/counts',
  '/v2/workflows/counts',
  '/v2/workflows/logs',
  '/v2/workflows/events',
  '/v2/workflows/events?groupBy=workflowRunId',
] as const;

describe('edge/queue: lists of a read model', () => {
  const face = standOfAllTests(() => new QueueEndpointHarness().start());

  function answering(behind: MaybeBehind): void {
    face.messageLog.page = { events: [], cursor: undefined, ...behind };
    face.messageLog.dlqPage = { entries: [], after: undefined, ...behind };
    face.messageLog.counts = { counts: {}, isWhole: true, ...behind };
    face.runLog.counts = { counts: {}, isWhole: true, ...behind };
    face.runLog.page = { runs: [], cursor: undefined, ...behind };
    face.runLog.eventPage = { events: [], cursor: undefined, ...behind };
  }

  for (const path of LISTS) {
    it(`${path} has a header with the lag of the read model, and none without a lag`, async () => {
      answering({});
      const fresh = await face.get(path);
      expect([fresh.status, fresh.headers[HEADER]]).to.deep.equal([200, undefined]);
      answering({ behind: { positions: 12, ms: 2001 } });
      const stale = await face.get(path);
      expect([stale.status, stale.headers[HEADER]]).to.deep.equal([200, 'positions=12, seconds=3']);
      expect(stale.text).to.equal(fresh.text);
      answering({ behind: { positions: 1, ms: undefined } });
      expect((await face.get(path)).headers[HEADER]).to.equal('positions=1');
    });
  }

  it('have the header also when they are long and sent in pieces', async () => {
    const { events } = longPage();
    face.messageLog.page = { events, cursor: undefined, behind: { positions: 2, ms: 900 } };
    const { headers, text } = await face.get('/v2/events?count=1000');
    expect(text.length).to.be.greaterThan(64 * 1024);
    expect([headers[HEADER], headers['content-length']]).to.deep.equal(['positions=2, seconds=1', undefined]);
  });
});

function longPage() {
  const event = {
    atMs: T0,
    state: 'DELIVERED' as const,
    messageId: 'msg_1' as MessageId,
    envelope: PLAIN_ENVELOPE,
    body: new Uint8Array(Buffer.from('x'.repeat(1000))),
    nextDeliveryAtMs: undefined,
    error: undefined,
    response: undefined,
  };
  return { events: Array.from({ length: 100 }, () => event) };
}
