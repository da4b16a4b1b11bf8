/** A trace as it is handed on: from a face to an owner, from a message to the call to its destination. */

/** As it travels in headers: W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** `server` and `consumer` answer somebody, `client` asks somebody else, `internal` is within. */
export type SpanKind = 'server' | 'client' | 'consumer' | 'internal';

/** Never what a tenant wrote: no key, body, token, path or query. Undefined: not known, and left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Something that takes time, within a trace. Nothing of it throws, and nothing waits. */
export interface Span {
  /** What others need to go on in it. */
  readonly headers: TraceHeaders;
  /** The trace was begun by whoever asked. */
  readonly isOfCaller: boolean;
  /** @param name of low cardinality. @returns undefined where the trace is not sampled */
  child(name: string, kind: SpanKind, attributes?: SpanAttributes): Span | undefined;
  set(attributes: SpanAttributes): void;
  /** An instant within it. */
  event(name: string): void;
  /** @param failure a word: an error's code, a status. @param name what it is called from now on */
  end(failure?: string, name?: string): void;
}
