/**
 * The endpoints of runs, and the clients that start and notify them. A client takes one run through its steps, submits
 * some of them twice in parallel with ids of the client, and ends the run. It learns the state of the run only from the
 * answers.
 */
import { newMessageId, type PublishItem, type QueueCommand, type QueueReply } from '../../src/domain/queue/index.js';
import {
  newRunId,
  type RequestedDelivery,
  type StepMark,
  type WorkflowMark,
} from '../../src/domain/queue/runs/index.js';
import type { AccountId, RunId } from '../../src/kernel/index.js';
import { queuePartition } from '../../src/protocol/index.js';
import { PLAIN_SETTINGS } from '../support/queue-shard-stand.js';
import type { QueueLedger } from './queue-ledger.js';
import type { QueueNode } from './queue-node.js';
import type { WorkflowRule } from './queue-workflow-rules.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';

/** The time after which a client starts another run; the outcome of the earlier one stays unknown to it. */
const PATIENCE_MS = 12_000;
const MAX_CHILD_MS = 2000;
const EVENTS = ['a', 'b', 'c'];
const STEPS = 12;
const WAITS_EVERY = 3;
const INVOKES_EVERY = 4;
/** An endpoint may answer with only a status. */
const MARK: WorkflowMark = {
  detectsTrigger: false,
  needsRecentClient: false,
  canFetch: false,
  isConfiguredByTrigger: true,
};

interface CurrentRun {
  readonly account: AccountId;
  readonly id: RunId;
  readonly url: string;
  step: number;
}

export interface WorkflowClientFacts {
  readonly accounts: readonly AccountId[];
  readonly nodes: () => readonly QueueNode[];
  readonly ledger: QueueLedger;
  readonly rule: WorkflowRule;
  readonly scheduler: Scheduler;
  readonly thinkMs: number;
}

export class WorkflowClient {
  private isDone = false;
  private run: CurrentRun | undefined;

  constructor(
    private readonly name: string,
    private readonly facts: WorkflowClientFacts,
    private readonly random: SeededRandom,
  ) {}

  start(): void {
    this.later(this.random.between(0, 1000), () => this.act());
  }

  stop(): void {
    this.isDone = true;
  }

  private act(): void {
    if (this.isDone) return;
    const next = (): void => this.later(this.random.between(0, 2 * this.facts.thinkMs), () => this.act());
    if (this.facts.nodes().length === 0) {
      next();
      return;
    }
    let hasMovedOn = false;
    const moveOn = (goesOn: boolean): void => {
      if (hasMovedOn) return;
      hasMovedOn = true;
      if (!goesOn) this.run = undefined;
      next();
    };
    this.later(PATIENCE_MS, () => moveOn(false));
    const { run } = this;
    if (run === undefined) this.trigger(moveOn);
    else this.goOn(run, moveOn);
  }

  private goOn(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const dice = this.random.below(20);
    if (run.step === STEPS || dice === 0) this.end(run, onEnd);
    else if (dice < 6) this.notify(run, onEnd);
    else {
      // The number of a step identifies it, so a repeated submission is the same step.
      run.step += 1;
      if (run.step % WAITS_EVERY === 0) this.wait(run, onEnd);
      else if (run.step % INVOKES_EVERY === 0) this.invoke(run, onEnd);
      else this.append(run, onEnd);
    }
  }

  private trigger(onEnd: (goesOn: boolean) => void): void {
    const { random } = this;
    const account = random.pick(this.facts.accounts);
    const url = `https://${random.pick(['good', 'better', 'flaky'])}.example/run`;
    const run: CurrentRun = { account, id: newRunId(random), url, step: 0 };
    const trigger = { kind: 'trigger', mark: MARK, isByEndpoint: false, invoker: undefined, depth: 0 } as const;
    this.publish(run, { ...trigger, runId: run.id }, undefined, (reply) => {
      // The answer to the first step shows whether the run was started.
      if (reply?.type !== 'Rejected') this.run = run;
      onEnd(reply?.type !== 'Rejected');
    });
  }

  /** Sometimes submits the step twice in parallel, as if the endpoint was called twice. */
  private append(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const step = this.stepOf(run, 'Run');
    const entry = { kind: 'entry', runId: run.id, mark: MARK, step } as const;
    if (this.random.chance(0.3)) this.publish(run, entry, step, () => {});
    this.publish(run, entry, step, (reply) => onEnd(this.goesOn(run, reply)));
  }

  /** Sometimes invokes with two child names, as a step does that is executed twice. */
  private invoke(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const step = this.stepOf(run, 'Invoke');
    const delivery = this.askedOf(run);
    const invoker = { runId: run.id, step, stepText: JSON.stringify(step), delivery };
    const start = (onReply: (reply: QueueReply | undefined) => void): void => {
      const child: CurrentRun = { ...run, id: newRunId(this.random) };
      const trigger = { kind: 'trigger', mark: MARK, isByEndpoint: false, invoker, depth: 1 } as const;
      this.publish(run, { ...trigger, runId: child.id }, undefined, (reply) => {
        this.endLater(child);
        onReply(reply);
      });
    };
    if (this.random.chance(0.3)) start(() => {});
    start((reply) => onEnd(this.goesOn(run, reply)));
  }

  private endLater(child: CurrentRun): void {
    this.later(this.random.between(0, MAX_CHILD_MS), () => {
      if (this.facts.nodes().length === 0) this.endLater(child);
      else this.end(child, () => {});
    });
  }

  private publish(
    run: CurrentRun,
    workflow: NonNullable<PublishItem['workflow']>,
    step: StepMark | undefined,
    onEnd: (reply: QueueReply | undefined) => void,
  ): void {
    const { random, facts } = this;
    const item: PublishItem = {
      id: newMessageId(random, this.facts.scheduler.nowMs),
      destination: {
        kind: 'url',
        url: run.url,
        settings: { ...PLAIN_SETTINGS, maxRetries: 2, retryDelay: '200', timeoutSeconds: 2 },
      },
      queueName: undefined,
      body: random.bytes(1 + random.below(60)),
      notBeforeMs: undefined,
      deduplication: undefined,
      callerIp: '192.0.2.1',
      isAlias: false,
      workflow,
    };
    const done = (reply?: QueueReply): void => {
      if (reply?.type === 'Published') facts.rule.acknowledged(queuePartition(run.account), run.id, step);
      else this.refused(run, reply);
      onEnd(reply);
    };
    this.hand((node) => node.gateway.publish(run.account, [item]).then(done, () => done()));
  }

  private wait(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const { random, facts } = this;
    const step = this.stepOf(run, 'Wait');
    const asked = this.askedOf(run);
    const timeoutSeconds = 1 + random.below(4);
    const command: QueueCommand = {
      type: 'Wait',
      runId: run.id,
      eventId: random.pick(EVENTS),
      resultId: newMessageId(random, this.facts.scheduler.nowMs),
      step,
      stepText: JSON.stringify(step),
      timeoutText: `${timeoutSeconds}s`,
      timeoutSeconds,
      timeoutBody: undefined,
      onNotify: asked,
      onTimeout: asked,
    };
    const done = (reply?: QueueReply): void => {
      if (reply?.type === 'Done') facts.rule.waiting(queuePartition(run.account), run.id, step);
      else this.refused(run, reply);
    };
    if (random.chance(0.3)) this.ask(run, command, done);
    this.ask(run, command, (reply) => {
      done(reply);
      onEnd(this.goesOn(run, reply));
    });
  }

  /** A step without an answer is submitted again, because it may have been stored. */
  private goesOn(run: CurrentRun, reply: QueueReply | undefined): boolean {
    if (reply === undefined) run.step -= 1;
    return reply?.type !== 'Rejected';
  }

  private notify(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const { random, facts } = this;
    const command: QueueCommand = {
      type: 'Notify',
      eventId: random.pick(EVENTS),
      runId: random.chance(0.5) ? run.id : undefined,
      firstId: newMessageId(random, this.facts.scheduler.nowMs),
      content: random.bytes(random.below(20)),
      isHook: false,
    };
    this.ask(run, command, (reply) => {
      if (reply !== undefined) facts.rule.notified(reply, facts.ledger);
      onEnd(true);
    });
  }

  private end(run: CurrentRun, onEnd: (goesOn: boolean) => void): void {
    const how = this.random.chance(0.7) ? 'finish' : 'cancel';
    const command: QueueCommand = { type: 'EndRun', runId: run.id, how, response: undefined };
    this.ask(run, command, (reply) => {
      if (reply?.type === 'Done') this.facts.rule.ended(queuePartition(run.account), run.id);
      onEnd(false);
    });
  }

  private refused(run: CurrentRun, reply: QueueReply | undefined): void {
    if (reply?.type !== 'Rejected' || reply.reason !== 'RUN_OVER') return;
    this.facts.rule.over(queuePartition(run.account), run.id);
  }

  private ask(run: CurrentRun, command: QueueCommand, onEnd: (reply?: QueueReply) => void): void {
    this.hand((node) =>
      node.gateway.ask(run.account, command).then(
        (reply) => onEnd(reply),
        () => onEnd(),
      ),
    );
  }

  /** Sends an action to a random process as an event; a paused process executes it when it resumes. */
  private hand(action: (node: QueueNode) => void): void {
    const { scheduler, nodes } = this.facts;
    const node = this.random.pick(nodes());
    const atMs = scheduler.nowMs + this.random.between(0.05, 1);
    scheduler.at(atMs, node.member.process, 'message', `${this.name} asks`, () => action(node));
  }

  private askedOf({ url }: CurrentRun): RequestedDelivery {
    return { url, settings: { ...PLAIN_SETTINGS, timeoutSeconds: 2 }, mark: MARK, headers: [] };
  }

  private stepOf({ step }: CurrentRun, stepType: string): StepMark {
    return { stepId: step, targetStep: 0, concurrent: 1, stepName: `step ${step}`, stepType };
  }

  private later(inMs: number, action: () => void): void {
    const { scheduler } = this.facts;
    scheduler.at(scheduler.nowMs + inMs, undefined, 'timer', this.name, action);
  }
}
