/**
 * Exports finished spans to the collector, through a bounded queue, in batches and without delaying other work.
 *
 *  SX1 waiting spans are bounded, including the batch in transit; further ones are dropped and counted
 *  SX2 the spans of a failed batch are counted as dropped, and this is logged once until a batch succeeds
 */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import { describeError } from '../../kernel/index.js';
import type { Counter, Log, Metrics } from '../../ports/index.js';

export interface SpanExportPorts {
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface SpanExportOptions {
  readonly maxWaiting: number;
  readonly batch: number;
  /** Time between two batches that are not full. */
  readonly everyMs: number;
  /** The timeout of a batch. */
  readonly timeoutMs: number;
}

export class SpanExport implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #exported: Counter;
  readonly #beyond: Counter;
  readonly #notTaken: Counter;
  #waiting = 0;
  /** Spans lost since the collector was reached last; undefined: it is reachable. */
  #lost: number | undefined;

  constructor(
    private readonly collector: SpanExporter,
    private readonly ports: SpanExportPorts,
    private readonly options: SpanExportOptions,
  ) {
    const { metrics } = ports;
    const { maxWaiting, batch, everyMs, timeoutMs } = options;
    this.#exported = metrics.counter('millrace_trace_spans_exported_total');
    this.#beyond = metrics.counter('millrace_trace_spans_dropped_total', 'queue-full');
    this.#notTaken = metrics.counter('millrace_trace_spans_dropped_total', 'not-taken');
    this.#batches = new BatchSpanProcessor({
      exporter: { export: (spans, done) => this.#export(spans, done), shutdown: () => collector.shutdown() },
      maxQueueSize: maxWaiting,
      maxExportBatchSize: batch,
      scheduledDelayMillis: everyMs,
      exportTimeoutMillis: timeoutMs,
    });
  }

  onStart(): void {}

  /** Queues a span, or drops it above the bound (SX1). */
  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= this.options.maxWaiting) {
      this.#beyond.add();
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  #export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.collector.export(spans, (result) => {
      this.#waiting -= spans.length;
      if (result.code === ExportResultCode.SUCCESS) this.#taken(spans.length);
      else this.#refused(spans.length, result.error);
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #taken(spans: number): void {
    this.#exported.add(spans);
    if (this.#lost === undefined) return;
    this.ports.log.info('traces.exported-again', { lost: this.#lost });
    this.#lost = undefined;
  }

  /** Counts and logs a failed batch (SX2). */
  #refused(spans: number, error: unknown): void {
    this.#notTaken.add(spans);
    if (this.#lost === undefined) this.ports.log.warn('traces.not-exported', { cause: describeError(error) });
    this.#lost = (this.#lost ?? 0) + spans;
  }
}
