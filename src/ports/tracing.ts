/**
 * Traces of what happens for a request. Where nobody collects them there is no such port, and who would use it finds
 * `undefined`. Promises every adapter keeps:
 *
 *  TR1 nothing throws or waits, and what is not collected yet is bounded: what is beyond is dropped and counted
 *  TR2 a caller's trace goes on, sampled or not as it came; what begins here is sampled by the ratio
 */
import type { Span, SpanAttributes, SpanKind, TraceHeaders } from '../messages/index.js';

export interface SpanBeginning {
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes | undefined;
  /** The caller's trace. What cannot be read counts as none. */
  readonly parent?: TraceHeaders | undefined;
  /** Where there is no parent: the same text is the same trace, everywhere and for ever. Left out: a new one. */
  readonly seed?: string | undefined;
  /** Of another trace, which this one comes from without being a part of it. */
  readonly link?: TraceHeaders | undefined;
}

export interface Tracing {
  /**
   * @param name of low cardinality
   * @returns undefined: not sampled. Of a caller that is not sampled a span that only hands its trace on
   */
  begin(name: string, beginning: SpanBeginning): Span | undefined;
}
