/** The endpoint's process, as the workflow benches use it. */
import { Child, until } from './child.js';
import { type Millrace, TOKEN } from './millrace.js';
import type { EndpointOrder, EndpointReport, RunWork } from './workflow-endpoint.js';

const ENDPOINT = new URL('./workflow-endpoint.js', import.meta.url).pathname;

export class WorkflowDriver {
  private constructor(private readonly child: Child) {}

  static async start(millrace: Millrace): Promise<WorkflowDriver> {
    const args = [ENDPOINT, millrace.queueUrl, TOKEN];
    return new WorkflowDriver(await Child.start(process.execPath, args, { readyWhen: /^ready/, withChannel: true }));
  }

  /** @returns once all runs have come to their end, or sleep */
  async run(runs: number, atOnce: number, work: RunWork, timeoutMs: number): Promise<EndpointReport> {
    await this.#ask({ ask: 'begin', runs, atOnce, work });
    let report = await this.#ask({ ask: 'report' });
    const isDone = async () => {
      report = await this.#ask({ ask: 'report' });
      return report.done >= runs;
    };
    await until(isDone, timeoutMs, `${runs} runs`);
    if (report.failures > 0) throw new Error(`${report.failures} calls of the endpoint failed`);
    return report;
  }

  stop(): Promise<void> {
    return this.child.stop();
  }

  #ask(order: EndpointOrder): Promise<EndpointReport> {
    const { process: own } = this.child;
    return new Promise((resolve) => {
      own.once('message', (report) => resolve(report as EndpointReport));
      own.send(order);
    });
  }
}
