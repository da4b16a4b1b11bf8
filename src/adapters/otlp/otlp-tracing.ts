/**
 * The tracing port on OpenTelemetry's packages, without global state and asynchronous context: spans are passed
 * explicitly.
 *
 *  OT1 an unsampled trace costs a random number and a comparison; ids are made for sampled ones only
 *  OT2 a trace with a seed is the same in every process, and sampled in all of them or in none
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Link,
  SpanKind as OtelKind,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SamplingDecision,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import {
  ATTR_ERROR_TYPE,
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from '@opentelemetry/semantic-conventions';
import type { SpanBeginning, Timers, Tracing } from '../../ports/index.js';
import type { Span, SpanAttributes, SpanKind, TraceHeaders } from '../../protocol/index.js';
import {
  EXPORT_EVERY_MS,
  EXPORT_TIMEOUT_MS,
  LAST_FLUSH_MS,
  MAX_BATCH_SPANS,
  MAX_TRACESTATE_CHARACTERS,
  MAX_WAITING_SPANS,
} from './otlp-limits.js';
import { SpanExport, type SpanExportPorts } from './span-export.js';

const propagator = new W3CTraceContextPropagator();

interface OtlpTracingOptions {
  /** The collector's base URL. */
  readonly endpoint: string;
  /** Headers of the requests to the collector. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sampled share of traces that begin here: 0 to 1. */
  readonly ratio: number;
  readonly version: string;
}

const TRACES_PATH = '/v1/traces';
const TRACE_ID_BYTES = 16;

const KINDS: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #ids = new GivenIds();
  readonly #ratio: TraceIdRatioBasedSampler;

  constructor(
    private readonly ports: SpanExportPorts & { readonly timers: Timers },
    private readonly options: OtlpTracingOptions,
  ) {
    const { endpoint, headers, ratio, version } = options;
    const collector = new OTLPTraceExporter({
      url: endpoint + TRACES_PATH,
      headers,
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const waiting = { maxWaiting: MAX_WAITING_SPANS, batch: MAX_BATCH_SPANS };
    const times = { everyMs: EXPORT_EVERY_MS, timeoutMs: EXPORT_TIMEOUT_MS };
    this.#ratio = new TraceIdRatioBasedSampler(ratio);
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        [ATTR_SERVICE_NAME]: 'millrace',
        [ATTR_SERVICE_VERSION]: version,
        [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
      }),
      // Sampling was decided before.
      sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
      idGenerator: this.#ids,
      spanProcessors: [new SpanExport(collector, ports, { ...waiting, ...times })],
    });
    this.#tracer = this.#provider.getTracer('millrace', version);
  }

  begin(name: string, { kind, attributes, parent, seed, link }: SpanBeginning): Span | undefined {
    const given = parent === undefined ? undefined : contextOf(parent);
    if (given !== undefined) {
      const isSampled = ((trace.getSpanContext(given)?.traceFlags ?? 0) & TraceFlags.SAMPLED) !== 0;
      if (!isSampled) return new HandedOn(headersOf(given));
      return new Recorded(this.#tracer, this.#tracer.startSpan(name, optionsOf(kind, attributes), given), true);
    }
    if (seed === undefined) {
      if (Math.random() >= this.options.ratio) return undefined; // no id for an unsampled trace (OT1)
    } else {
      const traceId = traceIdOf(seed);
      if (!this.#isSampled(traceId)) return undefined; // the same decision in every process (OT2)
      this.#ids.next = traceId;
    }
    const options = { ...optionsOf(kind, attributes), links: linksTo(link) };
    return new Recorded(this.#tracer, this.#tracer.startSpan(name, options, ROOT_CONTEXT), false);
  }

  #isSampled(traceId: string): boolean {
    return this.#ratio.shouldSample(ROOT_CONTEXT, traceId).decision !== SamplingDecision.NOT_RECORD;
  }

  /** Sends the waiting spans while there is time. */
  async close(): Promise<void> {
    const { timers } = this.ports;
    const late = new AbortController();
    const isSent = this.#provider.shutdown().then(
      () => late.abort(),
      () => late.abort(),
    );
    await Promise.race([isSent, timers.pause(LAST_FLUSH_MS, late.signal)]);
  }
}

/** Random ids, except for the trace that was decided just before. */
class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: string | undefined;

  generateTraceId(): string {
    const id = this.next ?? this.#random.generateTraceId();
    this.next = undefined;
    return id;
  }

  generateSpanId(): string {
    return this.#random.generateSpanId();
  }
}

class Recorded implements Span {
  #headers: TraceHeaders | undefined;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: OtelSpan,
    readonly isOfCaller: boolean,
  ) {}

  get headers(): TraceHeaders {
    this.#headers ??= headersOf(trace.setSpan(ROOT_CONTEXT, this.span));
    return this.#headers;
  }

  child(name: string, kind: SpanKind, attributes?: SpanAttributes): Span {
    const within = trace.setSpan(ROOT_CONTEXT, this.span);
    return new Recorded(this.tracer, this.tracer.startSpan(name, optionsOf(kind, attributes), within), this.isOfCaller);
  }

  set(attributes: SpanAttributes): void {
    this.span.setAttributes(attributes as Attributes);
  }

  event(name: string): void {
    this.span.addEvent(name);
  }

  end(failure?: string, name?: string): void {
    if (name !== undefined) this.span.updateName(name);
    if (failure !== undefined) {
      this.span.setAttribute(ATTR_ERROR_TYPE, failure);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** The trace of an unsampled caller, which is only passed on. */
class HandedOn implements Span {
  readonly isOfCaller = true;

  constructor(readonly headers: TraceHeaders) {}

  child(): undefined {
    return undefined;
  }

  set(): void {}

  event(): void {}

  end(): void {}
}

function optionsOf(kind: SpanKind, attributes: SpanAttributes | undefined) {
  return { kind: KINDS[kind], attributes: attributes as Attributes };
}

function linksTo(link: TraceHeaders | undefined): Link[] {
  const context = link === undefined ? undefined : contextOf(link);
  const linked = context === undefined ? undefined : trace.getSpanContext(context);
  return linked === undefined ? [] : [{ context: linked }];
}

/** The same id for the same seed (OT2). */
function traceIdOf(seed: string): string {
  return createHash('sha256')
    .update(seed)
    .digest('hex')
    .slice(0, 2 * TRACE_ID_BYTES);
}

/** @returns undefined for an invalid header. A too long trace state is dropped. */
function contextOf({ traceparent, tracestate }: TraceHeaders): Context | undefined {
  const isShort = tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_CHARACTERS;
  const carrier = isShort ? { traceparent, tracestate } : { traceparent };
  const context = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  return trace.getSpanContext(context) === undefined ? undefined : context;
}

/** Converts between W3C Trace Context headers and a span's context, with the package's parser. */
function headersOf(context: Context): TraceHeaders {
  const carrier: { traceparent: string; tracestate?: string } = { traceparent: '' };
  propagator.inject(context, carrier, defaultTextMapSetter);
  return carrier;
}
