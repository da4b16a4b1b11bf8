/** Runs a program with the published client and records its executions in the ledger. */
import { type WorkflowContext, WorkflowNonRetryableError } from '@upstash/workflow';
import { createWorkflow } from '@upstash/workflow/nextjs';
import type { WorkflowLedger } from './workflow-ledger.js';
import { choosesYes, dataOf, digest, eventOf, type Op, type Program, type Step } from './workflow-programs.js';

type Context = WorkflowContext<Program>;

export interface InterpreterFacts {
  readonly ledger: WorkflowLedger;
  /** The URL of the third party; its path says how it answers. */
  readonly thirdParty: string;
  /** The timeout of waits that a client ends. */
  readonly patienceSeconds: number;
  readonly retryDelay: string;
}

/** A header of every request of a program's run, with the program's id. */
export const PROGRAM_HEADER = 'x-program';

/** A workflow that runs programs and invokes itself for child programs. */
export function interpreter(facts: InterpreterFacts): Invokable {
  const { ledger } = facts;
  const program: Invokable = createWorkflow<Program, readonly unknown[]>(
    (context) => new Interpretation(context, facts, program).run(),
    {
      failureFunction: async ({ context, failStatus, failResponse }) => {
        const { id } = context.requestPayload as Program;
        ledger.failed({ program: id, runId: context.workflowRunId, status: failStatus, message: failResponse });
        return id;
      },
    },
  );
  return program;
}

type Invokable = ReturnType<typeof createWorkflow<Program, readonly unknown[]>>;
/** Returned to end the function early. */
const OVER = Symbol('over');

class Interpretation {
  readonly #program: Program;
  readonly #result: unknown[] = [];
  #seen: string;

  constructor(
    private readonly context: Context,
    private readonly facts: InterpreterFacts,
    private readonly self: Invokable,
  ) {
    this.#program = context.requestPayload;
    this.#seen = this.#program.id;
  }

  async run(): Promise<readonly unknown[]> {
    const { id, ops } = this.#program;
    const { ledger } = this.facts;
    const named = this.context.headers.get(PROGRAM_HEADER);
    // For the outcome of a call the client runs the function only to check that it may be called.
    if (ops === undefined) return this.context.run('callback', () => [named]);
    if (named !== id) ledger.problem(`${id} was sent ${PROGRAM_HEADER} ${named}`);
    ledger.ran(id, this.context.workflowRunId);
    await this.#each(ops);
    ledger.returned(id, this.#result);
    return this.#result;
  }

  async #each(ops: readonly Op[]): Promise<typeof OVER | undefined> {
    for (const op of ops) if ((await this.#op(op)) === OVER) return OVER;
    return undefined;
  }

  async #op(op: Op): Promise<typeof OVER | undefined> {
    switch (op.kind) {
      case 'group':
        // All members start before the first is awaited, which makes them a parallel group.
        this.#saw(await Promise.all(op.members.map((member) => this.#step(member))));
        return undefined;
      case 'own':
        return this.#own(op.name, op.events);
      case 'webhook':
        return this.#webhook(op.name, op.calls);
      case 'branch':
        return this.#each(choosesYes(this.#seen) ? op.yes : op.no);
      case 'cancel':
        this.facts.ledger.cancelled(this.#program.id);
        await this.context.cancel();
        return OVER;
      case 'return':
        return OVER;
      default:
        this.#saw(await this.#step(op));
        return undefined;
    }
  }

  async #step(step: Step): Promise<unknown> {
    const { context } = this;
    switch (step.kind) {
      case 'run':
        return this.#execute(step.name, step);
      case 'sleep':
        if (step.isUntil) await context.sleepUntil(step.name, Math.round(Date.now() / 1000) + step.seconds);
        else await context.sleep(step.name, step.seconds);
        return null;
      case 'call':
        return this.#call(step);
      case 'wait':
        return this.#wait(step);
      case 'invoke':
        return this.#invoke(step);
    }
  }

  async #execute(name: string, { throws, ends }: { readonly throws: number; readonly ends?: 'never' | 'refuses' }) {
    const saw = this.#seen;
    const { ledger } = this.facts;
    const program = this.#program.id;
    const done = await this.context.run(name, () => {
      const execution = ledger.executed({ program, runId: this.context.workflowRunId, name, saw });
      const isDone = ends === undefined ? execution.times > throws : ledger.isMended;
      // Each execution has its own number, which shows which execution was recorded.
      if (isDone) return { value: digest(saw, name), execution: execution.number };
      if (ends === 'refuses') throw new WorkflowNonRetryableError(`${name} ${ends}`);
      throw new Error(ends ? `${name} ${ends}` : `${name} not yet`);
    });
    ledger.replayed(done.execution);
    return done.value;
  }

  async #call({ name, status, refusals, retries }: Extract<Step, { kind: 'call' }>): Promise<unknown> {
    const key = `${this.#program.id}-${name}`;
    const url = `${this.facts.thirdParty}/${refusals}/${status}/${key}`;
    const { retryDelay } = this.facts;
    const called = await this.context.call(name, { url, method: 'POST', body: key, retries, retryDelay });
    return { status: called.status, body: called.body };
  }

  async #wait({ name, how }: Extract<Step, { kind: 'wait' }>): Promise<unknown> {
    const { ledger, patienceSeconds } = this.facts;
    const eventId = eventOf(this.#program, name);
    const isShort = how === 'never' || how === 'race';
    const waiting = this.context.waitForEvent(name, eventId, { timeout: isShort ? 1 : patienceSeconds });
    ledger.reached(eventId, how, this.context);
    const { eventData, timeout } = await waiting;
    const out = timeout ? { timeout } : { eventData, timeout };
    ledger.waited(eventId, out, this.context);
    return how === 'race' ? 'raced' : out;
  }

  async #invoke({ name, child, isNamed }: Extract<Step, { kind: 'invoke' }>): Promise<unknown> {
    const { body, isCanceled, isFailed } = await this.context.invoke(name, {
      workflow: this.self,
      body: child,
      headers: { [PROGRAM_HEADER]: child.id },
      retries: child.retries,
      retryDelay: this.facts.retryDelay,
      ...(isNamed ? { workflowRunId: child.id } : {}),
    });
    return body === undefined ? { isCanceled, isFailed } : { body, isCanceled, isFailed };
  }

  async #own(name: string, events: number): Promise<undefined> {
    const { context, facts } = this;
    const eventId = eventOf(this.#program, name);
    for (let number = 0; number < events; number += 1) {
      const data = dataOf(eventId, number);
      const told = await context.notify(`${name} notifies ${number}`, eventId, data, context.workflowRunId);
      this.#saw({ eventData: told.eventData, told: told.notifyResponse.length });
    }
    for (let number = 0; number < events; number += 1) {
      const waiting = context.waitForEvent(`${name} waits ${number}`, eventId, { timeout: facts.patienceSeconds });
      const { eventData, timeout } = await waiting;
      this.#saw({ eventData, timeout });
    }
  }

  async #webhook(name: string, calls: number): Promise<undefined> {
    const { context, facts } = this;
    const webhook = await context.createWebhook(`${name} creates`);
    this.#saw(await this.#execute(`${name} tells`, { throws: 0 }));
    const timeout = `${BigInt(facts.patienceSeconds)}s` as const;
    facts.ledger.hooked(webhook.webhookUrl, calls);
    for (let number = 0; number < calls; number += 1) {
      const { request } = await context.waitForWebhook(`${name} waits ${number}`, webhook, timeout);
      this.#saw({ method: request?.method, body: await request?.text() });
    }
    if (calls > 0) return;
    const waited = await context.waitForWebhook(`${name} waits`, webhook, '1s');
    this.#saw(waited.timeout ? 'timeout' : 'called');
  }

  #saw(out: unknown): void {
    this.#result.push(out);
    this.#seen = digest(this.#seen, JSON.stringify(out));
  }
}
