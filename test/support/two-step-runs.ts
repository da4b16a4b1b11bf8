/** Runs with two steps by the published packages: the endpoint and the client that starts them. */
import { Client as QueueClient, Receiver } from '@upstash/qstash';
import { Client, serve } from '@upstash/workflow';
import { type Handler, WorkflowApp } from './workflow-app.js';

export interface RunsOptions {
  /** The URL of the queue API, for clients and the endpoint. */
  readonly baseUrl: string;
  readonly token: string;
  readonly signingKeys: { readonly current: string; readonly next: string };
  /** The retries of each delivery. */
  readonly retries: number;
  readonly retryDelay?: string;
}

export class TwoStepRuns {
  /** The ids of acknowledged runs. */
  readonly acked: string[] = [];
  readonly #client: Client;
  readonly #url: string;

  private constructor(
    private readonly app: WorkflowApp,
    private readonly options: RunsOptions,
  ) {
    const { baseUrl, token, signingKeys } = options;
    // Retries are off, because a repeated request would start a second run.
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

  /** Starts a run. @throws without an acknowledgement; the run may still have started */
  async trigger(): Promise<void> {
    const { retries, retryDelay } = this.options;
    const settings = { retries, ...(retryDelay === undefined ? {} : { retryDelay }) };
    const { workflowRunId } = await this.#client.trigger({ url: this.#url, ...settings });
    this.acked.push(workflowRunId);
  }

  /** Closes the endpoint; runs continue until then. */
  close(): Promise<void> {
    return this.app.close();
  }
}
