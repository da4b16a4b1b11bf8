/**
 * Workflow runs on an account's queue with a manual clock, for specs: the requests of clients, endpoints and third
 * parties, the results of deliveries, and the events in short form.
 */
import { expect } from 'chai';
import type {
  Published,
  PublishItem,
  QueueEngine,
  QueueEvent,
  QueueEventOf,
  QueueReply,
} from '../../src/domain/queue/index.js';
import type { EntryView, Notified, WaiterView } from '../../src/domain/queue/runs/index.js';
import type { DlqId, MessageId } from '../../src/kernel/index.js';
import { noResponse, QueueSpec } from './queue-spec.js';
import {
  answered,
  asked,
  mark,
  message,
  run,
  type TriggerOptions,
  triggerItem,
  VERSION,
  type WaitOptions,
} from './workflow-items.js';
import { MessageNames } from './workflow-news.js';

export * from './workflow-items.js';

type OpenAttempt = NonNullable<ReturnType<QueueEngine['attemptOf']>>;

export class WorkflowSpec {
  #named = 0;
  #read = 0;

  constructor(
    readonly queue = new QueueSpec(),
    readonly names = new MessageNames(),
  ) {}

  /** A spec with runs that are triggered and have had their first delivery. */
  static begun(...ids: string[]): WorkflowSpec {
    const flow = new WorkflowSpec();
    for (const id of ids.length > 0 ? ids : ['r']) {
      flow.trigger(id);
      flow.deliver(`${id}#0`);
    }
    return flow.skipEvents();
  }

  // ── clients ──

  trigger(runId: string, options: TriggerOptions = {}): Published {
    return only(this.queue.publish(triggerItem(runId, options)));
  }

  // ── endpoints ──

  submit(...items: PublishItem[]): QueueReply {
    return this.queue.publish(...items);
  }

  wait(runId: string, stepId: number, eventId: string, options: WaitOptions = {}): QueueReply {
    const {
      seconds = 60,
      type = 'Wait',
      timeoutBody,
      resultId = `${runId}#${stepId}`,
      url,
      timeoutHeader = [],
    } = options;
    const step = mark(stepId, { type });
    const { stepName, concurrent } = step;
    return this.queue.ask({
      type: 'Wait',
      runId: run(runId),
      eventId,
      resultId: message(resultId),
      step,
      stepText: JSON.stringify({ stepId, stepName, stepType: type, concurrent }),
      timeoutText: `${seconds}s`,
      timeoutSeconds: seconds,
      timeoutBody,
      onNotify: asked([VERSION], url),
      onTimeout: asked([VERSION, ['Svc-Workflow-Timed-Out', 'true'], ...timeoutHeader], url),
    });
  }

  notify(eventId: string, firstId: string, runId?: string, content = `event ${firstId}`, isHook = false): QueueReply {
    return this.queue.ask({
      type: 'Notify',
      eventId,
      runId: runId === undefined ? undefined : run(runId),
      firstId: message(firstId),
      content: Buffer.from(content),
      isHook,
    });
  }

  finish(runId: string, response?: string): QueueReply {
    const content = response === undefined ? undefined : Buffer.from(response);
    return this.queue.ask({ type: 'EndRun', runId: run(runId), how: 'finish', response: content });
  }

  cancel(runId: string): QueueReply {
    return this.queue.ask({ type: 'EndRun', runId: run(runId), how: 'cancel', response: undefined });
  }

  // ── deliveries ──

  work(): this {
    this.queue.work();
    return this;
  }

  /** Delivers all due messages, and answers the named delivery with success. */
  deliver(name: string, header: [string, string][] = []): this {
    return this.answer(name, answered(200, header));
  }

  /** As `deliver`, with any answer; a number is a status. */
  answer(name: string, outcome: number | ReturnType<typeof answered>, sent?: string): this {
    this.queue.work();
    const whole = typeof outcome === 'number' ? answered(outcome) : outcome;
    this.queue.outcome(this.idOf(name), whole, sent === undefined ? undefined : Buffer.from(sent));
    return this;
  }

  /** A delivery to a destination that cannot be reached. */
  miss(name: string): this {
    this.queue.work();
    this.queue.outcome(this.idOf(name), noResponse());
    return this;
  }

  // ── what is there ──

  idOf(name: string): MessageId {
    const { journal } = this.queue;
    for (; this.#named < journal.length; this.#named += 1) {
      const event = journal[this.#named];
      if (event?.type === 'MessageAccepted') this.names.note(event);
    }
    return this.names.idOf(name);
  }

  attempt(name: string): OpenAttempt {
    this.queue.work();
    const attempt = this.queue.engine.attemptOf(this.idOf(name));
    expect(attempt, `an open attempt of ${name}`).to.not.equal(undefined);
    return attempt as OpenAttempt;
  }

  /** The content of the delivery's list, oldest first. */
  listOf(name: string): string[] {
    const { run: ofRun } = this.attempt(name);
    return (ofRun?.entries ?? []).map(({ messageId }) => this.names.of(messageId));
  }

  headersOf(name: string): Record<string, string> {
    return Object.fromEntries(this.attempt(name).envelope.settings.header);
  }

  bodyOf(name: string): string {
    return this.textOf(this.attempt(name).body.number);
  }

  textOf(number: number): string {
    return number === 0 ? '' : Buffer.from(this.queue.shelf.contents.get(number) as Uint8Array).toString('utf8');
  }

  /** The record that the server has made. */
  recordOf(name: string): unknown {
    return JSON.parse(this.bodyOf(name));
  }

  entries(runId: string): EntryView[] | undefined {
    const reply = this.queue.ask({ type: 'GetRun', runId: run(runId), from: 0, maxBytes: Number.MAX_SAFE_INTEGER });
    return reply.type === 'Run' ? [...reply.entries] : undefined;
  }

  isActive(runId: string): boolean {
    return this.entries(runId) !== undefined;
  }

  /** All recorded events of a type. */
  all<Type extends QueueEvent['type']>(type: Type): QueueEventOf<Type>[] {
    return this.queue.journal.filter((event): event is QueueEventOf<Type> => event.type === type);
  }

  dlqIdOf(runId: string): DlqId {
    const ended = this.all('RunEnded').find((event) => event.runId === runId && event.dlqId !== undefined);
    expect(ended, `the end of ${runId}`).to.not.equal(undefined);
    return ended?.dlqId as DlqId;
  }

  news(): string[] {
    const events = this.queue.journal.slice(this.#read);
    this.#read = this.queue.journal.length;
    return events.map((event) => this.names.tell(event));
  }

  waiters(eventId: string): readonly WaiterView[] {
    const reply = this.queue.ask({ type: 'ListWaiters', eventId });
    return reply.type === 'Waiters' ? reply.waiters : [];
  }

  skipEvents(): this {
    this.news();
    return this;
  }

  pass(ms: number): this {
    this.queue.pass(ms);
    return this;
  }

  /** The spec after a replay of its events, as after a crash. */
  replayed(): WorkflowSpec {
    return this.#copied(this.queue.replayed());
  }

  /** The spec after a restore from a snapshot. */
  rebuilt(): WorkflowSpec {
    return this.#copied(this.queue.rebuilt());
  }

  #copied(queue: QueueSpec): WorkflowSpec {
    this.idOf('');
    return new WorkflowSpec(queue, new MessageNames(this.names));
  }
}

export function only(reply: QueueReply): Published {
  expect(reply.type, JSON.stringify(reply)).to.equal('Published');
  const [result] = reply.type === 'Published' ? reply.results : [];
  return result as Published;
}

export function published(reply: QueueReply): readonly Published[] {
  expect(reply.type, JSON.stringify(reply)).to.equal('Published');
  return reply.type === 'Published' ? (reply.results as readonly Published[]) : [];
}

export const OVER: QueueReply = {
  type: 'Rejected',
  reason: 'RUN_OVER',
  message: 'can not append to a cancelled workflow',
};

export function notifiedBy(reply: QueueReply): readonly Notified[] {
  expect(reply.type, JSON.stringify(reply)).to.equal('Notified');
  return reply.type === 'Notified' ? reply.notified : [];
}
