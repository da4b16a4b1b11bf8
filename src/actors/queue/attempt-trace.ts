/**
 * The spans of an attempt: one from its permission to start until its outcome is stored, and in it one for the call,
 * which is announced to the destination.
 *
 *  ATR1 an attempt belongs to the trace in its message's headers; without one, in a run, to the trace of the message
 *       that triggered the run
 *  ATR2 a scheduled message has a separate trace for all its attempts or its run, with a link to the trace in which
 *       the schedule was created
 *  ATR3 a message without a trace does not start one at its delivery: the sampling decision was made at its
 *       publication
 */
import { type Envelope, type HeaderList, isOfTrace } from '../../domain/queue/index.js';
import { readUrl } from '../../kernel/index.js';
import type { CallOutcome, SpanBeginning, Tracing } from '../../ports/index.js';
import type { Span, TraceHeaders } from '../../protocol/index.js';
import type { StartedAttempt } from './account-queue.js';
import type { QueueWork } from './queue-work.js';

const PARENT = 'Traceparent';
const STATE = 'Tracestate';
const CLIENT_ERROR = 400;

export class AttemptTrace {
  #call: Span | undefined;

  private constructor(
    private readonly url: string,
    /** Undefined for a scheduled message that is not sampled. */
    private readonly span: Span | undefined,
  ) {}

  /** @returns undefined when the message's trace headers are passed on unchanged */
  static begin(tracing: Tracing, attempt: StartedAttempt): AttemptTrace | undefined {
    const origin = originOf(attempt);
    if (origin === undefined) return undefined;
    const { id, retried, run, envelope } = attempt;
    const span = tracing.begin('deliver', {
      kind: 'consumer',
      ...origin,
      attributes: {
        'messaging.system': 'millrace',
        'messaging.operation.name': 'deliver',
        'messaging.operation.type': 'process',
        'messaging.message.id': id,
        'millrace.message.retried': retried,
        'millrace.run.id': run?.part.runId,
      },
    });
    if (span === undefined && origin.seed === undefined) return undefined;
    return new AttemptTrace(envelope.url, span);
  }

  /** Called before the call is made. @returns its headers */
  sending(method: string, header: HeaderList, retried: number): HeaderList {
    const target = readUrl(this.url);
    this.#call = this.span?.child(method, 'client', {
      'http.request.method': method,
      'http.request.resend_count': retried === 0 ? undefined : retried,
      'server.address': target?.hostname,
      'server.port': portOf(target),
      'url.scheme': target?.protocol.slice(0, -1),
    });
    const others = header.filter(([name]) => !isOfTrace([canonical(name), '']));
    if (this.#call === undefined) return this.span === undefined ? others : header;
    const { traceparent, tracestate } = this.#call.headers;
    const state = tracestate === undefined ? [] : [[STATE, tracestate] as const];
    return [...others, [PARENT, traceparent], ...state];
  }

  answered(outcome: CallOutcome): void {
    if (outcome.kind !== 'response') {
      this.#call?.end(outcome.kind);
      return;
    }
    const { status } = outcome;
    this.#call?.set({ 'http.response.status_code': status });
    this.#call?.end(status >= CLIENT_ERROR ? String(status) : undefined);
  }

  /** Stores the outcome within this trace. */
  around(work: QueueWork): void {
    if (this.span !== undefined) work.traceWithin(this.span);
  }

  end(): void {
    this.span?.end();
  }
}

/** Finds the trace of an attempt (ATR1 to ATR3). */
function originOf({ id, envelope, run }: StartedAttempt): Pick<SpanBeginning, 'parent' | 'seed' | 'link'> | undefined {
  const own = traceIn(envelope);
  const trigger = run?.trigger;
  const ofTrigger = trigger === undefined ? undefined : traceIn(trigger);
  const ofSchedule = trigger?.scheduleId === undefined ? undefined : ofTrigger;
  const isScheduled = envelope.scheduleId !== undefined || trigger?.scheduleId !== undefined;
  const isOwn = own !== undefined && envelope.scheduleId === undefined && own.traceparent !== ofSchedule?.traceparent;
  if (isOwn) return { parent: own };
  if (isScheduled) return { seed: run?.part.runId ?? id, link: own ?? ofTrigger };
  return ofTrigger === undefined ? undefined : { parent: ofTrigger };
}

function traceIn({ settings: { header } }: Envelope): TraceHeaders | undefined {
  let traceparent: string | undefined;
  let tracestate: string | undefined;
  for (const [name, value] of header) {
    if (name === PARENT) traceparent = value;
    else if (name === STATE) tracestate = value;
  }
  return traceparent === undefined ? undefined : { traceparent, tracestate };
}

function canonical(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

function portOf(target: URL | undefined): number | undefined {
  if (target === undefined) return undefined;
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}
