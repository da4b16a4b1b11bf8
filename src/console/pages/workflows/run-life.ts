/**
 * The life of messages in spans of time, from their events: queued, executing, in back-off after a failed attempt, or idle
 * (asleep, or waiting for an event or another run). Pure: the current time is an argument.
 */
import type { RunEvent } from './records.js';

export type SpanKind = 'queued' | 'executing' | 'backoff' | 'idle';
/** An interrupted attempt has no known outcome: its process ended, or the run was cancelled. */
export type Outcome = 'delivered' | 'failed' | 'running' | 'interrupted';

export interface Span {
  readonly kind: SpanKind;
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the attempt, for `executing`. */
  readonly outcome?: Outcome;
}

export interface StepAttempt {
  readonly fromMs: number;
  /** Undefined: it is running. */
  readonly toMs: number | undefined;
  readonly outcome: Outcome;
  /** Empty without a failure. */
  readonly error: string;
  /** 0: no answer. */
  readonly status: number;
  readonly body: string;
}

export interface Life {
  readonly spans: readonly Span[];
  readonly attempts: readonly StepAttempt[];
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Wait {
  readonly kind: 'idle' | 'backoff';
  readonly fromMs: number;
  /** From here on the message is queued. */
  readonly untilMs: number;
}

/** @param events  of one message, the earliest first */
export function lifeOf(events: readonly RunEvent[], nowMs: number): Life {
  const spans: Span[] = [];
  const attempts: StepAttempt[] = [];
  let wait: Wait | undefined;
  let beganMs: number | undefined;
  const endWait = (atMs: number) => {
    if (wait === undefined) return;
    const { kind, fromMs, untilMs } = wait;
    const turnMs = Math.min(Math.max(untilMs, fromMs), atMs);
    if (turnMs > fromMs) spans.push({ kind, fromMs, toMs: turnMs });
    if (atMs > turnMs) spans.push({ kind: 'queued', fromMs: turnMs, toMs: atMs });
    wait = undefined;
  };
  const endAttempt = (atMs: number, outcome: Outcome, event?: RunEvent) => {
    if (beganMs === undefined) return;
    const fromMs = beganMs;
    beganMs = undefined;
    spans.push({ kind: 'executing', fromMs, toMs: atMs, outcome });
    const { error = '', responseStatus: status = 0, responseBody: body = '' } = event ?? {};
    attempts.push({ fromMs, toMs: outcome === 'running' ? undefined : atMs, outcome, error, status, body });
  };
  for (const event of events) {
    const { time, state, nextDeliveryTime } = event;
    switch (state) {
      case 'CREATED':
        wait = { kind: 'idle', fromMs: time, untilMs: nextDeliveryTime ?? time };
        break;
      case 'ACTIVE':
        endWait(time);
        endAttempt(time, 'interrupted');
        beganMs = time;
        break;
      case 'ERROR':
        endAttempt(time, 'failed', event);
        break;
      case 'RETRY':
        wait = { kind: 'backoff', fromMs: time, untilMs: nextDeliveryTime ?? time };
        break;
      case 'DELIVERED':
      case 'FAILED':
      case 'CANCELED':
        endWait(time);
        endAttempt(time, state === 'DELIVERED' ? 'delivered' : state === 'FAILED' ? 'failed' : 'interrupted');
        break;
      default:
        break;
    }
  }
  endWait(nowMs);
  endAttempt(nowMs, 'running');
  return { spans, attempts };
}

/** Where spans of several messages overlap, the higher one is shown. */
const RANKS: Readonly<Record<SpanKind, number>> = { executing: 3, backoff: 2, queued: 1, idle: 0 };

/**
 * The period as spans without gaps or overlaps.
 * @param gap  the kind of times without any span
 */
export function painted(spans: readonly Span[], { fromMs, toMs }: TimeSpan, gap: SpanKind): readonly Span[] {
  const inside = spans.filter((span) => span.toMs > fromMs && span.fromMs < toMs);
  const edges = [fromMs, toMs, ...inside.flatMap((span) => [span.fromMs, span.toMs])];
  const cuts = [...new Set(edges)].filter((ms) => ms >= fromMs && ms <= toMs).sort((a, b) => a - b);
  const shown: Span[] = [];
  for (const [at, end] of cuts.entries()) {
    const start = cuts[at - 1];
    if (start === undefined) continue;
    const top = inside
      .filter((span) => span.fromMs <= start && span.toMs >= end)
      .sort((a, b) => RANKS[b.kind] - RANKS[a.kind])[0];
    const last = shown.at(-1);
    const next: Span = { ...(top ?? { kind: gap }), fromMs: start, toMs: end };
    const isSame = last !== undefined && last.kind === next.kind && next.kind !== 'executing';
    if (isSame) shown[shown.length - 1] = { ...last, toMs: end };
    else shown.push(next);
  }
  return shown;
}

/** Attempts of the period; one that goes on after it ends with it. */
export function attemptsIn(attempts: readonly StepAttempt[], { fromMs, toMs }: TimeSpan): readonly StepAttempt[] {
  return attempts
    .filter(({ fromMs: began, toMs: ended = Number.POSITIVE_INFINITY }) => {
      const isInside = began >= fromMs && ended <= toMs;
      return isInside || (began < toMs && ended > fromMs);
    })
    .map((attempt) => (attempt.toMs === undefined ? attempt : { ...attempt, toMs: Math.min(attempt.toMs, toMs) }))
    .sort((a, b) => a.fromMs - b.fromMs);
}
