/** Runs of the published client whose server is killed while each of them waits for another event. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { kindOf } from '../../support/workflow-app.js';
import { type Flow, RUN_TIMEOUT_MS, WorkflowStand } from '../../support/workflow-stand.js';

const SOON = { timeoutMs: RUN_TIMEOUT_MS, everyMs: 50 };

interface Interrupted {
  readonly id: string;
  /** Called after the restart: the input that the run needs to continue. */
  readonly goOn: () => Promise<unknown>;
  readonly result: unknown;
  /** Requests to the endpoint: without an interruption, and with repeated requests. */
  readonly posts: readonly [least: number, most: number];
}

const ARRANGEMENTS = [
  { title: 'with the entries in each delivery', env: {} },
  { title: 'with entries that are fetched', env: { MILLRACE_WORKFLOW_INLINE_BYTES: '1' } },
];
/** All servers are killed at about the same time. */
const preparations: (() => Promise<void>)[] = [];

describe('runs through a SIGKILL and a restart', function () {
  this.timeout(120_000);
  before(() => Promise.all(preparations.map((prepare) => prepare())));

  for (const { title, env } of ARRANGEMENTS)
    describe(title, () => {
      let stand: WorkflowStand;
      const interrupted = new Map<string, Interrupted>();
      const calls = new Map<string, number>();

      const nothing = async () => {};
      const count = (name: string) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return name;
      };
      const registered = (eventId: string, length = 1) =>
        eventually(async () => expect(await stand.client.getWaiters({ eventId })).to.have.length(length), SOON);

      /** Starts a run and resolves when it waits for the named event. The server is then killed. */
      const waits: Readonly<Record<string, () => Promise<Interrupted>>> = {
        'a sleep': async () => {
          const id = await stand.trigger(
            stand.serve('sleep', async (context) => {
              await context.run('one', () => count('before the sleep'));
              await context.sleep('sleep', 4);
              return context.run('two', () => count('after the sleep'));
            }),
            { body: 'p', headers: { 'X-Own': 'own' } },
          );
          await stand.arrived(id, 2);
          return { id, goOn: nothing, result: 'after the sleep', posts: [4, 5] };
        },
        'a delayed start': async () => {
          const id = await stand.trigger(
            stand.serve('delayed', (context) => context.run('one', () => context.requestPayload)),
            { body: 'payload', delay: 4 },
          );
          return { id, goOn: nothing, result: 'payload', posts: [2, 3] };
        },
        'an event': async () => {
          const eventId = stand.app.name('event');
          const id = await stand.trigger(
            stand.serve('event', (context) => context.waitForEvent('wait', eventId, { timeout: '60s' })),
          );
          await registered(eventId);
          const goOn = async () => {
            await registered(eventId);
            expect(await stand.client.notify({ eventId, eventData: 'd' })).to.have.length(1);
          };
          return { id, goOn, result: { eventData: 'd', timeout: false }, posts: [2, 3] };
        },
        'the timeout of a wait': async () => {
          const eventId = stand.app.name('event');
          const id = await stand.trigger(
            stand.serve('timeout', (context) => context.waitForEvent('wait', eventId, { timeout: 4 })),
          );
          await registered(eventId);
          return { id, goOn: nothing, result: { eventData: undefined, timeout: true }, posts: [2, 3] };
        },
        'a stored event': async () => {
          const eventId = stand.app.name('event');
          const id = await stand.trigger(
            stand.serve('kept', async (context) => {
              await context.sleep('sleep', 4);
              return context.waitForEvent('wait', eventId, { timeout: '60s' });
            }),
          );
          await stand.client.notify({ eventId, eventData: 'early', workflowRunId: id });
          return { id, goOn: nothing, result: { eventData: 'early', timeout: false }, posts: [3, 4] };
        },
        'a webhook': async () => {
          const hooks: string[] = [];
          const id = await stand.trigger(
            stand.serve('webhook', async (context) => {
              const webhook = await context.createWebhook('create');
              await context.run('told', () => void hooks.push(webhook.webhookUrl));
              const { request } = await context.waitForWebhook('wait', webhook, '60s');
              return request?.text();
            }),
          );
          await eventually(() => registered(new URL(hooks[0] as string).pathname.split('/').at(-1) as string), SOON);
          return {
            id,
            goOn: () => fetch(hooks[0] as string, { method: 'POST', body: 'b' }),
            result: 'b',
            posts: [4, 5],
          };
        },
        'the answer to a call': async () => {
          const path = stand.sink.path('held');
          const url = stand.sink.hold(path);
          const id = await stand.trigger(
            stand.serve('call', async (context) => (await context.call('call', { url, retries: 1 })).status),
          );
          await stand.sink.arrived(path);
          return { id, goOn: async () => stand.sink.release(path), result: 200, posts: [3, 4] };
        },
        'the members of a group': async () => {
          const eventId = stand.app.name('event');
          const path = stand.sink.path('held');
          const called = stand.sink.hold(path);
          const id = await stand.trigger(
            stand.serve('group', async (context) => {
              const [run, , wait, call] = await Promise.all([
                context.run('run', () => count('of the group')),
                context.sleep('sleep', 4),
                context.waitForEvent('wait', eventId, { timeout: '60s' }),
                context.call('call', { url: called }),
              ]);
              return [run, wait.eventData, call.status];
            }),
          );
          await registered(eventId);
          await stand.sink.arrived(path);
          const goOn = async () => {
            stand.sink.release(path);
            await stand.client.notify({ eventId, eventData: 'd', workflowRunId: id });
          };
          return { id, goOn, result: ['of the group', 'd', 200], posts: [10, 14] };
        },
        'a child': async () => {
          const eventId = stand.app.name('child');
          const child = stand.invokable((context) => context.waitForEvent('wait', eventId, { timeout: '60s' }));
          const parent = stand.invokable(
            async (context) => (await context.invoke('invoke', { workflow: child, body: 'b' })).body,
          );
          const id = await stand.trigger(stand.serveMany('invoke', { parent, child }).parent);
          await registered(eventId);
          const goOn = () => stand.client.notify({ eventId, eventData: 'd' });
          return { id, goOn, result: { eventData: 'd', timeout: false }, posts: [2, 3] };
        },
        'a retry': async () => {
          let isFirst = true;
          const url = stand.serve('retry', (context) =>
            context.run('one', () => {
              const wasFirst = isFirst;
              isFirst = false;
              if (wasFirst) throw new Error('not yet');
              return context.retried;
            }),
          );
          const id = await stand.trigger(url, { retries: 1, retryDelay: '4000' });
          await eventually(() => expect(stand.posts(id)[0]?.status).to.equal(500), SOON);
          return { id, goOn: nothing, result: 1, posts: [3, 4] };
        },
        'a step in progress': async () => {
          const url = stand.serve('work', (context) => context.run('one', () => count('at work')));
          stand.app.hold(url);
          const id = await stand.trigger(url, { retries: 1, retryDelay: '10' });
          await stand.arrived(id, 1);
          return { id, goOn: async () => stand.app.release(url), result: 'at work', posts: [3, 4] };
        },
      };

      const failures: unknown[] = [];
      let failed: string;
      let killedAtMs: number;
      const failing: Flow = (context) =>
        context.run('fails', () => {
          throw new Error('it failed');
        });

      preparations.push(async () => {
        stand = await WorkflowStand.start(env);
        const url = stand.serve('failing', failing, {
          failureFunction: async ({ context, failResponse }) => {
            failures.push([context.requestPayload, context.headers.get('x-own'), failResponse]);
          },
        });
        const isTold = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
          headers['upstash-workflow-is-failure'] === 'true';
        stand.app.fault(url, { does: 'refuse', times: 1, of: isTold });
        failed = await stand.trigger(url, {
          body: 'payload',
          headers: { 'X-Own': 'own' },
          retries: 1,
          retryDelay: 'retried * 0 + 1500',
        });
        await Promise.all(
          Object.entries(waits).map(async ([name, begin]) => {
            interrupted.set(name, await begin());
          }),
        );
        await eventually(() => expect(stand.posts(failed).map(kindOf)).to.include('failure'), SOON);
        killedAtMs = Date.now();
        await stand.queue.restart('SIGKILL');
        await Promise.all([...interrupted.values()].map(({ goOn }) => goOn()));
      });
      after(() => stand?.stop());

      for (const name of Object.keys(waits)) {
        it(`that wait for ${name} continue after the restart`, async () => {
          const { id, result, posts } = interrupted.get(name) as Interrupted;
          expect((await stand.ended(id)).result, stand.toldOf(id)).to.deep.equal(result);
          expect(stand.posts(id).length, stand.toldOf(id)).to.be.within(...posts);
          expect(stand.posts(id).at(-1)?.atMs, 'the last request').to.be.above(killedAtMs);
          await stand.logOf(id, 'RUN_SUCCESS');
        });
      }

      it('with a pending failure function call it after the restart', async () => {
        await eventually(() => expect(failures).to.deep.equal([['payload', 'own', 'it failed']]), SOON);
        await stand.log(failed, (run) => {
          expect(run.workflowState).to.equal('RUN_FAILED');
          expect(run.failureFunction?.state).to.equal('CALLBACK_SUCCESS');
        });
        expect((await stand.client.dlq.list({ filter: { workflowRunId: failed } })).messages).to.have.length(1);
      });

      it('do not repeat completed steps', () => {
        expect(Object.fromEntries(calls)).to.deep.include({
          'before the sleep': 1,
          'after the sleep': 1,
          'of the group': 1,
        });
      });
    });
});
