/** Proves ME1–ME3, PRW1. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { ProcessWatch, PromMetrics } from '../../../src/adapters/node/index.js';
import { MAX_SERIES } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { bytesAllocatedBy } from '../../support/held-memory.js';

async function linesOf(metrics: PromMetrics): Promise<string[]> {
  return (await metrics.page()).text.split('\n');
}

/** No delay of the loop is longer than the time that has passed. */
function secondsSince(beganMs: number): number {
  return (performance.now() - beganMs) / 1000;
}

/** The value of one series on the page. */
async function readingOf(metrics: PromMetrics, series: string): Promise<number> {
  const line = (await linesOf(metrics)).find((one) => one.startsWith(`${series} `));
  if (line === undefined) throw new Error(`no series ${series}`);
  return Number(line.slice(series.length + 1));
}

describe('metrics', () => {
  let metrics: PromMetrics;
  beforeEach(() => {
    metrics = new PromMetrics({ withProcess: false });
  });

  it('count and observe without allocating, and never throw (ME1)', async () => {
    const counter = metrics.counter('millrace_commands_refused_total', 'full');
    const histogram = metrics.histogram('millrace_turn_seconds');
    const COUNT = 100_000;
    const work = () => {
      for (let at = 0; at < COUNT; at += 1) {
        counter.add();
        counter.add(at);
        histogram.observe(at / COUNT);
      }
    };
    // A boxed number needs more than a byte. On a busy machine V8 compiles the function later.
    await eventually(() => expect(bytesAllocatedBy(work)).to.be.below(COUNT));
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e300]) {
      expect(() => histogram.observe(odd)).not.to.throw();
    }
  });

  it('show counters that never counted as 0', async () => {
    expect(await readingOf(metrics, 'millrace_append_unknown_total')).to.equal(0);
  });

  it('are read synchronously, without unknown values', () => {
    metrics.counter('millrace_entries_appended_total').add(4);
    metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL').add();
    metrics.gauge('millrace_shard_epoch', () => 3, 'KV_0');
    metrics.gauge('millrace_shard_epoch', () => undefined, 'KV_1');
    metrics.gauge('millrace_data_bytes', () => {
      throw new Error('not now');
    });
    const readings = metrics.readings();
    expect(readings).to.deep.include({
      millrace_entries_appended_total: 4,
      millrace_append_unknown_total: 0,
      millrace_commands_refused_total: { MAILBOX_FULL: 1 },
      millrace_shard_epoch: { KV_0: 3 },
    });
    expect(readings).not.to.have.property('millrace_data_bytes');
  });

  it('count, by label where there is one', async () => {
    metrics.counter('millrace_entries_appended_total').add();
    metrics.counter('millrace_entries_appended_total').add(4);
    metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL').add();
    metrics.counter('millrace_commands_refused_total', 'TENANT_BUSY').add(2);
    expect(await linesOf(metrics)).to.include.members([
      '# HELP millrace_entries_appended_total Entries that the journal acknowledged.',
      '# TYPE millrace_entries_appended_total counter',
      'millrace_entries_appended_total 5',
      'millrace_commands_refused_total{code="MAILBOX_FULL"} 1',
      'millrace_commands_refused_total{code="TENANT_BUSY"} 2',
    ]);
  });

  it('give the same handle for the same name and label', () => {
    expect(metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL')).to.equal(
      metrics.counter('millrace_commands_refused_total', 'MAILBOX_FULL'),
    );
  });

  it('put each observation into its bucket, bounds included, and count upwards', async () => {
    const ack = metrics.histogram('millrace_append_ack_seconds');
    for (const seconds of [0.00025, 0.0003, 0.004, 60]) ack.observe(seconds);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_bucket{le="0.00025"}')).to.equal(1);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_bucket{le="0.0005"}')).to.equal(2);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_bucket{le="5"}')).to.equal(3);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_bucket{le="+Inf"}')).to.equal(4);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_count')).to.equal(4);
    expect(await readingOf(metrics, 'millrace_append_ack_seconds_sum')).to.be.closeTo(60.00455, 1e-9);
  });

  it('read a gauge only for a scrape, until it is stopped', async () => {
    let asked = 0;
    const gauge = metrics.gauge('millrace_mailbox_commands', () => ++asked, 'KV_1');
    expect(asked).to.equal(0);
    expect(await readingOf(metrics, 'millrace_mailbox_commands{shard="KV_1"}')).to.equal(1);
    gauge.stop();
    expect((await linesOf(metrics)).filter((line) => line.includes('KV_1'))).to.deep.equal([]);
  });

  it('omit a gauge while its value is unknown', async () => {
    let documents: number | undefined;
    metrics.gauge('millrace_search_documents', () => documents);
    expect((await linesOf(metrics)).filter((line) => line.startsWith('millrace_search_documents'))).to.deep.equal([]);
    documents = 0;
    expect(await readingOf(metrics, 'millrace_search_documents')).to.equal(0);
  });

  it('keep a newer gauge when the older one of the same name is stopped', async () => {
    const older = metrics.gauge('millrace_mailbox_commands', () => 1, 'KV_1');
    metrics.gauge('millrace_mailbox_commands', () => 2, 'KV_1');
    older.stop();
    expect(await readingOf(metrics, 'millrace_mailbox_commands{shard="KV_1"}')).to.equal(2);
  });

  it('show the rest when one gauge cannot be read', async () => {
    metrics.gauge('millrace_journal_total_bytes', () => {
      throw new Error('gone');
    });
    expect(await readingOf(metrics, 'millrace_journal_total_bytes')).to.be.NaN;
    expect(await readingOf(metrics, 'millrace_append_unknown_total')).to.equal(0);
  });

  it('are bounded in series: further labels count as other', async () => {
    for (let kind = 0; kind < MAX_SERIES + 5; kind += 1)
      metrics.counter('millrace_commands_refused_total', `K${kind}`).add();
    expect(await readingOf(metrics, 'millrace_commands_refused_total{code="other"}')).to.equal(5);
    const series = (await linesOf(metrics)).filter((line) => line.startsWith('millrace_commands_refused_total{'));
    expect(series).to.have.length(MAX_SERIES + 1);
  });

  it('may have several labels, of which each counts as other above the bound (ME3)', async () => {
    for (let at = 0; at <= MAX_SERIES; at += 1) metrics.counter('millrace_http_requests_total', `kv r${at} 200`).add();
    expect(await readingOf(metrics, 'millrace_http_requests_total{face="kv",route="r7",status="200"}')).to.equal(1);
    const rest = 'millrace_http_requests_total{face="other",route="other",status="other"}';
    expect(await readingOf(metrics, rest)).to.equal(1);
    metrics.histogram('millrace_http_request_seconds', 'queue /v2/dlq').observe(0.002);
    const bucket = 'millrace_http_request_seconds_bucket{face="queue",route="/v2/dlq",le="0.0025"}';
    expect(await readingOf(metrics, bucket)).to.equal(1);
  });

  it('include the process metrics of prom-client when enabled', async () => {
    const withProcess = new PromMetrics({ withProcess: true });
    expect(await readingOf(withProcess, 'process_resident_memory_bytes')).to.be.above(0);
  });

  it('show the delay of the event loop since the last scrape', async () => {
    const beganMs = performance.now();
    const watch = new ProcessWatch(metrics.registry);
    try {
      await turn();
      const late = await eventually(async () => {
        const until = performance.now() + 60;
        while (performance.now() < until) Math.sqrt(until);
        await turn();
        const seconds = await readingOf(metrics, 'millrace_event_loop_delay_seconds{stat="max"}');
        expect(seconds).to.be.above(0.03);
        return seconds;
      });
      expect(late).to.be.below(secondsSince(beganMs));
    } finally {
      watch.close();
    }
  });

  it('show a long stall, although an idle loop is not sampled (PRW1)', async () => {
    const beganMs = performance.now();
    const watch = new ProcessWatch(metrics.registry);
    try {
      // Two measurements with an idle loop.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      // The check is late by the stall without the second between two checks, or by more.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1700);
      await eventually(async () => {
        const longest = await readingOf(metrics, 'millrace_event_loop_delay_seconds{stat="max"}');
        expect(longest).to.be.within(0.5, secondsSince(beganMs));
      });
    } finally {
      watch.close();
    }
  });

  it('show garbage collections separately', async () => {
    const watch = new ProcessWatch(metrics.registry);
    try {
      let garbage: unknown[] = [];
      await eventually(async () => {
        for (let round = 0; round < 100; round += 1) garbage = Array.from({ length: 10_000 }, (_, at) => ({ at }));
        await turn();
        expect(await readingOf(metrics, 'millrace_gc_seconds_total')).to.be.above(0);
      });
      expect(garbage).to.have.length(10_000);
    } finally {
      watch.close();
    }
  });
});
