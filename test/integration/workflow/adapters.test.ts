/** Adapters of the published client for platforms, and the deliveries that they receive. */
import { createWorkflow, serve as serveWorker, serveMany as serveWorkers } from '@upstash/workflow/cloudflare';
import { serve as serveEvents } from '@upstash/workflow/h3';
import { serve as serveContexts } from '@upstash/workflow/hono';
import { serve as servePage, servePagesRouter } from '@upstash/workflow/nextjs';
import { expect } from 'chai';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { startTogether } from '../../support/together.js';
import { entriesOf } from '../../support/workflow-app.js';
import { type Flow, WorkflowStand } from '../../support/workflow-stand.js';

for (const [arrangement, env] of [
  ['with their entries', {}],
  ['with fetched entries', { MILLRACE_WORKFLOW_INLINE_BYTES: '1' }],
] as const)
  describe(`platform adapters, with deliveries ${arrangement}`, function () {
    this.timeout(120_000);
    const stand = standOfAllTests(() => WorkflowStand.start(env));
    let bindings: Record<string, string>;
    before(async () => {
      const { current, next } = (await stand.queue.get('/v2/keys')).json as { current: string; next: string };
      bindings = {
        QSTASH_URL: stand.queue.url,
        QSTASH_TOKEN: QUEUE_TOKEN,
        QSTASH_CURRENT_SIGNING_KEY: current,
        QSTASH_NEXT_SIGNING_KEY: next,
      };
    });

    const together = startTogether();
    const program = (): Flow => {
      const called = stand.sink.url(stand.sink.path('called'));
      return async (context) => {
        const payload = await context.run('one', () => context.requestPayload);
        const [{ status }] = await Promise.all([context.call('call', { url: called }), context.run('two', () => {})]);
        await context.sleep('sleep', 1);
        return [payload, status, context.headers.get('x-own')];
      };
    };
    const expectDone = async (url: string) => {
      const id = await stand.trigger(url, { body: { ü: 1 }, headers: { 'X-Own': 'own' } });
      const { workflowRunResponse } = await stand.logOf(id, 'RUN_SUCCESS');
      expect(JSON.parse(workflowRunResponse as string)).to.deep.equal([{ ü: 1 }, 200, 'own']);
      expect(stand.posts(id)).to.have.length(1 + 1 + 5 + 1);
    };

    together('a worker that gets its settings with each request', async () => {
      const { fetch } = serveWorker(program());
      await expectDone(stand.app.route(stand.app.name('worker'), (request) => fetch(request, bindings)));
    });

    together('a page function', async () => {
      const { fetch } = serveWorker(program());
      await expectDone(stand.app.route(stand.app.name('page'), (request) => fetch({ request, env: bindings })));
    });

    together('workers that invoke each other', async () => {
      const child = createWorkflow<unknown, unknown>((context) => context.run('one', () => context.requestPayload));
      const parent = createWorkflow<unknown, unknown>(async (context) => {
        const { body } = await context.invoke('invoke', { workflow: child, body: { of: 'the parent' } });
        return body;
      });
      const { fetch } = serveWorkers({ parent, child });
      const url = stand.app.route(stand.app.name('workers'), (request) => fetch(request, bindings));
      const id = await stand.trigger(`${url}/parent`);
      expect((await stand.logOf(id, 'RUN_SUCCESS')).workflowRunResponse).to.equal('{"of":"the parent"}');
    });

    together('a route of an application', async () => {
      const { POST } = servePage(program(), stand.options);
      await expectDone(stand.app.route(stand.app.name('route'), POST));
    });

    together('a page whose body is parsed before', async () => {
      const { handler } = servePagesRouter(program(), stand.options);
      await expectDone(
        stand.app.route(stand.app.name('pages'), (request) => withPages(handler as PagesHandler, request)),
      );
    });

    together('an event handler of a server', async () => {
      const { handler } = serveEvents(program(), stand.options);
      await expectDone(stand.app.route(stand.app.name('events'), (request) => withEvents(handler, request)));
    });

    together('a handler with a context', async () => {
      const handler = serveContexts(program());
      const served = handler as unknown as (context: object) => Promise<Response>;
      const url = stand.app.route(stand.app.name('context'), (raw) => served({ req: { raw }, env: bindings }));
      await expectDone(url);
    });

    it('receive the entries as arranged', () => {
      const isFetched = 'MILLRACE_WORKFLOW_INLINE_BYTES' in env;
      const steps = stand.app.posts.filter(({ headers }) => headers['upstash-workflow-sdk-version'] === '1');
      for (const post of steps) {
        if (isFetched) expect(post.body).to.equal('');
        else expect(entriesOf(post)[0]?.callType).to.equal('step');
      }
    });
  });

type PagesHandler = (request: object, response: object) => Promise<void>;

/** Acts as the framework does for an API page: a JSON body is parsed, and the answer is written step by step. */
async function withPages(handler: PagesHandler, request: Request): Promise<Response> {
  const { pathname, host } = new URL(request.url);
  const text = await request.text();
  const isJson = request.headers.get('content-type')?.startsWith('application/json') && text !== '';
  const headers = new Headers();
  let status = 200;
  let body = '';
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    status: (code: number) => {
      status = code;
      return response;
    },
    json: (value: unknown) => {
      body = JSON.stringify(value);
    },
  };
  await handler(
    {
      method: request.method,
      url: pathname,
      headers: { host, 'x-forwarded-proto': 'http' },
      headersDistinct: Object.fromEntries([...request.headers].map(([name, value]) => [name, [value]])),
      body: isJson ? JSON.parse(text) : text,
    },
    response,
  );
  return new Response(body, { status, headers });
}

/** Acts as a server of event handlers does: it passes the platform's request after its body was read. */
async function withEvents(handler: (event: never) => Promise<Response>, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const headers = { ...Object.fromEntries(request.headers), 'x-forwarded-proto': 'http' };
  const rawBody = await request.text();
  const { method } = request;
  return handler({ method, path: pathname, node: { req: { method, headers, rawBody } } } as never);
}
