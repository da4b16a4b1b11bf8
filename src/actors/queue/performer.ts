/**
 * Makes the calls of one activation: body, headers, signature and call, and puts the outcome into the actor's mailbox.
 * `sent-body` makes the bodies of a run's messages.
 *
 *  PF1 each attempt ends in exactly one `RecordAttempt`, unless the activation ends before
 *  PF2 no call is unsigned, and none is made after its activation or its run has ended
 *  PF3 an outcome is not lost because the mailbox is full: it is submitted again
 *  PF4 no call is made while this owner's lease is in doubt: it may have been frozen and have a successor. Calls that
 *      waited for a place or a connection are checked again before they are sent
 */
import {
  type AccountTerms,
  type AttemptOutcome,
  type DeliveredHeaders,
  type HeaderList,
  isSigning,
  KEPT_RESPONSE_BYTES,
} from '../../domain/queue/index.js';
import { describeError, type Gathered, Gathering, isMillraceError } from '../../kernel/index.js';
import type {
  CallOutcome,
  Clock,
  DeliverySigner,
  HttpOut,
  Log,
  Metrics,
  Timer,
  Timers,
  Tracing,
  WebhookSigner,
} from '../../ports/index.js';
import type { AccountQueue, StartedAttempt } from './account-queue.js';
import { AttemptTrace } from './attempt-trace.js';
import { type ListLimits, ListMemory } from './list-memory.js';
import type { AttemptPerformer } from './queue-plane.js';
import { QueueWork } from './queue-work.js';
import {
  type BodyPlan,
  hashed,
  isSentWithoutBody,
  keptContents,
  loadedContents,
  MAX_SENT_LIST_BYTES,
  planOf,
  putTogether,
  type SentBody,
  tellsOfAnswer,
  tellsOfSent,
} from './sent-body.js';
import { SentLists } from './sent-lists.js';

export interface PerformerPorts {
  readonly http: Pick<HttpOut, 'send'>;
  readonly signer: DeliverySigner;
  /** Signs deliveries to endpoints of applications. */
  readonly webhooks: WebhookSigner;
  readonly headers: DeliveredHeaders;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined: calls are not traced. */
  readonly tracing?: Tracing | undefined;
  /** False while the owner's lease is in doubt; calls then wait. */
  mayCall(): boolean;
  /** Sends to the actor that owns these attempts. */
  submit(work: QueueWork): void;
}

/** Either bound takes about two milliseconds. */
const BEGUN_AT_ONCE = 64;
const BEGUN_BYTES_AT_ONCE = 512 * 1024;
const FULL_MAILBOX_PAUSE_MS = 20;
/** Time between two checks whether the lease is valid again. */
const LEASE_PAUSE_MS = 50;
/** Time between two checks for memory for a long list. */
const ROOM_PAUSE_MS = 50;
/** Time between two checks for a signing key, and for a readable journal. */
const PAUSE_MS = 200;
/** A body may be unreadable although the journal answers, because a replica is late. */
const BODY_TRIES = 5;
const NOTHING_SENT: SentBody = { body: new Uint8Array(0), hash: undefined };
/** Time until the same alarm is repeated. */
const ALARM_EVERY_MS = 60_000;

/** The outcome of a call that was made. */
type MadeOutcome = Exclude<CallOutcome, { kind: 'held-back' }>;

interface Call extends Gathered {
  readonly queue: AccountQueue;
  readonly terms: AccountTerms;
  readonly attempt: StartedAttempt;
  readonly plan: BodyPlan;
  /** The memory reserved for its list; `awaited`: the list cannot be fetched and waits for memory. */
  room: 'none' | 'held' | 'awaited' | 'held-long';
  pause: Timer | undefined;
  /** Undefined: it is not traced. */
  readonly trace: AttemptTrace | undefined;
}

export class Performer implements AttemptPerformer {
  readonly #calls = new Gathering<Call>();
  /** In the order of their entries. */
  readonly #toBegin: Call[] = [];
  /** All calls of an activation are aborted together. */
  readonly #abort = new AbortController();
  readonly #maySend = () => this.ports.mayCall();
  #isEnded = false;
  #lastAlarmAtMs = Number.NEGATIVE_INFINITY;
  readonly #lists: ListMemory;
  readonly #sentLists = new SentLists();
  readonly #seconds;
  readonly #retries;

  constructor(
    private readonly ports: PerformerPorts,
    lists?: ListLimits,
  ) {
    this.#lists = new ListMemory(lists);
    this.#retries = ports.metrics.counter('millrace_deliveries_retried_total');
    this.#seconds = ports.metrics.histogram('millrace_delivery_seconds');
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  perform(queue: AccountQueue, terms: AccountTerms, attempt: StartedAttempt): void {
    if (this.#isEnded) return;
    const { maxBytes } = this.#lists;
    const plan = planOf(attempt, maxBytes, this.#sentLists);
    const room = plan.kind !== 'list' ? 'none' : plan.bytes > maxBytes ? 'awaited' : 'held';
    if (room === 'held') this.#lists.take(plan.bytes);
    const { tracing } = this.ports;
    const trace = tracing === undefined ? undefined : AttemptTrace.begin(tracing, attempt);
    const call: Call = { queue, terms, attempt, plan, room, pause: undefined, trace, place: -1 };
    this.#calls.add(call);
    this.#toBegin.push(call);
    if (this.#toBegin.length === 1) this.ports.timers.soon(() => this.#beginSome());
  }

  /** An entry may bring hundreds of attempts, and signing and sending them takes longer than other work should wait. */
  #beginSome(): void {
    let bytes = 0;
    let count = 0;
    while (count < this.#toBegin.length && count < BEGUN_AT_ONCE && bytes < BEGUN_BYTES_AT_ONCE) {
      bytes += (this.#toBegin[count] as Call).plan.bytes;
      count += 1;
    }
    for (const call of this.#toBegin.splice(0, count)) this.#begin(call);
    if (this.#toBegin.length > 0) this.ports.timers.soon(() => this.#beginSome());
  }

  #begin(call: Call): void {
    if (this.#isEnded) return;
    const { queue, plan } = call;
    if (plan.kind === 'too-long') {
      this.#conclude(call, notSent(`the run's entries are longer than ${MAX_SENT_LIST_BYTES} bytes`), undefined);
      return;
    }
    if (call.room === 'awaited' && !this.#takeRoom(call)) {
      this.#again(call, ROOM_PAUSE_MS, () => this.#begin(call));
      return;
    }
    const contents = keptContents(plan.refs, queue.bodies);
    if (contents === undefined) void this.#load(call, 1);
    else this.#putTogether(call, hashed(putTogether(plan, contents, this.#sentLists)));
  }

  end(): void {
    this.#isEnded = true;
    this.#abort.abort();
    for (const call of this.#calls.all()) call.pause?.cancel();
    this.#calls.clear();
  }

  #forget(call: Call): void {
    if (!this.#calls.delete(call)) return;
    call.trace?.end();
    if (call.room === 'held') this.#lists.giveBack(call.plan.bytes);
    else if (call.room === 'held-long') this.#lists.giveBackLong(call.plan.bytes);
  }

  #takeRoom(call: Call): boolean {
    if (!this.#lists.takeLong(call.plan.bytes)) return false;
    call.room = 'held-long';
    return true;
  }

  #again(call: Call, inMs: number, action: () => void): void {
    if (this.#isEnded) return;
    call.pause = this.ports.timers.after(inMs, action);
  }

  async #load(call: Call, tries: number): Promise<void> {
    const contents = await this.#contents(call, tries);
    if (contents !== undefined) this.#putTogether(call, hashed(putTogether(call.plan, contents, this.#sentLists)));
  }

  /** Undefined: they are not there, and a retry or an outcome is arranged. */
  async #contents(call: Call, tries: number): Promise<readonly Uint8Array[] | undefined> {
    const { queue, attempt, plan } = call;
    try {
      return await loadedContents(plan.refs, queue.bodies);
    } catch (error) {
      const isDown = isMillraceError(error, 'JOURNAL_UNAVAILABLE');
      const { id } = attempt;
      const fields = { partition: queue.name, id, body: attempt.body.number, cause: describeError(error) };
      if (isOver(call)) {
        this.#conclude(call, notSent('the run is over'), undefined);
      } else if (isDown || tries < BODY_TRIES) {
        this.ports.log.warn('queue.body-not-loaded', fields);
        this.#again(call, PAUSE_MS, () => void this.#load(call, isDown ? tries : tries + 1));
      } else {
        this.ports.log.error('queue.body-lost', fields);
        this.#conclude(call, notSent('the body of the message cannot be read'), undefined);
      }
      return undefined;
    }
  }

  #putTogether(call: Call, steps: Iterator<void, SentBody>): void {
    if (this.#isEnded) return;
    const step = steps.next();
    if (step.done === true) this.#send(call, step.value);
    else this.ports.timers.soon(() => this.#putTogether(call, steps));
  }

  #send(call: Call, sent: SentBody): void {
    if (this.#isEnded) return;
    const refusal = reasonNotToSend(call);
    if (refusal !== undefined) {
      this.#conclude(call, notSent(refusal), undefined);
      return;
    }
    if (!this.ports.mayCall()) {
      this.#again(call, LEASE_PAUSE_MS, () => this.#send(call, sent));
      return;
    }
    const { queue, terms, attempt } = call;
    const signed = isSentWithoutBody(attempt) ? NOTHING_SENT : sent;
    const { body } = signed;
    const { envelope, retried } = attempt;
    const { url, settings } = envelope;
    const { clock, http } = this.ports;
    const header = envelope.webhook === undefined ? this.#header(call, signed) : this.#webhookHeader(call, body);
    if (header === undefined) {
      this.#again(call, PAUSE_MS, () => this.#send(call, sent));
      return;
    }
    const { timeoutSeconds, maxMessageBytes } = terms.limits;
    const sentAtMs = clock.monotonicMs();
    const sentBody = tellsOfSent(attempt) ? sent.body : undefined;
    void http
      .send({
        url,
        tenant: queue.account,
        method: settings.method,
        headers: call.trace === undefined ? header : call.trace.sending(settings.method, header, retried),
        body,
        timeoutMs: Math.min(timeoutSeconds, settings.timeoutSeconds ?? timeoutSeconds) * 1000,
        maxResponseBytes: tellsOfAnswer(attempt) ? Math.max(maxMessageBytes, KEPT_RESPONSE_BYTES) : KEPT_RESPONSE_BYTES,
        signal: this.#abort.signal,
        maySend: this.#maySend,
      })
      .then((outcome) => {
        call.trace?.answered(outcome);
        if (outcome.kind === 'held-back') {
          this.#again(call, LEASE_PAUSE_MS, () => this.#send(call, sent));
          return;
        }
        this.#seconds.observe((clock.monotonicMs() - sentAtMs) / 1000);
        this.#concludeCall(call, outcome, sentBody);
      });
  }

  /** Undefined when it cannot be signed yet. */
  #header({ queue, attempt, plan }: Call, { body, hash: bodyHash }: SentBody): HeaderList | undefined {
    const { envelope, id, retried, run } = attempt;
    const { clock, headers, signer } = this.ports;
    const sign = (issuer: string) =>
      signer.sign({ account: queue.account, url: envelope.url, body, bodyHash, nowMs: clock.nowMs(), issuer });
    const signatures = this.#signed(() => headers.wordsFor(envelope, run?.part).map(sign));
    if (!signatures?.every((signature) => signature !== undefined)) return undefined;
    // An endpoint that fetches the list finds its own entry by this id.
    const messageId = run?.entries.at(-1)?.messageId ?? id;
    const isListLeftOut = plan.kind === 'list-left-out';
    return headers.of(envelope, { messageId, retried, signatures, part: run?.part, isListLeftOut });
  }

  /** Signed with the secrets that its endpoint has now. Undefined when it cannot be signed yet. */
  #webhookHeader({ queue, attempt }: Call, body: Uint8Array): HeaderList | undefined {
    const { envelope } = attempt;
    const { clock, headers, webhooks } = this.ports;
    const nowMs = clock.nowMs();
    const { secrets = [] } = queue.fold.engine.webhookEndpointOf(envelope) ?? {};
    const id = envelope.webhook?.id ?? attempt.id;
    const valid = secrets.filter((secret) => isSigning(secret, nowMs));
    const signature = this.#signed(() => webhooks.headersFor({ id, nowMs, body, secrets: valid }));
    return signature === undefined ? undefined : headers.ofWebhook(envelope, signature);
  }

  /** Undefined when the key file cannot open the key. */
  #signed<Signed>(sign: () => Signed): Signed | undefined {
    try {
      return sign();
    } catch (error) {
      // The key may have been sealed with another key file: an operator has to act, and the message waits.
      const nowMs = this.ports.clock.monotonicMs();
      if (nowMs - this.#lastAlarmAtMs >= ALARM_EVERY_MS) {
        this.#lastAlarmAtMs = nowMs;
        this.ports.log.error('queue.cannot-sign', { cause: describeError(error) });
      }
      return undefined;
    }
  }

  #concludeCall(call: Call, outcome: MadeOutcome, sentBody: Uint8Array | undefined): void {
    const { metrics } = this.ports;
    if (call.attempt.retried > 0) this.#retries.add();
    metrics.counter('millrace_deliveries_total', wordFor(outcome)).add();
    if (outcome.kind === 'interrupted') {
      // Only the end of the activation interrupts a call; its successor makes it again.
      this.#forget(call);
      return;
    }
    this.#conclude(call, outcome, sentBody);
  }

  #conclude(call: Call, outcome: AttemptOutcome, sentBody: Uint8Array | undefined): void {
    if (this.#isEnded) return;
    const { queue, attempt } = call;
    const { id, retried, restarts } = attempt;
    const command = { type: 'RecordAttempt', id, retried, restarts, outcome, sentBody } as const;
    const onReply = () => this.#forget(call);
    const work = new QueueWork(queue.account, command, onReply, (error) => {
      if (isMillraceError(error, 'MAILBOX_FULL')) {
        this.#again(call, FULL_MAILBOX_PAUSE_MS, () => this.#conclude(call, outcome, sentBody));
        return;
      }
      // The activation has ended or is moving: the attempt is still open, and the successor makes it again.
      this.#forget(call);
    });
    call.trace?.around(work);
    this.ports.submit(work);
  }
}

/** True when the run ended while its entries were being read. */
function isOver({ queue, attempt, plan }: Call): boolean {
  return attempt.run !== undefined && plan.refs.some(({ number }) => number > 0 && !queue.fold.engine.isNeeded(number));
}

/** Undefined: the call may be made. */
function reasonNotToSend({ queue, attempt: { id, envelope } }: Call): string | undefined {
  const { engine } = queue.fold;
  // Its start was stored while another message of the run was being answered.
  if (envelope.workflow !== undefined && engine.isOfEndedRun(id)) return 'the run is over';
  if (envelope.webhook === undefined) return undefined;
  const endpoint = engine.webhookEndpointOf(envelope);
  if (endpoint === undefined) return 'the endpoint was deleted';
  return endpoint.isDisabled ? 'the endpoint is disabled' : undefined;
}

function notSent(error: string): AttemptOutcome {
  return { kind: 'no-response', error, durationMs: 0 };
}

function wordFor(outcome: MadeOutcome): string {
  if (outcome.kind !== 'response') return outcome.kind;
  return outcome.status >= 200 && outcome.status < 300 ? 'delivered' : 'refused';
}
