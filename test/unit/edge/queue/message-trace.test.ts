/** Proves MTR1, MTR2. */
import { expect } from 'chai';
import { withTrace } from '../../../../src/edge/queue/message-trace.js';
import type { Span } from '../../../../src/protocol/index.js';

function span(isOfCaller: boolean, tracestate?: string): Span {
  const none = () => undefined;
  return { headers: { traceparent: 'parent', tracestate }, isOfCaller, child: none, set: none, event: none, end: none };
}

describe('the trace of a publishing call', () => {
  const raw = { headers: [['svc-retries', '1']], query: [] } as const;

  it('is added to the headers of the call', () => {
    expect(withTrace(raw, span(false)).headers).to.deep.equal([
      ['svc-retries', '1'],
      ['svc-forward-traceparent', 'parent'],
    ]);
    expect(withTrace(raw, span(true, 'vendor=1')).headers.at(-1)).to.deep.equal(['svc-forward-tracestate', 'vendor=1']);
    expect(withTrace(raw, undefined)).to.equal(raw);
  });

  it('does not replace a trace that the caller gives by name', () => {
    const headers = [['svc-forward-traceparent', 'own']] as const;
    expect(withTrace({ headers, query: [] }, span(true)).headers).to.equal(headers);
    expect(withTrace({ headers: [], query: headers }, span(true)).headers).to.deep.equal([]);
  });

  it('does not replace the trace of a run, unless the endpoint sends one', () => {
    expect(withTrace(raw, span(false), true)).to.equal(raw);
    expect(withTrace(raw, span(true), true).headers).to.have.length(2);
  });
});
