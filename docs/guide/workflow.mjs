/**
 * An endpoint of workflows that needs no package: what docs/guide/workflows.md tries things out with, and what
 * docs/guide/workflow-protocol.md explains. It believes whoever calls it: one that others can reach has to verify
 * signatures first (docs/guide/receiving.md).
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const SERVER = process.env.MILLRACE_QUEUE_URL ?? 'http://127.0.0.1:7200';
const TOKEN = process.env.MILLRACE_QUEUE_TOKEN ?? 'eyJVc2VySUQiOiJtZSJ9';
const PORT = Number(process.env.PORT ?? 9200);
const ANSWER = { 'Svc-Workflow-Sdk-Version': '1', 'Svc-Workflow-Sdk': 'v1.0.0' };

let isStockOpen = false;

/** By path. Each runs from its top at every delivery: a step that is done gives its result and does nothing. */
const workflows = {
  async order(run, { id, items }) {
    const price = await run.step('price', () => items * 7);
    await run.sleep('reflect', '1s');
    const payment = await run.waitFor('payment', `paid-${id}`, '1h');
    return { price, payment };
  },

  async parcel(run, { id }) {
    const label = await run.step('label', () => `parcel ${id}`);
    return run.step('stock', () => {
      if (!isStockOpen) throw new Error('the stock is closed');
      return `${label} is on its way`;
    });
  },

  async charge(run, { id, euros }) {
    const invoice = await run.step('invoice', () => `invoice ${id}`);
    const paid = await run.step('card', () => {
      if (euros > 100) throw new Error('the card is refused');
      return `${euros} euros by card`;
    });
    return run.step('receipt', () => `${invoice}: ${paid}`);
  },

  async hooked(run) {
    const { method, url, body = '' } = JSON.parse(await run.waitFor('call', 'called', '1h'));
    return `${method} ${url} ${Buffer.from(body, 'base64')}`;
  },
};

/** The server has the next step, or the run is over: there is nothing more to do now. */
class Done extends Error {}
/** The server will never take it. */
class Refused extends Error {}

class Run {
  #stepId = 0;

  constructor(id, url, records) {
    this.id = id;
    this.url = url;
    this.records = records;
  }

  async step(stepName, work) {
    const { out } = await this.#next({ stepName, stepType: 'Run' }, async (step) =>
      this.#submit({ ...step, out: JSON.stringify(await work()) }),
    );
    return JSON.parse(out);
  }

  async sleep(stepName, sleepFor) {
    await this.#next({ stepName, stepType: 'SleepFor', sleepFor }, (step) =>
      this.#submit(step, { 'Svc-Delay': sleepFor }),
    );
  }

  /** @returns undefined when the time is over */
  async waitFor(stepName, eventId, timeout) {
    const { out, waitTimeout } = await this.#next({ stepName, stepType: 'Wait' }, (step) =>
      ask('POST', `/v2/wait/${eventId}`, { url: this.url, timeout, step }, this.#headers()),
    );
    return waitTimeout ? undefined : Buffer.from(out, 'base64').toString();
  }

  /** The record of the next step; one that is not there is handed to the server, and the delivery ends with it. */
  async #next(step, handOver) {
    this.#stepId += 1;
    const known = this.records.find(({ stepId }) => stepId === this.#stepId);
    if (known !== undefined) return compared(known, step);
    await handOver({ stepId: this.#stepId, ...step, concurrent: 1 });
    throw new Done();
  }

  #submit(step, settings) {
    const message = { destination: this.url, headers: this.#headers(settings), body: JSON.stringify(step) };
    return ask('POST', '/v2/batch', [message]);
  }

  #headers(settings) {
    return {
      'Svc-Workflow-RunId': this.id,
      'Svc-Workflow-Url': this.url,
      'Svc-Workflow-Init': 'false',
      'Svc-Feature-Set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
      'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
      ...settings,
    };
  }
}

/** A record of another step means that the program has changed since: its result must not be used. */
function compared(known, { stepName, stepType }) {
  if (known.stepName === stepName && known.stepType === stepType) return known;
  throw new Error(`the record is of ${known.stepName} (${known.stepType}), the step is ${stepName} (${stepType})`);
}

async function ask(method, path, body, headers = {}) {
  const answer = await fetch(SERVER + path, {
    method,
    headers: { ...headers, Authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });
  if (answer.ok) return answer.json();
  const said = `${path}: ${answer.status} ${await answer.text()}`;
  if (answer.status === 400 || (method === 'GET' && answer.status === 404)) throw new Done(said);
  throw answer.status === 412 ? new Refused(said) : new Error(said);
}

/** A header of the protocol in the spelling of the delivery: `Svc-`, or that of an alias (docs/wire-aliases.md). */
function protocol(headers, name) {
  const [, word] = /^(\w+)-workflow-runid$/m.exec(Object.keys(headers).join('\n')) ?? [];
  return headers[`${word}-${name}`];
}

async function deliver(path, headers, body) {
  const id = protocol(headers, 'workflow-runid');
  const all = body === '' ? await ask('GET', `/v2/workflows/runs/${id}`) : JSON.parse(body);
  const last = all.findIndex(({ messageId }) => messageId === protocol(headers, 'message-id'));
  const [payload, ...records] = all.slice(0, last + 1).map((entry) => Buffer.from(entry.body, 'base64').toString());
  const steps = records.map((record) => JSON.parse(record));
  const run = new Run(id, `http://127.0.0.1:${PORT}${path}`, steps);
  const result = await workflows[path.slice(1)](run, JSON.parse(payload || '{}'));
  await ask('DELETE', `/v2/workflows/runs/${id}?cancel=false`, result);
  console.log(id, 'returned', result);
}

function tellFailure(headers, body) {
  const { status, body: said } = JSON.parse(body);
  console.log(protocol(headers, 'workflow-runid'), 'failed with', status, Buffer.from(said, 'base64').toString());
  return { result: 'noted' };
}

async function answerTo({ url, headers }, body) {
  try {
    if (url === '/open') isStockOpen = true;
    else if (protocol(headers, 'workflow-is-failure') === 'true') return [200, tellFailure(headers, body)];
    else await deliver(url, headers, body);
    return [200, {}];
  } catch (error) {
    const { name, message } = error;
    if (error instanceof Done) return [200, {}];
    if (error instanceof Refused) return [489, { name, message }, { 'Svc-NonRetryable-Error': 'true' }];
    return [500, { error: name, message }];
  }
}

createServer(async (request, response) => {
  const [status, value, headers] = await answerTo(request, await text(request));
  response.writeHead(status, { ...ANSWER, ...headers }).end(JSON.stringify(value));
}).listen(PORT, '127.0.0.1', () => console.log(`workflows at http://127.0.0.1:${PORT}`));
