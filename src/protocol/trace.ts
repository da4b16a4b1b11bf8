/** A trace as it is passed on: from an endpoint to an owner, from a message to the call to its destination. */

/** The header form: W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** `server` and `consumer` answer a caller, `client` calls, `internal` is within. */
export type SpanKind = 'server' | 'client' | 'consumer' | 'internal';

/** Never data of a tenant: no key, body, token, path or query. Undefined: unknown, and omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work with a duration, within a trace. Its methods never throw or wait. */
export interface Span {
  /** The headers with which others continue the trace. */
  readonly headers: TraceHeaders;
  /** True when the caller began the trace. */
  readonly isOfCaller: boolean;
  /** @param name  with few different values. @returns undefined when the trace is not sampled */
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): Span | undefined;
  set(attributes: SpanAttributes): void;
  /** An instant within it. */
  event(name: string): void;
  /** @param failure  one word: an error's code or a status. @param name  replaces the span's name */
  end(failure?: string, name?: string): void;
}
