/**
 * The OpenAPI document and the endpoints that it describes: every operation is called successfully, and every answer
 * matches its schema. test/contract does the same for the management API.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { misfits } from '../../support/json-schema.js';
import { endEverything, TOKEN } from '../../support/millrace-process.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { WorkflowStand } from '../../support/workflow-stand.js';

type Schema = Record<string, unknown>;
interface MediaType {
  readonly schema: Schema;
  readonly 'x-events'?: Record<string, Schema>;
}
interface Described {
  readonly tags?: readonly string[];
  readonly responses: Record<string, { readonly content?: Record<string, MediaType> }>;
}

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';

/** Operations that a running step, a failure function or a webhook calls: test/integration/workflow covers them. */
const BY_RUNS = [
  'POST /v2/wait/{event}',
  'POST /v2/workflows/dlq/callback/{id}',
  'DELETE /v2/workflows/dlq/callback/{id}',
  'POST /v2/workflows/hooks/{user}/{run}/{event}',
];

describe('the OpenAPI document describes every answer', function () {
  this.timeout(180_000);
  let stand: WorkflowStand;
  let document: { paths: Record<string, Record<string, Described>>; components: { schemas: Record<string, Schema> } };
  const called = new Set<string>();

  before(async () => {
    stand = await WorkflowStand.start({ MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY });
    const response = await fetch(`${stand.queue.millrace.addresses.mgmt}/openapi.json`);
    document = (await response.json()) as typeof document;
  });
  after(async () => {
    await stand.stop();
    await endEverything();
  });

  /** @param name `GET /v2/queues/{name}`, as it is documented. @returns the answer's JSON */
  async function call(name: string, url: string, token: string, { headers, body }: CallOptions = {}) {
    const [method = '', path = ''] = name.split(' ');
    const described = document.paths[path]?.[method.toLowerCase()];
    if (described === undefined) throw new Error(`${name} is not in the document`);
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const type = response.headers.get('content-type') ?? '';
    const isOther = !type.startsWith('application/json');
    const text = isOther ? '' : await response.text();
    expect(response.status, `${name} ${text}`).to.be.within(200, 299);
    const { content } = described.responses[response.status] ?? { content: undefined };
    expect(content, name).to.not.equal(undefined);
    if (isOther) {
      expect(Object.keys(content ?? {}), name).to.deep.equal([type]);
      await firstEventFits(name, response, content?.[type]?.['x-events']);
    }
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    const schema = content?.['application/json']?.schema;
    if (!isOther && method !== 'HEAD') {
      expect(misfits(json, schema ?? {}, document.components.schemas), `${name} ${text}`).to.deep.equal([]);
    }
    called.add(name);
    return json as never;
  }

  async function firstEventFits(name: string, { body }: Response, described?: Record<string, Schema>) {
    // The answer to HEAD has none.
    if (body === null) return;
    const reader = body.getReader();
    let text = '';
    while (described !== undefined && !/^data: .*\n/m.test(text)) {
      const { value, done } = await reader.read();
      expect(done, `${name} ${text}`).to.equal(false);
      text += Buffer.from(value as Uint8Array).toString('utf8');
    }
    await reader.cancel();
    const [, event, data] = /^event: (\w+)\ndata: (.*)\n/m.exec(text) ?? [];
    if (event === undefined) return;
    const schema = described?.[event];
    expect(schema, `${name} ${event}`).to.not.equal(undefined);
    expect(misfits(JSON.parse(data as string), schema ?? {}, document.components.schemas), text).to.deep.equal([]);
  }

  const never = (tag: string) =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { tags = [] }]) => tags.includes(tag))
        .map(([method]) => `${method.toUpperCase()} ${path}`)
        .filter((name) => !called.has(name)),
    );

  it('of the key-value endpoint', async () => {
    const { kvUrl } = stand.queue.millrace;
    const kv = (name: string, target: string, options?: CallOptions) => call(name, kvUrl + target, TOKEN, options);
    const path = '/{command}/{arguments}';
    await kv('GET /{command}', '/ping');
    await kv('HEAD /{command}', '/ping');
    for (const method of ['POST', 'PUT']) await kv(`${method} /{command}`, '/echo', { body: 'text' });
    await kv('POST /', '/', { body: ['SET', 'a', '1'] });
    await kv('POST /', '/', { body: ['LRANGE', 'none', 0, -1] });
    await kv(`GET ${path}`, '/get/a');
    await kv(`HEAD ${path}`, '/get/a');
    await kv(`PUT ${path}`, '/incr/a');
    await kv(`POST ${path}`, '/append/a', { body: 'text' });
    const commands = [
      ['SET', 'b', '1'],
      ['LPUSH', 'b', '2'],
      ['GET', 'none'],
    ];
    await kv('POST /pipeline', '/pipeline', { body: commands });
    await kv('POST /multi-exec', '/multi-exec', { body: commands });
    const headers = { accept: 'text/event-stream' };
    await kv('POST /monitor', '/monitor', { headers });
    await kv('POST /subscribe/{channel}', '/subscribe/news', { headers });
    await kv('POST /psubscribe/{pattern}', '/psubscribe/n*', { headers });
    await kv('POST /publish/{channel}/{message}', '/publish/news/hello');
    expect(never('kv')).to.deep.equal([]);
  });

  it('of the queue endpoint', async () => {
    const { queue } = stand;
    const token = QUEUE_TOKEN;
    const q = (name: string, target = name.split(' ')[1] as string, options?: CallOptions) =>
      call(name, queue.url + target, token, options);
    const sink = (path: string) => queue.sink.url(path);
    const fails = { headers: { 'svc-retries': '0' } };
    queue.sink.answer('/fails', { status: 500 });

    await q('POST /v2/topics/{name}/endpoints', '/v2/topics/g/endpoints', {
      body: { endpoints: [{ url: sink('/g') }] },
    });
    await q('GET /v2/topics');
    await q('GET /v2/topics/{name}', '/v2/topics/g');
    await q('PATCH /v2/topics/{name}', '/v2/topics/g', { body: { headers: { 'Svc-Retries': '1' } } });
    await q('POST /v2/publish/{destination}', '/v2/publish/g');
    await q('DELETE /v2/topics/{name}/endpoints', '/v2/topics/g/endpoints', {
      body: { endpoints: [{ url: sink('/g') }] },
    });
    await q('POST /v2/topics/{name}/endpoints', '/v2/topics/g/endpoints', {
      body: { endpoints: [{ url: sink('/g') }] },
    });
    await q('DELETE /v2/topics/{name}', '/v2/topics/g');

    await q('POST /v2/queues', '/v2/queues', { body: { queueName: 'line', parallelism: 2 } });
    await q('GET /v2/queues');
    await q('GET /v2/queues/{name}', '/v2/queues/line');
    await q('GET /v2/queues/{name}/backlog', '/v2/queues/line/backlog');
    await q('POST /v2/queues/{name}/pause', '/v2/queues/line/pause');
    await q('POST /v2/queues/{name}/resume', '/v2/queues/line/resume');
    await q('POST /v2/enqueue/{queue}/{destination}', `/v2/enqueue/line/${sink('/a')}`);
    await q('DELETE /v2/queues/{name}', '/v2/queues/line');

    const later = {
      headers: {
        'svc-delay': '1h',
        'svc-flow-control-key': 'k',
        'svc-flow-control-value': 'rate=1',
        'svc-label': 'one',
        'svc-callback': sink('/told'),
        'svc-callback-forward-color': 'red',
        'svc-retry-delay': '1000',
        'svc-timeout': '5s',
      },
      body: 'text',
    };
    const { messageId } = await q('POST /v2/publish/{destination}', `/v2/publish/${sink('/a')}`, later);
    await q('GET /v2/messages/{id}', `/v2/messages/${messageId}`);
    await q('GET /v2/messages/{id}/story', `/v2/messages/${messageId}/story`);
    await q('GET /v2/messages', '/v2/messages?count=1');
    await q('GET /v2/flowControl');
    await q('GET /v2/flowControl/{key}', '/v2/flowControl/k');
    for (const [action, query] of [
      ['pause', ''],
      ['resume', ''],
      ['pin', '?parallelism=2'],
      ['unpin', '?parallelism=true'],
      ['resetRate', ''],
      ['reset', ''],
    ]) {
      await q(`POST /v2/flowControl/{key}/${action}`, `/v2/flowControl/k/${action}${query}`);
    }
    const failing = { url: sink('/stopped') };
    await q('POST /v2/destinations/rules', '/v2/destinations/rules', { body: { failures: 1, messages: 'wait' } });
    await q('POST /v2/destinations/disable', '/v2/destinations/disable', { body: failing });
    await q('GET /v2/destinations');
    await q('POST /v2/destinations/enable', '/v2/destinations/enable', { body: { ...failing, retry: true } });
    await q('DELETE /v2/destinations/rules');
    await q('GET /v2/globalParallelism');
    await q('DELETE /v2/messages/{id}', `/v2/messages/${messageId}`);
    const { messageId: second } = await q('POST /v2/publish/{destination}', `/v2/publish/${sink('/a')}`, later);
    await q('DELETE /v2/messages', `/v2/messages?messageIds=${second}`);
    await q('POST /v2/batch', '/v2/batch', { body: [{ destination: sink('/a') }, { destination: sink('/b') }] });
    await q('GET /v2/logs/counts');
    for (const query of ['', '?groupBy=messageId', `?messageId=${messageId}`, '?state=ERROR']) {
      await q('GET /v2/logs', `/v2/logs${query}`);
      await q('GET /v2/events', `/v2/events${query}`);
    }

    const { scheduleId } = await q('POST /v2/schedules/{id}', `/v2/schedules/${sink('/a')}`, {
      headers: { 'svc-cron': '0 0 1 1 *', 'svc-delay': '1m', 'svc-queue-name': 'line', 'svc-label': 'yearly' },
      body: Buffer.from([0xff, 0x00]).toString('latin1'),
    });
    await q('GET /v2/schedules');
    const made = { patterns: ['no:*'], events: ['set'], destination: sink('/a') };
    const { triggerId } = await q('POST /v2/triggers', undefined, { body: made });
    await q('GET /v2/triggers');
    const trigger = `/v2/triggers/${triggerId}`;
    await q('GET /v2/triggers/{id}', trigger);
    await q('PATCH /v2/triggers/{id}', trigger, { body: { events: ['set', 'del'] } });
    for (const action of ['pause', 'skip', 'resume'])
      await q(`POST /v2/triggers/{id}/${action}`, `${trigger}/${action}`);
    await q('GET /v2/triggers/{id}/feed', `${trigger}/feed`);
    await q('DELETE /v2/triggers/{id}', trigger);
    await applicationsOf(q, sink('/customer'));
    await q('GET /v2/ticks', '/v2/ticks?cron=*/5+*+*+*+*&count=3');
    await q('GET /v2/schedules/{id}', `/v2/schedules/${scheduleId}`);
    for (const method of ['POST', 'PATCH']) {
      await q(`${method} /v2/schedules/{id}/pause`, `/v2/schedules/${scheduleId}/pause`);
      await q(`${method} /v2/schedules/{id}/resume`, `/v2/schedules/${scheduleId}/resume`);
    }
    await q('DELETE /v2/schedules/{id}', `/v2/schedules/${scheduleId}`);

    const failed = [];
    let failedId = '';
    for (let count = 0; count < 4; count += 1) {
      const { messageId: id } = await q('POST /v2/publish/{destination}', `/v2/publish/${sink('/fails')}`, fails);
      failed.push((await queue.deadLetterOf(id)).dlqId);
      failedId = id;
    }
    await q('GET /v2/dlq');
    await q('GET /v2/dlq/counts');
    await q('GET /v2/messages/{id}/story', `/v2/messages/${failedId}/story`);
    await q('GET /v2/dlq/{id}', `/v2/dlq/${failed[0]}`);
    await q('POST /v2/dlq/retry/{id}', `/v2/dlq/retry/${failed[0]}`);
    await q('POST /v2/dlq/retry', `/v2/dlq/retry?dlqIds=${failed[1]}`);
    await q('DELETE /v2/dlq/{id}', `/v2/dlq/${failed[2]}`);
    await q('DELETE /v2/dlq', `/v2/dlq?dlqIds=${failed[3]}`);

    await q('GET /v2/keys');
    await q('POST /v2/keys/rotate');
    const notOfWorkflows = never('queue').filter((name) => !/workflows|wait|notify|trigger/.test(name));
    expect(notOfWorkflows).to.deep.equal([]);
  });

  async function applicationsOf(
    q: (name: string, target?: string, options?: CallOptions) => Promise<Record<string, unknown>>,
    url: string,
  ): Promise<void> {
    const type = { name: 'a.b', schema: { type: 'object' }, examples: [{}] };
    await q('POST /v2/event-types', undefined, { body: type });
    await q('GET /v2/event-types', '/v2/event-types?count=1');
    await q('GET /v2/event-types/{name}', '/v2/event-types/a.b');
    await q('PATCH /v2/event-types/{name}', '/v2/event-types/a.b', { body: { description: 'one' } });
    const { id } = await q('POST /v2/apps', undefined, { body: { name: 'one', rate: 9, uid: 'u1' } });
    await q('GET /v2/apps');
    await q('GET /v2/apps/{id}', '/v2/apps/u1');
    await q('PATCH /v2/apps/{id}', `/v2/apps/${id}`, { body: { metadata: { plan: 'gold' } } });
    const made = { url, filter: 'total > 1', headers: { 'X-Key': 'a' } };
    const { id: endpoint } = await q('POST /v2/apps/{id}/endpoints', `/v2/apps/${id}/endpoints`, { body: made });
    const at = `/v2/apps/${id}/endpoints/${endpoint}`;
    await q('GET /v2/apps/{id}/endpoints', `/v2/apps/${id}/endpoints`);
    await q('GET /v2/apps/{id}/endpoints/{endpoint}', at);
    await q('PATCH /v2/apps/{id}/endpoints/{endpoint}', at, { body: { filter: '' } });
    await q('GET /v2/apps/{id}/endpoints/{endpoint}/secrets', `${at}/secrets`);
    await q('POST /v2/apps/{id}/endpoints/{endpoint}/secrets/rotate', `${at}/secrets/rotate`);
    await q('POST /v2/apps/{id}/endpoints/{endpoint}/test', `${at}/test`);
    const event = { eventType: 'a.b', payload: {}, eventId: 'once' };
    for (const _ of [1, 2]) await q('POST /v2/apps/{id}/messages', `/v2/apps/${id}/messages`, { body: event });
    await eventually(async () => {
      const { messages } = await q('GET /v2/apps/{id}/messages', `/v2/apps/${id}/messages`);
      expect(messages).to.have.length(2);
    });
    await q('POST /v2/apps/{id}/replay', `/v2/apps/${id}/replay`, { body: { which: 'all', from: 1 } });
    await q('GET /v2/apps/{id}/event-types', `/v2/apps/${id}/event-types`);
    await q('POST /v2/apps/{id}/endpoints/{endpoint}/enable', `${at}/enable`, { body: { replay: true } });
    await q('POST /v2/apps/{id}/portal', `/v2/apps/${id}/portal`);
    await q('POST /v2/apps/{id}/portal/revoke', `/v2/apps/${id}/portal/revoke`);
    await q('GET /v2/apps/{id}/portal', `/v2/apps/${id}/portal`);
    await q('DELETE /v2/apps/{id}/endpoints/{endpoint}', at);
    await q('DELETE /v2/apps/{id}', `/v2/apps/${id}`);
    await q('DELETE /v2/event-types/{name}', '/v2/event-types/a.b');
  }

  it('of search indexes', async () => {
    const { mgmt } = stand.queue.millrace.addresses;
    const made = await fetch(`${mgmt}/v2/search`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: JSON.stringify({ name: 'papers', region: 'eu-west-1', type: 'payg' }),
    });
    const { id, token } = (await made.json()) as { id: string; token: string };
    const s = (method: string, command: string, options?: CallOptions, name = 'news') => {
      const isNamed = !['rename-namespace', 'list-namespaces', 'info'].includes(command);
      const path = `/search/{id}/${command}${isNamed ? '/{index}' : ''}`;
      return call(`${method} ${path}`, mgmt + path.replace('{id}', id).replace('{index}', name), token, options);
    };
    // Every edge must know the index when the answer arrives, or this request would be refused.
    const papers = [1, 2, 3].map((number) => ({
      id: `p${number}`,
      content: { text: `paper ${number}` },
      metadata: { number },
    }));
    await s('POST', 'upsert-data', { body: papers });
    await s('POST', 'upsert-data', { body: { id: 4, content: { text: 'paper 4' }, vector: [0.6, 0.8] } });
    await eventually(async () => {
      const { result } = await s('POST', 'info', { body: [] });
      expect((result as { pendingVectorCount: number }).pendingVectorCount).to.equal(0);
    });
    await s('GET', 'info');
    await s('POST', 'search', { body: { query: 'paper', topK: 2, includeData: true, includeMetadata: true } });
    await s('POST', 'fetch', { body: { ids: ['p1', 'none'], includeData: true, includeMetadata: true } });
    await s('POST', 'fetch', { body: { ids: [4], includeVectors: true } });
    await s('POST', 'range', { body: { cursor: '0', limit: 2, includeData: true } });
    await s('POST', 'list-namespaces', { body: [] });
    await s('GET', 'list-namespaces');
    await s('POST', 'delete', { body: { ids: ['p1'] } });
    await s('DELETE', 'delete', { body: { ids: ['p2'] } });
    await s('POST', 'rename-namespace', { body: { namespace: 'news', newNamespace: 'olds' } });
    await s('POST', 'reset', { body: [] }, 'olds');
    await s('DELETE', 'reset', {}, 'olds');
    await s('POST', 'delete-namespace', { body: [] }, 'olds');
    await s('POST', 'upsert-data', { body: papers[0] }, 'olds');
    await s('DELETE', 'delete-namespace', {}, 'olds');
    await s('GET', 'range');
    await call('POST /search/{id}/reset', `${mgmt}/search/${id}/reset?all`, token, { body: [] });
    await call('DELETE /search/{id}/reset', `${mgmt}/search/${id}/reset?all`, token);
    // Its ids are in the body, which programs of this language do not send with GET.
    expect(never('search')).to.deep.equal(['GET /search/{id}/fetch/{index}']);
  });

  it('of indexes of vectors', async () => {
    const { mgmt } = stand.queue.millrace.addresses;
    const made = await fetch(`${mgmt}/v2/vector/index`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: JSON.stringify({ name: 'films', region: 'eu-west-1', dimension_count: 384, embedding_model: 'HASHING' }),
    });
    const { id, token } = (await made.json()) as { id: string; token: string };
    const WITHOUT_NAMESPACE = /^(rename-namespace|list-namespaces|info|resumable-query-(next|end))$/;
    const v = (method: string, command: string, options?: CallOptions, name = 'news') => {
      const path = `/vector/{id}/${command}${WITHOUT_NAMESPACE.test(command) ? '' : '/{namespace}'}`;
      return call(`${method} ${path}`, mgmt + path.replace('{id}', id).replace('{namespace}', name), token, options);
    };
    const vector = Array.from({ length: 384 }, (_, at) => at / 384);
    const shown = { includeVectors: true, includeMetadata: true, includeData: true };
    await v('POST', 'upsert', {
      body: [
        { id: 'a', vector, metadata: { year: 1927 } },
        { id: 2, vector },
      ],
    });
    await v('POST', 'upsert-data', { body: { id: 'b', data: 'A city of the future.' } });
    await eventually(async () => {
      const { result } = await v('POST', 'info', { body: [] });
      expect((result as { pendingVectorCount: number }).pendingVectorCount).to.equal(0);
    });
    await v('GET', 'info');
    await v('POST', 'update', { body: { id: 'a', metadata: { seen: true }, metadataUpdateMode: 'PATCH' } });
    await v('POST', 'query', { body: { vector, topK: 2, ...shown } });
    await v('POST', 'query-data', { body: [{ data: 'city' }, { data: 'future', ...shown }] });
    await v('POST', 'resumable-query', { body: { vector, topK: 1 } });
    const begun: { result: { uuid: string } } = await v('POST', 'resumable-query-data', { body: { data: 'city' } });
    const { uuid } = begun.result;
    await v('POST', 'resumable-query-next', { body: { uuid, additionalK: 5 } });
    await v('POST', 'resumable-query-end', { body: { uuid } });
    await v('POST', 'fetch', { body: { ids: ['a', 'none'], ...shown } });
    await v('POST', 'range', { body: { cursor: 0, limit: 2, ...shown } });
    await v('GET', 'range');
    await v('GET', 'random');
    await v('POST', 'random', { body: [] });
    await v('POST', 'list-namespaces', { body: [] });
    await v('GET', 'list-namespaces');
    await v('POST', 'delete', { body: { ids: ['a'] } });
    await v('DELETE', 'delete', { body: { ids: ['b'] } });
    await v('POST', 'rename-namespace', { body: { namespace: 'news', newNamespace: 'olds' } });
    await v('POST', 'reset', { body: [] }, 'olds');
    await v('DELETE', 'reset', {}, 'olds');
    await v('POST', 'delete-namespace', { body: [] }, 'olds');
    await v('POST', 'upsert', { body: { id: 'a', vector } }, 'olds');
    await v('DELETE', 'delete-namespace', {}, 'olds');
    // Its ids are in the body, which programs of this language do not send with GET.
    expect(never('vector')).to.deep.equal(['GET /vector/{id}/fetch/{namespace}']);
  });

  it('of workflows', async () => {
    const { queue } = stand;
    const token = QUEUE_TOKEN;
    const q = (name: string, target = name.split(' ')[1] as string, options?: CallOptions) =>
      call(name, queue.url + target, token, options);
    const waits = stand.serve('waits', async (context) => {
      await context.waitForEvent('news', 'paper', { timeout: '1h' });
    });
    const breaks = stand.serve('breaks', async (context) => {
      await context.run('work', () => {
        throw new Error('out of order');
      });
    });
    // The published client serves these runs, and reads only headers in its own spelling.
    const headers = { 'Upstash-Retries': '0' };

    await q('POST /v2/trigger/{destination}', `/v2/trigger/${waits}`, { headers });
    const runs = await q('POST /v2/batch/trigger', '/v2/batch/trigger', { body: [{ destination: waits, headers }] });
    const { workflowRunId } = (runs as { workflowRunId: string }[])[0] as { workflowRunId: string };
    await eventually(async () => {
      expect((await q('GET /v2/waiters/{event}', '/v2/waiters/paper')) as unknown[]).to.have.length(2);
    });
    await q('GET /v2/waiters');
    await q('GET /v2/workflows/runs/{id}', `/v2/workflows/runs/${workflowRunId}`);
    await q('DELETE /v2/workflows/runs/{id}', `/v2/workflows/runs/${workflowRunId}`);
    await q('POST /v2/notify/{event}', '/v2/notify/paper', { body: '"today"' });
    await q('DELETE /v2/workflows/runs', '/v2/workflows/runs', { body: { workflowUrl: 'https://nobody.example' } });

    const dlqIds: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      const run = await stand.trigger(breaks);
      await stand.logOf(run, 'RUN_FAILED');
      await eventually(async () => {
        const { messages } = (await q('GET /v2/workflows/dlq', `/v2/workflows/dlq?workflowRunId=${run}`)) as {
          messages: { dlqId: string }[];
        };
        expect(messages).to.have.length(1);
        dlqIds.push((messages[0] as { dlqId: string }).dlqId);
      });
    }
    const [a, b, c, d, e, f, g] = dlqIds;
    await q('GET /v2/workflows/dlq/counts');
    await q('GET /v2/workflows/dlq/{id}', `/v2/workflows/dlq/${a}`);
    await q('GET /v2/dlq', '/v2/dlq?source=workflow');
    await q('GET /v2/workflows/counts');
    await q('GET /v2/workflows/logs');
    await q('GET /v2/workflows/events');
    await q('GET /v2/workflows/events', '/v2/workflows/events?groupBy=workflowRunId');
    const again = { fromStep: 0, input: '"again"' };
    await q('POST /v2/workflows/runs/{id}/rerun', `/v2/workflows/runs/${workflowRunId}/rerun`, { body: again });
    await q('POST /v2/workflows/runs/rerun', '/v2/workflows/runs/rerun', { body: { ...again, workflowRunId } });
    const checked = { url: breaks, workflowRunId };
    await q('POST /v2/workflows/check', '/v2/workflows/check', { body: checked });
    await q('POST /v2/workflows/dlq/resume', `/v2/workflows/dlq/resume?dlqIds=${a}`);
    await q('POST /v2/workflows/dlq/resume/{id}', `/v2/workflows/dlq/resume/${b}`);
    await q('POST /v2/workflows/dlq/restart', `/v2/workflows/dlq/restart?dlqIds=${c}`);
    await q('POST /v2/workflows/dlq/restart/{id}', `/v2/workflows/dlq/restart/${d}`);
    await q('DELETE /v2/workflows/dlq/{id}', `/v2/workflows/dlq/${e}`);
    await q('DELETE /v2/workflows/dlq', `/v2/workflows/dlq?dlqIds=${f}`);
    await q('DELETE /v2/workflows/dlq/delete/{id}', `/v2/workflows/dlq/delete/${g}`);
    expect(never('queue')).to.deep.equal(BY_RUNS);
  });

  it("of the operators' API, the scrape endpoint and the health checks", async () => {
    const { mgmt } = stand.queue.millrace.addresses;
    const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
    const manage = async (method: string, path: string) =>
      (await fetch(mgmt + path, { method, headers: { authorization } })).json() as Promise<Record<string, string>[]>;
    const [database] = await manage('GET', '/v2/kv/databases');
    const [queue] = await manage('GET', '/v2/msgq/users');
    const ids: Record<string, string | undefined> = { databases: database?.database_id, queues: queue?.id };
    const a = async (method: string, path: string, token: string, query = '', headers = {}) => {
      const [, kind = ''] = path.split('/');
      const target = `/v2/admin${path.replace('{id}', ids[kind] ?? 'messages')}${query}`;
      return call(`${method} /v2/admin${path}`, mgmt + target, token, { headers });
    };
    const { session } = (await a('POST', '/sessions', '', '', { authorization })) as { session: string };
    const at = new Date().toISOString();
    await a('GET', '/session', session);
    await a('GET', '/databases/{id}/keys', session);
    await a('GET', '/databases/{id}/folders', session);
    await a('GET', '/databases/{id}/timeline', session, '?limit=2');
    await a('GET', '/databases/{id}/state', session, `?at=${at}&values=true`);
    await a('GET', '/databases/{id}/diff', session, `?from=${at}&to=${at}`);
    await a('GET', '/databases/{id}/verify', session);
    await a('GET', '/databases/{id}/statistics', session);
    await fetch(`${mgmt}/v2/kv/create-backup/${ids.databases}`, {
      method: 'POST',
      headers: { authorization },
      body: '{"name":"a moment"}',
    });
    const kept = await eventually(async () => {
      const backups = await manage('GET', `/v2/kv/list-backup/${ids.databases}`);
      expect(backups[0]?.state).to.equal('completed');
      return backups[0]?.backup_id;
    });
    await a('GET', '/databases/{id}/backup', session, `?backup_id=${kept}`);
    let isShown = false;
    const monitored = a('GET', '/databases/{id}/monitor', session).then(() => {
      isShown = true;
    });
    await eventually(async () => {
      await stand.queue.millrace.kv.command('GET', 'a');
      expect(isShown).to.equal(true);
    });
    await monitored;
    await a('GET', '/databases/{id}/clients', session);
    await a('GET', '/queues/{id}/timeline', session);
    await a('GET', '/queues/{id}/verify', session);
    await a('GET', '/queues/{id}/logs', session, '?from=0');
    await a('GET', '/queues/{id}/statistics', session);
    await a('GET', '/verify', session);
    await a('GET', '/health', session);
    const { processes, shards } = (await a('GET', '/cluster', session)) as {
      processes: { process: string }[];
      shards: { shard: string }[];
    };
    ids.cluster = processes[0]?.process;
    await a('POST', '/cluster/processes/{id}/undrain', session);
    ids.cluster = shards[0]?.shard;
    await a('POST', '/cluster/shards/{id}/move', session);
    await a('GET', '/cluster/events', session);
    await a('POST', '/read-models/{id}/rebuild', session);
    await a('DELETE', '/session', session);
    // There is only one process, so its drain is refused: no other could own its shards.
    expect(never('operators')).to.deep.equal(['POST /v2/admin/cluster/processes/{id}/drain']);

    const path = '/monitoring/prometheus/federate';
    const shown = (await manage('POST', `/v2/kv/enable-prometheus/${ids.databases}`)) as unknown as Record<
      string,
      string
    >;
    for (const method of ['GET', 'HEAD']) await call(`${method} ${path}`, mgmt + path, shown.prometheus_token ?? '');
    expect(never('monitoring')).to.deep.equal([]);
    const { metrics } = stand.queue.millrace.addresses;
    for (const probe of ['/livez', '/readyz', '/readyz/edge', '/metrics']) {
      await call(`GET ${probe}`, metrics + probe, '');
    }
    expect(never('health')).to.deep.equal([]);
  });
});
