/**
 * Makes the calls of one activation: body, headers, signature, the call itself, and its outcome back into
 * the actor's mailbox.
 *
 *  PF1 each attempt ends in exactly one `RecordAttempt`, unless the activation ends before
 *  PF2 nothing is sent unsigned, and nothing is sent once the activation has ended
 *  PF3 an outcome is not lost because the mailbox is full: it is put in again
 *  PF4 nothing is sent while this owner cannot be sure to be one still: it may have been frozen, and have a successor
 */
import {
  type AccountFacts,
  type AttemptOutcome,
  type DeliveredHeaders,
  KEPT_RESPONSE_BYTES,
} from '../../domain/queue/index.js';
import { isBugOn } from '../../kernel/deliberate-bugs.js';
import { describeError, isMillraceError } from '../../kernel/index.js';
import type { CallOutcome, Clock, DeliverySigner, HttpOut, Log, Metrics, Timer, Timers } from '../../ports/index.js';
import type { AttemptPerformer } from './queue-plane.js';
import type { QueueSlot, StartedAttempt } from './queue-slot.js';
import { QueueWork } from './queue-work.js';

export interface PerformerPorts {
  readonly http: HttpOut;
  readonly signer: DeliverySigner;
  readonly headers: DeliveredHeaders;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  /** False while the owner's lease is in doubt; what is to be sent waits. */
  mayCall(): boolean;
  /** To the actor whose attempts these are. */
  submit(work: QueueWork): void;
}

/** About two milliseconds. */
const BEGUN_AT_ONCE = 64;
const FULL_MAILBOX_PAUSE_MS = 20;
/** Between two looks whether the lease is sound again. */
const LEASE_PAUSE_MS = 50;
/** Between two looks for a signing key, and for a journal that can be read again. */
const PAUSE_MS = 200;
/** A body that is unreadable although the journal answers: it may be a replica that lags. */
const BODY_TRIES = 5;
/** The same alarm again. */
const ALARM_EVERY_MS = 60_000;

interface Call {
  readonly slot: QueueSlot;
  readonly facts: AccountFacts;
  readonly attempt: StartedAttempt;
  pause: Timer | undefined;
}

export class Performer implements AttemptPerformer {
  readonly #calls = new Set<Call>();
  /** In the order of their entries. */
  readonly #toBegin: Call[] = [];
  /** Of all calls: they end together or not at all. */
  readonly #abort = new AbortController();
  #isEnded = false;
  #lastAlarmAtMs = Number.NEGATIVE_INFINITY;
  readonly #seconds;

  constructor(private readonly ports: PerformerPorts) {
    this.#seconds = ports.metrics.histogram('millrace_delivery_seconds');
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  perform(slot: QueueSlot, facts: AccountFacts, attempt: StartedAttempt): void {
    if (this.#isEnded) return;
    const call: Call = { slot, facts, attempt, pause: undefined };
    this.#calls.add(call);
    this.#toBegin.push(call);
    if (this.#toBegin.length === 1) this.ports.timers.soon(() => this.#beginSome());
  }

  /** An entry may bring hundreds of attempts: signing and sending them takes longer than others should wait. */
  #beginSome(): void {
    for (const call of this.#toBegin.splice(0, BEGUN_AT_ONCE)) this.#begin(call);
    if (this.#toBegin.length > 0) this.ports.timers.soon(() => this.#beginSome());
  }

  #begin(call: Call): void {
    if (this.#isEnded) return;
    const { slot, attempt } = call;
    const { number } = attempt.body;
    const body = number === 0 ? NOTHING : slot.bodies.get(number);
    if (body !== undefined) this.#send(call, body);
    else void this.#load(call, 1);
  }

  end(): void {
    if (isBugOn('calls-outlive-their-owner')) return;
    this.#isEnded = true;
    this.#abort.abort();
    for (const call of this.#calls) call.pause?.cancel();
    this.#calls.clear();
  }

  #again(call: Call, inMs: number, action: () => void): void {
    if (this.#isEnded) return;
    call.pause = this.ports.timers.after(inMs, action);
  }

  async #load(call: Call, tries: number): Promise<void> {
    const { slot, attempt } = call;
    try {
      const body = await slot.bodies.load(attempt.body.number);
      this.#send(call, body);
    } catch (error) {
      const isDown = isMillraceError(error, 'JOURNAL_UNAVAILABLE');
      const { id } = attempt;
      const fields = { partition: slot.name, id, body: attempt.body.number, cause: describeError(error) };
      if (isDown || tries < BODY_TRIES) {
        this.ports.log.warn('queue.body-not-loaded', fields);
        this.#again(call, PAUSE_MS, () => void this.#load(call, isDown ? tries : tries + 1));
        return;
      }
      this.ports.log.error('queue.body-lost', fields);
      const outcome = { kind: 'no-response', error: 'the body of the message cannot be read', durationMs: 0 } as const;
      this.#conclude(call, outcome, NOTHING);
    }
  }

  #send(call: Call, body: Uint8Array): void {
    if (this.#isEnded) return;
    if (!this.ports.mayCall()) {
      this.#again(call, LEASE_PAUSE_MS, () => this.#send(call, body));
      return;
    }
    const { slot, facts, attempt } = call;
    const { envelope, id, retried } = attempt;
    const { url, settings, isAlias } = envelope;
    const { clock, headers, http, signer } = this.ports;
    const signature = this.#signature(() =>
      signer.sign({ account: slot.account, url, body, nowMs: clock.nowMs(), isAlias }),
    );
    if (signature === undefined) {
      this.#again(call, PAUSE_MS, () => this.#send(call, body));
      return;
    }
    const { timeoutSeconds, maxMessageBytes } = facts.limits;
    const sentAtMs = clock.monotonicMs();
    void http
      .send({
        url,
        method: settings.method,
        headers: headers.of(envelope, { messageId: id, retried, signature }),
        body,
        timeoutMs: Math.min(timeoutSeconds, settings.timeoutSeconds ?? timeoutSeconds) * 1000,
        maxResponseBytes: hasCallback(attempt) ? Math.max(maxMessageBytes, KEPT_RESPONSE_BYTES) : KEPT_RESPONSE_BYTES,
        signal: this.#abort.signal,
      })
      .then((outcome) => {
        this.#seconds.observe((clock.monotonicMs() - sentAtMs) / 1000);
        this.#concludeCall(call, outcome, body);
      });
  }

  #signature(sign: () => string | undefined): string | undefined {
    try {
      return sign();
    } catch (error) {
      // The key was sealed with another key file, say: a person has to look, and the message waits for it.
      const nowMs = this.ports.clock.monotonicMs();
      if (nowMs - this.#lastAlarmAtMs >= ALARM_EVERY_MS) {
        this.#lastAlarmAtMs = nowMs;
        this.ports.log.error('queue.cannot-sign', { cause: describeError(error) });
      }
      return undefined;
    }
  }

  #concludeCall(call: Call, outcome: CallOutcome, body: Uint8Array): void {
    const { metrics } = this.ports;
    metrics.counter('millrace_deliveries_total', wordFor(outcome)).add();
    if (outcome.kind === 'interrupted') {
      // Only the end of the activation interrupts a call: whoever comes next makes it again.
      this.#calls.delete(call);
      return;
    }
    this.#conclude(call, outcome, body);
  }

  #conclude(call: Call, outcome: AttemptOutcome, body: Uint8Array): void {
    if (this.#isEnded) return;
    const { slot, attempt } = call;
    const { id, retried, restarts } = attempt;
    const sentBody = hasCallback(attempt) ? body : undefined;
    const command = { type: 'RecordAttempt', id, retried, restarts, outcome, sentBody } as const;
    const onReply = () => this.#calls.delete(call);
    const work = new QueueWork(slot.account, command, onReply, (error) => {
      if (isMillraceError(error, 'MAILBOX_FULL')) {
        this.#again(call, FULL_MAILBOX_PAUSE_MS, () => this.#conclude(call, outcome, body));
        return;
      }
      // The activation is over, or being handed over: the attempt is open, and its successor makes it again.
      this.#calls.delete(call);
    });
    this.ports.submit(work);
  }
}

const NOTHING = new Uint8Array(0);

/** Its callbacks tell of the response, and of what was sent. */
function hasCallback({ envelope }: StartedAttempt): boolean {
  const { callback, failureCallback } = envelope.settings;
  return callback !== undefined || failureCallback !== undefined;
}

function wordFor(outcome: CallOutcome): string {
  if (outcome.kind !== 'response') return outcome.kind;
  return outcome.status >= 200 && outcome.status < 300 ? 'delivered' : 'refused';
}
