/**
 * The stand of the pages about runs: workflows of the published client, and a process with the console that the
 * browser shows.
 */
import { Client as QueueClient } from '@upstash/qstash';
import { Client, serve, type WorkflowContext, type WorkflowServeOptions } from '@upstash/workflow';
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs';
import { WIRE_ALIAS } from '../millrace-clients.js';
import { QUEUE_TOKEN } from '../queue-process.js';
import { WorkflowApp } from '../workflow-app.js';
import { silenceClient } from '../workflow-stand.js';

export const FLOW_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...WIRE_ALIAS,
  MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
  MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
} as Record<string, string>;

// biome-ignore lint/suspicious/noExplicitAny: what a run is sent is its test's business
type Context = WorkflowContext<any>;
// biome-ignore lint/suspicious/noExplicitAny: as above
type Options = WorkflowServeOptions<any, any>;

/** A name with markup, which a page without escaping would execute, and with right-to-left letters. */
export const HOSTILE = '<img src=x onerror="document.title=1"> שלום';
const MEBIBYTE = 1024 * 1024;

export class FlowsStand {
  readonly client: Client;
  /** While it is false, the workflow `broken` fails. */
  isMended = false;
  readonly #app: WorkflowApp;
  readonly urls: Readonly<Record<'order' | 'broken' | 'hostile' | 'quick' | 'stuck' | 'flaky', string>>;

  private constructor(
    readonly queueUrl: string,
    app: WorkflowApp,
  ) {
    silenceClient();
    this.#app = app;
    this.client = new Client({ baseUrl: queueUrl, token: QUEUE_TOKEN });
    const qstashClient = new QueueClient({ baseUrl: queueUrl, token: QUEUE_TOKEN });
    const options = { qstashClient, receiver: undefined } as unknown as Options;
    this.urls = {
      order: `${app.route('orders', ordersOf(options))}/order`,
      broken: app.route(
        'broken',
        serve((context: Context) => this.#broken(context), { ...options, failureFunction: refuse }).handler as Handler,
      ),
      hostile: app.route('hostile', serve(hostile, options).handler as Handler),
      stuck: app.route('stuck', serve(stuck, options).handler as Handler),
      flaky: app.route('flaky', serve(flaky(), options).handler as Handler),
      quick: app.route('quick', serve((context: Context) => context.run('one', () => 1), options).handler as Handler),
    };
  }

  static async start(queueUrl: string): Promise<FlowsStand> {
    return new FlowsStand(queueUrl, await WorkflowApp.listening());
  }

  async trigger(name: keyof FlowsStand['urls'], id: string, more: object = {}): Promise<string> {
    const { workflowRunId } = await this.client.trigger({
      url: this.urls[name],
      workflowRunId: id,
      retries: 0,
      ...more,
    });
    return workflowRunId;
  }

  /** Starts a run by a direct request, for delivery settings that the client has no option for. */
  async start(name: keyof FlowsStand['urls'], headers: Readonly<Record<string, string>>, body = ''): Promise<void> {
    const answer = await fetch(`${this.queueUrl}/v2/trigger/${this.urls[name]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'application/json', ...headers },
      body,
    });
    if (!answer.ok) throw new Error(`the run has not started: ${answer.status} ${await answer.text()}`);
  }

  end(): Promise<void> {
    return this.#app.close();
  }

  async #broken(context: Context): Promise<string> {
    await context.run('label', () => 'a label');
    return context.run('stock', () => {
      if (!this.isMended) throw new Error('the stock is closed');
      return 'on its way';
    });
  }
}

type Handler = Parameters<WorkflowApp['route']>[1];

/** A workflow with steps of every kind: two parallel steps, a sleep, a child run and a wait. */
function ordersOf(options: Options): Handler {
  const parcel = createWorkflow((context: Context) => context.run('pack', () => 'packed'), options);
  const order = createWorkflow(async (context: Context) => {
    const price = await context.run('price', () => 14);
    await Promise.all([context.run('reserve', () => 'reserved'), context.run('score', () => 0.5)]);
    await context.sleep('reflect', 1);
    await context.invoke('ship', { workflow: parcel, body: { price } });
    const { eventData } = await context.waitForEvent('payment', `paid-${context.workflowRunId}`, { timeout: '1h' });
    await context.run('mail', () => 'mailed');
    return { price, eventData };
  }, options);
  return serveMany({ order, parcel }, options).POST as Handler;
}

/** A workflow with a second step that gets no answer. */
async function stuck(context: Context): Promise<void> {
  await context.run('reserve', () => 'reserved');
  await context.run('charge', () => new Promise<never>(() => {}));
}

/** A workflow with a second step that fails once. */
function flaky() {
  let failures = 0;
  return async (context: Context): Promise<string> => {
    const price = await context.run('price', () => 205);
    await context.run('charge', () => {
      failures += 1;
      if (failures === 1) throw new Error('the card is declined');
      return { charged: price };
    });
    await context.sleep('cool down', 1);
    return 'paid';
  };
}

async function hostile(context: Context): Promise<string> {
  await context.run(HOSTILE, () => HOSTILE);
  await context.run('large', () => 'x'.repeat(MEBIBYTE / 2));
  return HOSTILE;
}

/** A failure function that fails. */
function refuse(): Promise<never> {
  throw new Error('nobody listens');
}
