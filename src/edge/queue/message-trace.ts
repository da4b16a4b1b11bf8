/**
 * The trace of a call on its way into what the call publishes: as headers that the message carries to its destination, so
 * that whoever delivers it, whenever and wherever, goes on in the trace.
 *
 *  MTR1 a trace that the caller gives its message by name is left as it is
 *  MTR2 what a run sends in its own course is of the run's trace: that of the call counts only where the endpoint brought it
 */
import type { RawSettings } from '../../domain/queue/index.js';
import type { Span } from '../../messages/index.js';

const FORWARDED_PARENT = 'svc-forward-traceparent';
const FORWARDED_STATE = 'svc-forward-tracestate';

/** @param isOfRun it is sent by an endpoint in the middle of a run */
export function withTrace(raw: RawSettings, trace: Span | undefined, isOfRun = false): RawSettings {
  if (trace === undefined || (isOfRun && !trace.isOfCaller)) return raw;
  const { headers, query } = raw;
  if ([...headers, ...query].some(([name]) => name === FORWARDED_PARENT)) return raw; // MTR1
  const { traceparent, tracestate } = trace.headers;
  const state = tracestate === undefined ? [] : [[FORWARDED_STATE, tracestate] as const];
  return { headers: [...headers, [FORWARDED_PARENT, traceparent], ...state], query };
}
