/**
 * Adds the trace of a call to the messages that it publishes, as headers that are sent to the destination. Every
 * delivery then continues the trace.
 *
 *  MTR1 a trace that the caller sets on the message itself is kept
 *  MTR2 messages of a running workflow belong to the run's trace; the call's trace counts only if the endpoint sent
 *       it
 */
import type { RawSettings } from '../../domain/queue/index.js';
import type { Span } from '../../protocol/index.js';

const FORWARDED_PARENT = 'svc-forward-traceparent';
const FORWARDED_STATE = 'svc-forward-tracestate';

/** @param isOfRun sent by an endpoint in the middle of a run */
export function withTrace(raw: RawSettings, trace: Span | undefined, isOfRun = false): RawSettings {
  if (trace === undefined || (isOfRun && !trace.isOfCaller)) return raw;
  const { headers, query } = raw;
  //  MTR1 (the caller's own trace is kept)
  if ([...headers, ...query].some(([name]) => name === FORWARDED_PARENT)) return raw;
  const { traceparent, tracestate } = trace.headers;
  const state = tracestate === undefined ? [] : [[FORWARDED_STATE, tracestate] as const];
  return { headers: [...headers, [FORWARDED_PARENT, traceparent], ...state], query };
}
