/**
 * An account's queue in the test process with the real engine and real calls, without storage. The list of its events
 * is the read model.
 */
import { withContents } from '../../src/actors/queue/reply-contents.js';
import { JwtDeliverySigner, SocketHttpOut } from '../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../src/adapters/node/index.js';
import {
  type AccountTerms,
  DeliveredHeaders,
  type DlqEntry,
  type DlqSelector,
  type Envelope,
  type MessageFilter,
  matches,
  type PublishItem,
  type QueueCommand,
  QueueEngine,
  type QueueEvent,
  type QueueEventOf,
  type QueueReply,
} from '../../src/domain/queue/index.js';
import type { AccountId, DlqId, MessageId } from '../../src/kernel/index.js';
import type {
  Backlog,
  Counts,
  DlqPage,
  LogEvent,
  LogPage,
  LogQuery,
  MessageLog,
  QueueGateway,
} from '../../src/ports/index.js';
import { realTime } from './real-time.js';

const WORK_EVERY_MS = 10;
const ATTEMPTS_AT_ONCE = 100;

export interface MemoryQueueOptions {
  readonly account: AccountId;
  readonly terms: AccountTerms;
  readonly keys: { current: string; next: string };
  readonly alias: { headerWord: string; queueWord: string };
}

export class MemoryQueue implements QueueGateway, MessageLog {
  readonly #bodies = new Map<number, Uint8Array>();
  readonly #engine = new QueueEngine({
    put: (number, content) => void this.#bodies.set(number, content),
    // Bodies are kept, because the read model shows those of ended messages.
    drop: () => {},
  });
  readonly #log: LogEvent[] = [];
  readonly #messages = new Map<MessageId, { envelope: Envelope; body: Uint8Array }>();
  readonly #failed: DlqId[] = [];
  readonly #http = new SocketHttpOut({ allowPrivate: true, allow: [] });
  readonly #signer: JwtDeliverySigner;
  readonly #headers: DeliveredHeaders;
  readonly #ticking = setInterval(() => this.#work(), WORK_EVERY_MS);

  constructor(private readonly options: MemoryQueueOptions) {
    const { alias, keys } = options;
    const random = new NodeRandom();
    this.#signer = new JwtDeliverySigner({
      keys: { signingKeysOf: () => keys },
      random,
    });
    this.#headers = new DeliveredHeaders({ alias, region: undefined });
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking);
    await this.#http.close();
  }

  publish(account: AccountId, items: readonly PublishItem[]): Promise<QueueReply> {
    return this.ask(account, { type: 'Publish', items, isTold: false });
  }

  async ask(_account: AccountId, command: QueueCommand): Promise<QueueReply> {
    let reply = this.#engine.execute(command, this.#context, this.#record);
    if ('next' in reply) {
      let step = reply.next();
      while (step.done !== true) step = reply.next();
      reply = step.value;
    }
    const { get } = this.#contents;
    const answer = await withContents(reply, { get, load: async (number) => get(number) ?? new Uint8Array(0) });
    this.#work();
    return answer;
  }

  async events(_account: AccountId, { filter, states, order, count }: LogQuery): Promise<LogPage> {
    const found = this.#log.filter(
      ({ messageId, envelope, state, atMs }) =>
        (states.length === 0 || states.includes(state)) &&
        matches(filter, { id: messageId, envelope, atMs, responseStatus: undefined }),
    );
    if (order === 'latestFirst') found.reverse();
    return { events: found.slice(0, count), cursor: undefined };
  }

  async dlq(account: AccountId, selector: DlqSelector): Promise<DlqPage> {
    const entries: DlqPage['entries'][number][] = [];
    const ids = selector.kind === 'ids' ? selector.dlqIds : this.#failed;
    for (const dlqId of ids) {
      const reply = await this.ask(account, { type: 'GetDlq', dlqId });
      if (reply.type !== 'Dlq' || !isWanted(selector, reply.entry)) continue;
      const { response, ...entry } = reply.entry;
      const body = reply.content ?? new Uint8Array(0);
      entries.push({ ...entry, body, response: { ...response, body: reply.response ?? new Uint8Array(0) } });
    }
    return { entries, after: undefined };
  }

  async eventCounts(): Promise<Counts> {
    return { counts: {}, isWhole: true };
  }

  async backlog(): Promise<Backlog> {
    return { points: [] };
  }

  async dlqCounts(account: AccountId, filter: MessageFilter): Promise<Counts> {
    const selector = { kind: 'filter', filter, count: 0, after: undefined, order: 'latestFirst' } as const;
    const { entries } = await this.dlq(account, selector);
    const counts: Record<string, number> = {};
    for (const { response } of entries) counts[response.status] = (counts[response.status] ?? 0) + 1;
    return { counts, isWhole: true };
  }

  get #context() {
    return { nowMs: Date.now(), account: this.options.terms };
  }

  get #contents() {
    return { get: (number: number) => this.#bodies.get(number) };
  }

  #work(): void {
    this.#engine.work(this.#context, ATTEMPTS_AT_ONCE, this.#record);
  }

  readonly #record = (event: QueueEvent): void => {
    if (event.type === 'MessageAccepted') {
      const { envelope, body } = event;
      const content = body.content ?? this.#bodies.get(body.number) ?? new Uint8Array(0);
      this.#messages.set(event.id, { envelope, body: content });
      this.#note(event, 'CREATED');
    } else if (event.type === 'AttemptStarted') {
      this.#note(event, 'ACTIVE');
      setImmediate(() => void this.#attempt(event.id));
    } else if (event.type === 'MessageDelivered') this.#note(event, 'DELIVERED');
    else if (event.type === 'AttemptFailed') this.#noteFailure(event);
    else if (event.type === 'MessageDeadLettered') {
      this.#failed.push(event.dlqId);
      this.#note(event, 'FAILED');
    } else if (event.type === 'CancelRequested') this.#note(event, 'CANCEL_REQUESTED');
    else if (event.type === 'MessageCancelled') this.#note(event, 'CANCELED');
  };

  #noteFailure(event: QueueEventOf<'AttemptFailed'>): void {
    const { status, header, response: body, error, nextAtMs } = event;
    this.#note(event, 'ERROR', { error, response: { status, header, body } });
    if (nextAtMs !== undefined) this.#note(event, 'RETRY', { nextDeliveryAtMs: nextAtMs });
  }

  #note({ id, atMs }: { id: MessageId; atMs: number }, state: LogEvent['state'], more: Partial<LogEvent> = {}): void {
    const { envelope, body } = this.#messages.get(id) as { envelope: Envelope; body: Uint8Array };
    const empty = { nextDeliveryAtMs: undefined, error: undefined, response: undefined };
    this.#log.push({ atMs, state, messageId: id, envelope, body, ...empty, ...more });
  }

  async #attempt(id: MessageId): Promise<void> {
    const attempt = this.#engine.attemptOf(id);
    if (attempt === undefined) return;
    const { envelope, retried, restarts } = attempt;
    const { url, settings } = envelope;
    const body = this.#bodies.get(attempt.body.number) ?? new Uint8Array(0);
    const signed = {
      account: this.options.account,
      url,
      body,
      nowMs: realTime.nowMs(),
      issuer: this.options.alias.headerWord,
    };
    const outcome = await this.#http.send({
      url,
      method: settings.method,
      headers: this.#headers.of(envelope, {
        messageId: id,
        retried,
        signatures: [this.#signer.sign(signed) as string],
      }),
      body,
      timeoutMs: 5000,
      maxResponseBytes: 65_536,
      signal: new AbortController().signal,
    });
    if (outcome.kind === 'interrupted' || outcome.kind === 'held-back') return;
    await this.ask(this.options.account, { type: 'RecordAttempt', id, retried, restarts, outcome, sentBody: body });
  }
}

function isWanted(selector: DlqSelector, { messageId, envelope, failedAtMs, response }: DlqEntry): boolean {
  if (selector.kind === 'ids') return true;
  return matches(selector.filter, { id: messageId, envelope, atMs: failedAtMs, responseStatus: response.status });
}
