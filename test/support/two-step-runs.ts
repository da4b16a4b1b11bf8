/** Runs of two steps, by the published packages: their endpoint, and whoever starts them. */
import { Client as QueueClient, Receiver } from '@upstash/qstash';
import { Client, serve } from '@upstash/workflow';
import { type Handler, WorkflowApp } from './workflow-app.js';

export interface RunsOptions {
  /** Of the queue's face, for those who start runs and for the endpoint. */
  readonly baseUrl: string;
  readonly token: string;
  readonly signingKeys: { readonly current: string; readonly next: string };
  /** Of each delivery. */
  readonly retries: number;
  readonly retryDelay?: string;
}

export class TwoStepRuns {
  /** Ids of those that were acknowledged. */
  readonly acked: string[] = [];
  readonly #client: Client;
  readonly #url: string;

  private constructor(
    private readonly app: WorkflowApp,
    private readonly options: RunsOptions,
  ) {
    const { baseUrl, token, signingKeys } = options;
    // What is asked twice would be done twice.
    this.#client = new Client({ baseUrl, token, retry: false });
    const receiver = new Receiver({ currentSigningKey: signingKeys.current, nextSigningKey: signingKeys.next });
    const qstashClient = new QueueClient({ baseUrl, token, retry: false });
    const { handler } = serve(
      async (context) => {
        const one = await context.run('one', () => 1);
        await context.run('two', () => one + 1);
      },
      { qstashClient, receiver },
    );
    this.#url = app.route('workflow', handler as Handler);
  }

  static async listening(options: RunsOptions): Promise<TwoStepRuns> {
    return new TwoStepRuns(await WorkflowApp.listening(), options);
  }

  /** @throws when it was not acknowledged: it may run all the same */
  async trigger(): Promise<void> {
    const { retries, retryDelay } = this.options;
    const settings = { retries, ...(retryDelay === undefined ? {} : { retryDelay }) };
    const { workflowRunId } = await this.#client.trigger({ url: this.#url, ...settings });
    this.acked.push(workflowRunId);
  }

  /** Runs go on until then. */
  close(): Promise<void> {
    return this.app.close();
  }
}
