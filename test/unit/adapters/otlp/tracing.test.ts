/** Proves TR1, TR2, OT1, OT2, SX1, SX2. */

import { ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import { NodeTimers } from '../../../../src/adapters/node/index.js';
import { MAX_TRACESTATE_CHARACTERS } from '../../../../src/adapters/otlp/otlp-limits.js';
import { OtlpTracing } from '../../../../src/adapters/otlp/otlp-tracing.js';
import { SpanExport } from '../../../../src/adapters/otlp/span-export.js';
import { type Counter, type Log, type Metrics, UNWATCHED } from '../../../../src/ports/index.js';
import { TraceCollector } from '../../../support/trace-collector.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const PARENT = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` };
const UNSAMPLED = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-00`, tracestate: 'vendor=1' };

class Told implements Metrics {
  readonly counts = new Map<string, number>();
  readonly lines: string[] = [];
  readonly histogram = UNWATCHED.histogram;
  readonly gauge = UNWATCHED.gauge;
  readonly log: Log = {
    debug() {},
    info: (event) => void this.lines.push(event),
    warn: (event) => void this.lines.push(event),
    error: (event) => void this.lines.push(event),
    with: () => this.log,
  };

  counter(name: string, label = ''): Counter {
    return {
      add: (count = 1) => void this.counts.set(`${name} ${label}`, (this.counts.get(`${name} ${label}`) ?? 0) + count),
    };
  }
}

describe('traces for a collector', () => {
  const opened: OtlpTracing[] = [];
  const tracing = (ratio: number, endpoint = 'http://127.0.0.1:9') => {
    const ports = { log: new Told().log, metrics: UNWATCHED, timers: new NodeTimers() };
    const made = new OtlpTracing(ports, { endpoint, headers: {}, ratio, version: '1' });
    opened.push(made);
    return made;
  };
  const begin = (ratio: number, beginning: Partial<Parameters<OtlpTracing['begin']>[1]> = {}) =>
    tracing(ratio).begin('name', { kind: 'server', ...beginning });

  it('continue the trace of a sampled caller at any ratio', () => {
    const span = begin(0, { parent: PARENT });
    const [, traceId, spanId, flags] = span?.headers.traceparent.split('-') ?? [];
    expect([traceId, flags, span?.isOfCaller]).to.deep.equal([TRACE_ID, '01', true]);
    expect(spanId)
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(SPAN_ID);
  });

  it('pass an unsampled trace on unchanged, and record no span', () => {
    const span = begin(1, { parent: UNSAMPLED });
    expect(span?.headers).to.deep.equal(UNSAMPLED);
    expect(span?.child('child', 'internal')).to.equal(undefined);
  });

  it('ignore a malformed traceparent', () => {
    const malformed = [
      '',
      'x',
      `00-${TRACE_ID}-${SPAN_ID}`,
      `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
      `ff-${TRACE_ID}-${SPAN_ID}-01`,
    ];
    for (const traceparent of malformed) {
      expect(begin(0, { parent: { traceparent } }), traceparent).to.equal(undefined);
      expect(begin(1, { parent: { traceparent } })?.isOfCaller, traceparent).to.equal(false);
    }
  });

  it('pass on a tracestate of the maximum length, and drop a longer one', () => {
    const stateOf = (characters: number) => {
      const tracestate = `vendor=${'x'.repeat(characters - 'vendor='.length)}`;
      return begin(0, { parent: { ...PARENT, tracestate } })?.headers.tracestate?.length;
    };
    // A list-member has 256 characters at most.
    expect(stateOf(256)).to.equal(256);
    const list = (members: number) => Array.from({ length: members }, (_, at) => `v${at}=x`).join(',');
    const fits = list(30);
    expect(fits.length).to.be.at.most(MAX_TRACESTATE_CHARACTERS);
    expect(begin(0, { parent: { ...PARENT, tracestate: fits } })?.headers.tracestate).to.equal(fits);
    const beyond = `${'k'.repeat(200)}=${'x'.repeat(MAX_TRACESTATE_CHARACTERS - 200)}`;
    expect(begin(0, { parent: { ...PARENT, tracestate: beyond } })?.headers.tracestate).to.equal(undefined);
  });

  it('sample the configured share of new traces', () => {
    expect(begin(0)).to.equal(undefined);
    expect(begin(1)?.headers.traceparent).to.match(/-01$/);
    const some = tracing(0.25);
    let sampled = 0;
    for (let count = 0; count < 2000; count += 1) if (some.begin('name', { kind: 'server' })) sampled += 1;
    expect(sampled).to.be.within(350, 650);
  });

  it('have the same id for the same seed, in every process', () => {
    const traceOf = (seed: string) => begin(1, { seed })?.headers.traceparent.split('-')[1];
    expect(traceOf('msg_1')).to.equal(traceOf('msg_1')).and.not.equal(traceOf('msg_2'));
  });

  it('send nested spans, links and failures to the collector', async () => {
    const collector = await TraceCollector.listening();
    const to = tracing(1, collector.url);
    const outer = to.begin('outer', {
      kind: 'server',
      seed: 'seed',
      link: PARENT,
      attributes: { kept: 1, left: undefined },
    });
    outer?.child('inner', 'client')?.end('503');
    outer?.set({ late: 'said' });
    outer?.end(undefined, 'renamed');
    await to.close();
    const [inner, renamed] = collector.spans;
    expect(inner).to.deep.include({ name: 'inner', parentSpanId: renamed?.spanId, kind: 3 });
    expect(inner?.attributes).to.deep.equal({ 'error.type': '503' });
    expect(renamed).to.deep.include({ name: 'renamed', kind: 2 });
    expect(renamed?.attributes).to.deep.equal({ kept: 1, late: 'said' });
    expect(renamed?.links).to.have.length(1);
    expect(renamed?.links?.[0]).to.deep.include({ traceId: TRACE_ID, spanId: SPAN_ID });
    await collector.close();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
});

describe('the export of spans', () => {
  const span = {
    spanContext: () => ({ traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1 }),
    resource: {},
  } as ReadableSpan;
  const DROPPED = 'millrace_trace_spans_dropped_total';

  function standing(maxWaiting: number) {
    const told = new Told();
    const answers: ((code: ExportResultCode) => void)[] = [];
    const collector: SpanExporter = {
      export: (_spans, done) => void answers.push((code) => done({ code, error: new Error('unreachable') })),
      shutdown: async () => undefined,
    };
    const options = { maxWaiting, batch: 2, everyMs: 60_000, timeoutMs: 60_000 };
    return { told, answers, spans: new SpanExport(collector, { log: told.log, metrics: told }, options) };
  }

  it('keeps spans up to its bound, then drops and counts them, also while a batch is being sent', () => {
    const { told, spans, answers } = standing(4);
    for (let count = 0; count < 4; count += 1) spans.onEnd(span);
    expect(answers).to.have.length(1);
    expect(told.counts.get(`${DROPPED} queue-full`)).to.equal(undefined);
    spans.onEnd(span);
    expect(told.counts.get(`${DROPPED} queue-full`)).to.equal(1);
    answers[0]?.(ExportResultCode.SUCCESS);
    spans.onEnd(span);
    expect(told.counts.get(`${DROPPED} queue-full`)).to.equal(1);
    expect(told.counts.get('millrace_trace_spans_exported_total ')).to.equal(2);
  });

  it('counts spans that the collector does not accept, and logs that once until it accepts some again', async () => {
    const { told, spans, answers } = standing(8);
    const batch = async (code: ExportResultCode) => {
      spans.onEnd(span);
      spans.onEnd(span);
      answers.shift()?.(code);
      await new Promise((resolve) => setImmediate(resolve));
    };
    await batch(ExportResultCode.FAILED);
    await batch(ExportResultCode.FAILED);
    expect(told.counts.get(`${DROPPED} not-taken`)).to.equal(4);
    expect(told.lines).to.deep.equal(['traces.not-exported']);
    await batch(ExportResultCode.SUCCESS);
    await batch(ExportResultCode.FAILED);
    expect(told.lines).to.deep.equal(['traces.not-exported', 'traces.exported-again', 'traces.not-exported']);
  });
});
