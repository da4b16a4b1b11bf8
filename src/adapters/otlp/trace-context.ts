/** Headers of W3C Trace Context ↔ the context of a span, by the package's own reader and writer. */
import { type Context, defaultTextMapGetter, defaultTextMapSetter, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { TraceHeaders } from '../../messages/index.js';
import { MAX_TRACESTATE_CHARACTERS } from './otlp-limits.js';

const propagator = new W3CTraceContextPropagator();

/** @returns undefined: it is none. What is said in the state of the trace alone may be lost. */
export function contextOf({ traceparent, tracestate }: TraceHeaders): Context | undefined {
  const isShort = tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_CHARACTERS;
  const carrier = isShort ? { traceparent, tracestate } : { traceparent };
  const context = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  return trace.getSpanContext(context) === undefined ? undefined : context;
}

export function headersOf(context: Context): TraceHeaders {
  const carrier: { traceparent: string; tracestate?: string } = { traceparent: '' };
  propagator.inject(context, carrier, defaultTextMapSetter);
  return carrier;
}
