/**
 * With a wire alias every delivery of a message has the alias's header names, whichever spelling its request used: the
 * alias's headers, neutral ones, or none. A run that was triggered without the alias's names is delivered in both
 * spellings. Both published receivers verify every delivery of every route.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import type { Environment } from '../../support/millrace-process.js';
import { PublishedReceivers } from '../../support/published-receivers.js';
import { expectAnswer, type PublishedRecord } from '../../support/queue-answers.js';
import { QueueProcess, SIGNING_KEYS } from '../../support/queue-process.js';
import type { QueueSink, SinkCall } from '../../support/queue-sink.js';

type Headers = Readonly<Record<string, string>>;

/** How a request spells the configuration that it has; `none`: it has none. */
const SPELLINGS = ['Upstash', 'Svc', 'none'] as const;
type Spelling = (typeof SPELLINGS)[number];
const ALIAS = { MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis' };
const IS_WORKFLOW = { headers: { 'Svc-Workflow-Sdk-Version': '1', 'Svc-Workflow-Sdk': 'v1.0.0' } };
const REFUSING = { status: 489, headers: { 'Svc-NonRetryable-Error': 'true' } };

describe('deliveries with an alias have its header names', function () {
  this.timeout(60_000);
  let receivers: PublishedReceivers;
  let queue: QueueProcess;
  let sink: QueueSink;

  before(async function () {
    this.timeout(180_000);
    receivers = await PublishedReceivers.found(SIGNING_KEYS);
    queue = await QueueProcess.start(ALIAS);
    ({ sink } = queue);
  });

  after(() => queue?.stop());

  /** Configuration as the spelling has it: `Retries` → `Upstash-Retries`. */
  function spelled(spelling: Spelling, headers: Headers): Headers {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${spelling}-${name}`, value]));
  }

  /** Runs a test for each given spelling; requests that need a header have no variant without one. */
  function each(
    spellings: readonly Spelling[],
    ask: (spelled: (headers: Headers) => Headers, spelling: Spelling) => Promise<readonly string[]>,
  ): () => Promise<void> {
    return async () => {
      for (const spelling of spellings) {
        const own = (headers: Headers) => (spelling === 'none' ? {} : spelled(spelling, headers));
        for (const path of await ask(own, spelling)) await expectAliased(path);
      }
    };
  }

  const SPELLED = ['Upstash', 'Svc'] as const;

  async function expectAliased(path: string): Promise<void> {
    await eventually(() => expect(sink.calls(path), path).to.not.have.lengthOf(0), { timeoutMs: 30_000 });
    await receivers.expectAliased(sink.calls(path));
  }

  it(
    'when they were published',
    each(SPELLINGS, async (own, spelling) => {
      const plain = sink.path(`plain-${spelling}`);
      await queue.publish(sink.url(plain), { headers: own({ Retries: '0' }), body: 'b' });
      const json = sink.path(`json-${spelling}`);
      const headers = { ...own({ 'Forward-X': '1' }), 'Content-Type': 'application/json' };
      await queue.publish(sink.url(json), { headers, body: { a: 'ü' } });
      return [plain, json];
    }),
  );

  it(
    'when they were enqueued or sent in a batch',
    each(SPELLINGS, async (own, spelling) => {
      const enqueued = sink.path(`enqueued-${spelling}`);
      const headers = own({ Retries: '0' });
      const answer = await queue.post(`/v2/enqueue/aliased/${sink.url(enqueued)}`, { headers, body: 'b' });
      expect(answer.status, answer.text).to.equal(200);
      const [one, two] = [sink.path(`batch-${spelling}`), sink.path(`batch-queue-${spelling}`)];
      const items = [
        { destination: sink.url(one), headers, body: 'b' },
        { destination: sink.url(two), queue: 'aliased', body: 'b' },
      ];
      expectAnswer<PublishedRecord[]>(await queue.post('/v2/batch', { body: items }), 200);
      return [enqueued, one, two];
    }),
  );

  it(
    'when they were sent to a group',
    each(SPELLINGS, async (own, spelling) => {
      const paths = [sink.path(`group-one-${spelling}`), sink.path(`group-two-${spelling}`)];
      const endpoints = paths.map((path) => ({ url: sink.url(path) }));
      const group = `aliased-${spelling}`;
      expect((await queue.post(`/v2/topics/${group}/endpoints`, { body: { endpoints } })).status).to.equal(200);
      const answer = await queue.post(`/v2/publish/${group}`, { headers: own({ Retries: '0' }), body: 'b' });
      expect(answer.status, answer.text).to.equal(200);
      return paths;
    }),
  );

  it(
    'when they are callbacks, whose sourceHeader shows the headers as sent',
    each(SPELLED, async (own, spelling) => {
      const [source, after] = [sink.path(`source-${spelling}`), sink.path(`after-${spelling}`)];
      const forwarded = { [`Forward-${spelling}-Own`]: 'o' };
      await queue.publish(sink.url(source), { headers: own({ Callback: sink.url(after), ...forwarded }), body: 'b' });
      const told = JSON.parse((await sink.call(after)).body) as { sourceHeader: Headers };
      expect(told.sourceHeader).to.deep.include({ 'Upstash-Own': 'o' });
      expect((await sink.call(source)).headers).to.include({ 'upstash-own': 'o' });
      return [source, after];
    }),
  );

  it(
    'when they are failure callbacks, and when they were retried from the DLQ',
    each(SPELLED, async (own, spelling) => {
      const [source, after] = [sink.path(`failing-${spelling}`), sink.path(`failed-${spelling}`)];
      sink.answer(source, REFUSING, { status: 200 });
      const id = await queue.publish(sink.url(source), { headers: own({ 'Failure-Callback': sink.url(after) }) });
      const { dlqId } = await queue.deadLetterOf(id);
      // The request has no alias header, like one of curl.
      const retried = await queue.post(`/v2/dlq/retry/${dlqId}`);
      expect(retried.status, retried.text).to.equal(201);
      await sink.arrived(source, 2);
      return [source, after];
    }),
  );

  it(
    'when they belong to runs that were triggered with them; other runs are delivered in both spellings',
    each(SPELLINGS, async (own, spelling) => {
      const paths = ['run', 'party', 'child', 'failed'].map((word) => sink.path(`${word}-${spelling}`));
      const [endpoint = '', party = '', child = '', failed = ''] = paths;
      sink.answer(endpoint, IS_WORKFLOW);
      const settings = own({ Label: 'l', Retries: '0', 'Failure-Callback': sink.url(failed) });
      const trigger = await queue.post(`/v2/trigger/${sink.url(endpoint)}`, { headers: settings, body: '{"id":1}' });
      const { workflowRunId } = expectAnswer<{ workflowRunId: string }>(trigger, 200);
      await sink.arrived(endpoint, 1);

      // The endpoint's requests need headers: neutral ones, if the trigger had none.
      const word = spelling === 'none' ? 'Svc' : spelling;
      const ofRun = { 'Workflow-RunId': workflowRunId, 'Workflow-Init': 'false', 'Feature-Set': 'WF_TriggerOnConfig' };
      const say = (path: string, headers: Headers, body: object) =>
        queue.publish(sink.url(path), { headers: spelled(word, { ...ofRun, ...headers }), body });
      const stepOf = (stepId: number, stepType: string) => ({ stepId, stepName: stepType, stepType, concurrent: 1 });
      const version = { [`Forward-${word}-Workflow-Sdk-Version`]: '1' };
      await say(endpoint, version, { ...stepOf(1, 'Run'), out: '1' });
      await sink.arrived(endpoint, 2);

      const inCallback = { Callback: 'true', StepId: '2', StepName: 'ask', StepType: 'Call', Concurrent: '1' };
      const forwarded = Object.entries(inCallback).map(([name, value]) => [
        `Callback-Forward-${word}-Workflow-${name}`,
        value,
      ]);
      const call = {
        'Workflow-CallType': 'toCallback',
        Callback: sink.url(endpoint),
        ...Object.fromEntries(forwarded),
      };
      await say(party, call, { asked: true });
      await sink.arrived(endpoint, 3);
      await say(endpoint, version, { ...stepOf(2, 'Call'), out: '{}' });
      await sink.arrived(endpoint, 4);

      const event = `event-${spelling}`;
      const waiting = { url: sink.url(endpoint), timeout: '1d', step: stepOf(3, 'Wait') };
      const waits = await queue.post(`/v2/wait/${event}`, { headers: spelled(word, ofRun), body: waiting });
      expect(waits.status, waits.text).to.equal(200);
      // The request has no alias header, like one of curl.
      expectAnswer(await queue.post(`/v2/notify/${event}`, { body: { done: true } }), 200);
      await sink.arrived(endpoint, 5);

      const childId = `wfr_child_${spelling}`;
      await say(
        child,
        { 'Workflow-RunId': childId, 'Workflow-Init': 'true', 'Workflow-Invoke': 'true' },
        { body: '[1]', workflowRunId, workflowUrl: sink.url(endpoint), headers: {}, step: stepOf(4, 'Invoke') },
      );
      await sink.arrived(child, 1);
      expect((await queue.delete(`/v2/workflows/runs/${childId}?cancel=false`)).status).to.equal(200);
      await sink.arrived(endpoint, 6);

      sink.answer(endpoint, REFUSING);
      await say(endpoint, version, { ...stepOf(5, 'Run'), out: '5' });
      // Where the trigger names no failure function, it is the endpoint's own.
      const [told] = spelling === 'none' ? (await sink.arrived(endpoint, 8)).slice(7) : await sink.arrived(failed, 1);
      const { sourceHeader } = JSON.parse(told?.body ?? '') as { sourceHeader: Headers };
      expect(sourceHeader).to.include({ 'Upstash-Workflow-Sdk-Version': '1' });
      const neutral = Object.keys(sourceHeader).filter((name) => name.startsWith('Svc-'));
      if (spelling === 'Upstash') {
        expect(neutral).to.deep.equal([]);
        return paths;
      }
      // The endpoint may know either spelling, so it gets both.
      expect(neutral).to.include('Svc-Workflow-Sdk-Version');
      for (const path of [endpoint, child]) {
        for (const { headers } of sink.calls(path)) {
          expect(headers).to.include.keys('svc-workflow-runid', 'upstash-workflow-runid', 'svc-signature');
        }
        await receivers.expectVerified(sink.calls(path));
      }
      return [];
    }),
  );
});

describe('deliveries of messages accepted before the alias was set', function () {
  this.timeout(120_000);
  let receivers: PublishedReceivers;
  let queue: QueueProcess;

  before(async () => {
    receivers = await PublishedReceivers.found(SIGNING_KEYS);
    queue = await QueueProcess.start({ MILLRACE_WIRE_ALIAS: '' });
  });

  after(() => queue?.stop());

  /** A message is accepted by this process; the result is its delivery after a restart with other settings. */
  async function deliveredAfter(env: Environment): Promise<SinkCall> {
    const { sink } = queue;
    const [path, name] = [sink.path('kept'), 'kept'];
    const paused = { queueName: name, parallelism: 1, paused: true };
    expect((await queue.post('/v2/queues', { body: paused })).status).to.equal(200);
    const headers = { 'Svc-Forward-Svc-Own': 'o' };
    expect((await queue.post(`/v2/enqueue/${name}/${sink.url(path)}`, { headers, body: 'b' })).status).to.equal(200);
    await queue.restart('SIGTERM', env);
    expect((await queue.post(`/v2/queues/${name}/resume`)).status).to.equal(200);
    return sink.call(path);
  }

  it('have the header names of the process that delivers them', async () => {
    const call = await deliveredAfter(ALIAS);
    expect(call.headers).to.include({ 'upstash-own': 'o', 'user-agent': 'Upstash-QStash' });
    await receivers.expectAliased([call]);
  });

  it('have both spellings with MILLRACE_WIRE_ALIAS_DELIVER=both, each with its own signature', async () => {
    const call = await deliveredAfter({ ...ALIAS, MILLRACE_WIRE_ALIAS_DELIVER: 'both' });
    const { headers } = call;
    const names = Object.keys(headers);
    const ends = (word: string) => names.flatMap((name) => (name.startsWith(word) ? [name.slice(word.length)] : []));
    expect(ends('upstash-').sort()).to.deep.equal(ends('svc-').sort());
    expect(ends('svc-')).to.include.members(['own', 'signature', 'message-id', 'retried']);
    expect(headers['user-agent']).to.equal('Upstash-QStash');
    await receivers.expectVerified([call]);
    const claims = (token: unknown) =>
      JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());
    const [alias, neutral] = [claims(headers['upstash-signature']), claims(headers['svc-signature'])];
    expect([alias.iss, neutral.iss]).to.deep.equal(['Upstash', 'Svc']);
    expect(neutral).to.include({ sub: alias.sub, body: alias.body });
  });
});
