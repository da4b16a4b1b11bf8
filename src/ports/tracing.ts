/**
 * Traces of requests. Without a collector the port is `undefined`. Promises of every adapter:
 *
 *  TR1 no call throws or waits, and uncollected spans are bounded: further ones are dropped and counted
 *  TR2 a caller's trace continues with its sampling decision; a trace that begins here is sampled by the ratio
 */
import type { Span, SpanAttributes, SpanKind, TraceHeaders } from '../protocol/index.js';

export interface SpanBeginning {
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes | undefined;
  /** The caller's trace. An unreadable one counts as none. */
  readonly parent?: TraceHeaders | undefined;
  /** Without a parent: the same text gives the same trace, in every process and for ever. Undefined: a new one. */
  readonly seed?: string | undefined;
  /** Another trace from which this one originates without being a part of it. */
  readonly link?: TraceHeaders | undefined;
}

export interface Tracing {
  /**
   * @param name  with few different values
   * @returns undefined: not sampled. For an unsampled caller it is a span that only passes its trace on
   */
  begin(name: string, beginning: SpanBeginning): Span | undefined;
}
