/**
 * The destination of the demo's messages: a sink, `/broken` which fails, and the endpoint of a workflow with three
 * steps, over plain HTTP (docs/guide/workflow-protocol.md). It listens on loopback and does not verify signatures.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Api, RefusedAnswer } from './api.js';

const HOST = '127.0.0.1';
const SDK = { 'Svc-Workflow-Sdk-Version': '1', 'Svc-Workflow-Sdk': 'v1.0.0' };

interface Step {
  readonly stepId: number;
  readonly out: string;
}

/** The server has the next step, so this call ends. */
class HandedOver extends Error {}

export class DemoReceiver {
  readonly #server: Server;
  url = '';

  private constructor(private readonly api: Api) {
    this.#server = createServer(async (request, response) => {
      const body = await text(request);
      const status = await this.#answer(request.url ?? '', request.headers, body);
      response.writeHead(status, { ...SDK, 'content-type': 'application/json' }).end('{"seen":true}');
    });
  }

  /** On any free port. */
  static async listen(api: Api): Promise<DemoReceiver> {
    const receiver = new DemoReceiver(api);
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject).listen(0, HOST, resolve);
    });
    receiver.url = `http://${HOST}:${(receiver.#server.address() as AddressInfo).port}`;
    return receiver;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(path: string, headers: IncomingHttpHeaders, body: string): Promise<number> {
    if (path === '/broken') return 500;
    if (path !== '/workflow' || headers['svc-workflow-is-failure'] === 'true') return 200;
    try {
      await this.#run(headers, body);
      return 200;
    } catch (error) {
      // 400: the run is over. Other errors are retried.
      const isOver = error instanceof HandedOver || (error instanceof RefusedAnswer && error.status === 400);
      return isOver ? 200 : 500;
    }
  }

  /** Runs from the start at each delivery: a finished step returns its stored result. */
  async #run(headers: IncomingHttpHeaders, body: string): Promise<void> {
    const id = String(headers['svc-workflow-runid']);
    const all = (body === '' ? await this.api.ask('GET', `/v2/workflows/runs/${id}`) : JSON.parse(body)) as {
      messageId: string;
      body: string;
    }[];
    const last = all.findIndex(({ messageId }) => messageId === headers['svc-message-id']);
    const [payload = '{}', ...records] = all
      .slice(0, last + 1)
      .map((entry) => Buffer.from(entry.body, 'base64').toString());
    const steps = records.map((record) => JSON.parse(record) as Step);
    const { items } = JSON.parse(payload) as { items: number };
    const price = await this.#step(id, steps, { stepId: 1, stepName: 'price', out: JSON.stringify(items * 7) });
    await this.#step(id, steps, { stepId: 2, stepName: 'reflect', sleepFor: '2s' });
    const sent = await this.#step(id, steps, { stepId: 3, stepName: 'send', out: JSON.stringify(`${items} items`) });
    await this.api.ask('DELETE', `/v2/workflows/runs/${id}?cancel=false`, {
      price: JSON.parse(price),
      sent: JSON.parse(sent),
    });
  }

  /** @returns the step's result. @throws HandedOver if the step was executed in this call */
  async #step(
    id: string,
    steps: readonly Step[],
    step: { readonly stepId: number; readonly stepName: string; readonly out?: string; readonly sleepFor?: string },
  ): Promise<string> {
    const known = steps.find(({ stepId }) => stepId === step.stepId);
    if (known !== undefined) return known.out;
    const destination = `${this.url}/workflow`;
    const headers = {
      'Svc-Workflow-RunId': id,
      'Svc-Workflow-Url': destination,
      'Svc-Workflow-Init': 'false',
      'Svc-Feature-Set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
      'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
      ...(step.sleepFor === undefined ? {} : { 'Svc-Delay': step.sleepFor }),
    };
    const stepType = step.sleepFor === undefined ? 'Run' : 'SleepFor';
    const body = JSON.stringify({ ...step, stepType, concurrent: 1 });
    await this.api.ask('POST', '/v2/batch', [{ destination, headers, body }]);
    throw new HandedOver();
  }
}
