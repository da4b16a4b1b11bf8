/**
 * The port of traces on OpenTelemetry's packages. Nothing is told through global state, and nothing travels by
 * asynchronous context: whoever goes on in a trace has been given its span.
 *
 *  OT1 what is not sampled costs a random number and a comparison: an id is made for what is
 *  OT2 a trace that is begun for a seed is the same in every process, and sampled in all of them or in none
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  type Attributes,
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
import type { Span, SpanAttributes, SpanKind, TraceHeaders } from '../../messages/index.js';
import type { SpanBeginning, Timers, Tracing } from '../../ports/index.js';
import {
  EXPORT_EVERY_MS,
  EXPORT_TIMEOUT_MS,
  LAST_FLUSH_MS,
  MAX_BATCH_SPANS,
  MAX_WAITING_SPANS,
} from './otlp-limits.js';
import { SpanExport, type SpanExportPorts } from './span-export.js';
import { contextOf, headersOf } from './trace-context.js';

interface OtlpTracingOptions {
  /** The collector's base URL. */
  readonly endpoint: string;
  /** What it is sent beside the spans. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of what begins here, the share that is traced: 0 to 1. */
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
      // What begins here has been decided on by then.
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
      if (Math.random() >= this.options.ratio) return undefined; // OT1
    } else {
      const traceId = traceIdOf(seed);
      if (!this.#isSampled(traceId)) return undefined; // OT2
      this.#ids.next = traceId;
    }
    const options = { ...optionsOf(kind, attributes), links: linksTo(link) };
    return new Recorded(this.#tracer, this.#tracer.startSpan(name, options, ROOT_CONTEXT), false);
  }

  #isSampled(traceId: string): boolean {
    return this.#ratio.shouldSample(ROOT_CONTEXT, traceId).decision !== SamplingDecision.NOT_RECORD;
  }

  /** Sends what waits, for as long as there is time. */
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

/** Ids of the package's own making, but for the trace that was decided on just before. */
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

/** The trace of a caller that is not sampled. */
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

/** OT2 */
function traceIdOf(seed: string): string {
  return createHash('sha256')
    .update(seed)
    .digest('hex')
    .slice(0, 2 * TRACE_ID_BYTES);
}
