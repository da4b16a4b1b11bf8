import { expect } from 'chai';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { beginsWithStep, isSentByRun, markOf, runHeadersOf } from '../../../../src/edge/queue/run-headers.js';
import { checkedRunId, eventIdInPath, runIdInPath } from '../../../../src/edge/queue/run-names.js';

const RUN = ['svc-workflow-runid', 'wfr_1'] as const;
const INIT = ['svc-workflow-init', 'true'] as const;

describe('edge/queue: headers of a run’s message', () => {
  it('are absent without a run id', () => {
    expect(runHeadersOf([])).to.equal(undefined);
    expect(runHeadersOf([INIT])).to.equal(undefined);
    expect(runHeadersOf([['svc-workflow-runid', '  ']])).to.equal(undefined);
  });

  it('give the kind of the message', () => {
    const kindOf = (...headers: (readonly [string, string])[]) => {
      const { isTrigger, isInvoke, isByEndpoint, isCall } = runHeadersOf([RUN, ...headers]) as never;
      return { isTrigger, isInvoke, isByEndpoint, isCall };
    };
    const none = { isTrigger: false, isInvoke: false, isByEndpoint: false, isCall: false };
    expect(kindOf()).to.deep.equal(none);
    expect(kindOf(['svc-workflow-init', 'false'])).to.deep.equal(none);
    expect(kindOf(INIT)).to.deep.equal({ ...none, isTrigger: true });
    expect(kindOf(['svc-workflow-init', ' TRUE '])).to.deep.equal({ ...none, isTrigger: true });
    expect(kindOf(INIT, ['svc-workflow-invoke', 'true'])).to.deep.equal({ ...none, isTrigger: true, isInvoke: true });
    expect(kindOf(['svc-workflow-invoke', 'true'])).to.deep.equal(none);
    expect(kindOf(INIT, ['svc-workflow-trigger-by-sdk', 'true'])).to.include({ isByEndpoint: true });
    expect(kindOf(['svc-workflow-calltype', 'toCallback'])).to.deep.equal({ ...none, isCall: true });
    expect(kindOf(['svc-workflow-calltype', 'step'])).to.deep.equal(none);
    expect(kindOf(INIT, ['svc-workflow-calltype', 'toCallback'])).to.deep.equal({ ...none, isTrigger: true });
  });

  it('show whether a run reads the answer', () => {
    expect(isSentByRun([])).to.equal(false);
    expect(isSentByRun([RUN])).to.equal(true);
    expect(isSentByRun([RUN, INIT])).to.equal(false);
    expect(isSentByRun([RUN, INIT, ['svc-workflow-invoke', 'true']])).to.equal(true);
  });

  it('show the same for a batch by its first bytes', () => {
    const batch = (init: string, body = '') =>
      Buffer.from(JSON.stringify([{ destination: 'x', headers: { 'acme-workflow-init': init }, body }]));
    expect(beginsWithStep(batch('false'))).to.equal(true);
    expect(beginsWithStep(batch('true'))).to.equal(false);
    expect(beginsWithStep(batch('true', JSON.stringify({ 'svc-workflow-init': 'false' })))).to.equal(false);
    expect(beginsWithStep(Buffer.alloc(0))).to.equal(false);
  });

  it('list the features of the endpoint', () => {
    const mark = { detectsTrigger: false, needsRecentClient: false, canFetch: false, isConfiguredByTrigger: false };
    expect(markOf([])).to.deep.equal(mark);
    expect(markOf([['svc-feature-set', 'WF_NoDelete,InitialBody']])).to.deep.equal(mark);
    expect(markOf([['svc-feature-set', 'LazyFetch, WF_TriggerOnConfig ,WF_DetectTrigger']])).to.deep.equal({
      ...mark,
      detectsTrigger: true,
      canFetch: true,
      isConfiguredByTrigger: true,
    });
  });
});

describe('edge/queue: ids of runs and events', () => {
  it('are decoded as clients put them into a path', () => {
    expect(runIdInPath('wfr_a%20b')).to.equal('wfr_a b');
    expect(eventIdInPath('100%')).to.equal('100%');
    expect(eventIdInPath('a%2Fb/c')).to.equal('a/b/c');
    expect(eventIdInPath('x'.repeat(1024))).to.have.length(1024);
  });

  it('are refused when empty, too long, or invalid in a header', () => {
    for (const id of ['', 'x'.repeat(257), 'a\nb', '€']) expect(() => checkedRunId(id), id).to.throw(RefusedRequest);
    for (const id of ['', 'x'.repeat(1025)]) expect(() => eventIdInPath(id), id).to.throw(RefusedRequest);
  });
});
