/** Applications, their endpoints, secrets and event types. Proves APP1–APP4. */
import { expect } from 'chai';
import {
  isSigning,
  MAX_APPLICATION_COUNT,
  MAX_APPLICATION_ENDPOINTS,
  MAX_APPLICATIONS,
  MAX_ENDPOINT_SECRETS,
  MAX_EVENT_TYPES,
  MAX_REVOKED_LINKS,
  MAX_SECRET_KEEP_MS,
  type QueueCommandOf,
  type QueueReplyOf,
} from '../../../src/domain/queue/index.js';
import { processorMsOf } from '../../support/processor-time.js';
import { item, QueueSpec } from '../../support/queue-spec.js';

type Changes<Type extends 'SetApplication' | 'SetApplicationEndpoint' | 'SetEventType'> = Partial<QueueCommandOf<Type>>;

const APP = 'app_1';
const EP = 'ep_1';
const URL = 'https://customer.example/hooks';
const DAY_MS = 24 * 3_600_000;

describe('queue: applications', () => {
  let queue: QueueSpec;

  const app = (changes: Changes<'SetApplication'> = {}) =>
    queue.ask({
      type: 'SetApplication',
      id: APP,
      isNew: true,
      uid: undefined,
      name: undefined,
      metadata: undefined,
      rate: undefined,
      ...changes,
    });
  const endpoint = (changes: Changes<'SetApplicationEndpoint'> = {}) =>
    queue.ask({
      type: 'SetApplicationEndpoint',
      application: APP,
      id: EP,
      isNew: true,
      url: URL,
      description: undefined,
      eventTypes: undefined,
      filter: undefined,
      header: undefined,
      isDisabled: undefined,
      secrets: [{ version: 'v1', sealed: 'first' }],
      ...changes,
    });
  const eventType = (name: string, changes: Changes<'SetEventType'> = {}) =>
    queue.ask({
      type: 'SetEventType',
      name,
      isNew: true,
      description: undefined,
      schema: undefined,
      examples: undefined,
      isArchived: undefined,
      ...changes,
    });
  const rotate = (sealed: string, keepsMs: number) => {
    const secret = { version: 'v1', sealed } as const;
    return queue.ask({ type: 'RotateEndpointSecret', application: APP, endpoint: EP, secret, keepsMs });
  };
  const shown = (named = APP) =>
    queue.ask({ type: 'GetApplication', id: named, eventType: undefined }) as QueueReplyOf<'Application'>;
  const held = () => shown().endpoints[0];
  const signing = () =>
    held()
      ?.secrets.filter((one) => isSigning(one, queue.nowMs))
      .map(({ sealed }) => sealed);
  const isRefused = (reply: object, reason: string, text: string) => {
    expect(reply).to.include({ type: 'Rejected', reason });
    expect(reply).to.have.property('message').that.includes(text);
  };

  beforeEach(() => {
    queue = new QueueSpec();
    app({ uid: 'customer-1', name: 'Customer' });
    endpoint();
  });

  it('a change keeps the members that it does not name (APP1)', () => {
    app({ isNew: false, rate: { rate: 5, periodSeconds: 60 } });
    app({ isNew: false, metadata: [['plan', 'gold']] });
    expect(shown().application).to.deep.include({ uid: 'customer-1', name: 'Customer', metadata: [['plan', 'gold']] });
    expect(shown().application.rate).to.deep.equal({ rate: 5, periodSeconds: 60 });
    app({ isNew: false, uid: '', rate: { rate: 0, periodSeconds: 1 } });
    expect(shown().application).to.deep.include({ uid: undefined, rate: undefined });
    endpoint({ isNew: false, url: undefined, secrets: [], isDisabled: true });
    endpoint({ isNew: false, url: undefined, secrets: [], eventTypes: ['a'] });
    expect(held()).to.deep.include({ url: URL, isDisabled: true, eventTypes: ['a'] });
  });

  it('a uid names its application, and is refused for another one (APP2)', () => {
    expect(shown('customer-1').application.id).to.equal(APP);
    isRefused(app({ id: 'app_2', uid: 'customer-1' }), 'INVALID', 'uid customer-1 is another');
    isRefused(app({ id: 'app_2', uid: APP }), 'INVALID', 'is another');
    app({ isNew: false, uid: 'customer-2' });
    isRefused(shown('customer-1'), 'NOT_FOUND', 'customer-1');
    expect(app({ id: 'app_2', uid: 'customer-1' })).to.include({ type: 'Application' });
  });

  it('a command that is sent again changes nothing', () => {
    const before = queue.journal.length;
    app({ uid: 'customer-1', name: 'Customer' });
    endpoint();
    rotate('second', DAY_MS);
    const after = queue.journal.length;
    rotate('second', DAY_MS);
    expect([after - before, queue.journal.length - after]).to.deep.equal([1, 0]);
  });

  it('a rotated secret still signs until its end, with the new one in front (APP3)', () => {
    rotate('second', DAY_MS);
    expect(signing()).to.deep.equal(['second', 'first']);
    queue.pass(DAY_MS + 1);
    expect(signing()).to.deep.equal(['second']);
    rotate('third', 0);
    expect(signing()).to.deep.equal(['third']);
    expect(held()?.secrets).to.have.length(1);
    isRefused(rotate('x', MAX_SECRET_KEEP_MS + 1), 'INVALID', 'signs for at most');
    for (let at = 1; at < MAX_ENDPOINT_SECRETS; at += 1) rotate(`s${at}`, DAY_MS);
    isRefused(rotate('one more', DAY_MS), 'TOO_MANY', 'secrets');
  });

  it('numbers of endpoints and event types have limits', () => {
    for (let at = 1; at < MAX_APPLICATION_ENDPOINTS; at += 1) endpoint({ id: `more${at}` });
    isRefused(endpoint({ id: 'one too many' }), 'TOO_MANY', `at most ${MAX_APPLICATION_ENDPOINTS} endpoints`);
    for (let at = 0; at < MAX_EVENT_TYPES; at += 1) eventType(`type${at}`);
    isRefused(eventType('one.too.many'), 'TOO_MANY', `at most ${MAX_EVENT_TYPES} event types`);
    expect(eventType('type1', { isArchived: true })).to.include({ type: 'EventTypes' });
  });

  it('ListApplications pages by id, and finds parts of names and uids', () => {
    for (const at of [2, 3, 4]) app({ id: `app_${at}`, name: `Firm ${at}` });
    const list = (search: string | undefined, after: string | undefined, count: number) => {
      const reply = queue.ask({ type: 'ListApplications', search, after, count }) as QueueReplyOf<'Applications'>;
      return [reply.applications.map(({ id }) => id), reply.after, reply.total, reply.endpointCounts];
    };
    expect(list(undefined, undefined, 3)).to.deep.equal([['app_1', 'app_2', 'app_3'], 'app_3', 4, [1, 0, 0]]);
    expect(list(undefined, 'app_3', 3)).to.deep.equal([['app_4'], undefined, 4, [0]]);
    expect(list('FIRM', undefined, 9)[0]).to.deep.equal(['app_2', 'app_3', 'app_4']);
    expect(list('customer', undefined, 9)[0]).to.deep.equal(['app_1']);
  });

  it('10,000 applications are listed in pages, in steps of about a millisecond, and one more is refused', () => {
    for (let at = 0; at < MAX_APPLICATIONS - 1; at += 1) app({ id: `more${at}`, uid: `u${at}`, name: `Firm ${at}` });
    isRefused(app({ id: 'one too many' }), 'TOO_MANY', `at most ${MAX_APPLICATIONS} applications`);
    const seen = new Set<string>();
    const stepsMs: number[] = [];
    for (let after: string | undefined; ; ) {
      const command = { type: 'ListApplications', search: 'FIRM', after, count: MAX_APPLICATION_COUNT } as const;
      const reply = queue.ask(command, (step) => {
        stepsMs.push(processorMsOf(step));
      }) as QueueReplyOf<'Applications'>;
      expect(reply.applications.length).to.be.at.most(MAX_APPLICATION_COUNT);
      for (const { id } of reply.applications) seen.add(id);
      after = reply.after;
      if (after === undefined) break;
    }
    expect(seen.size).to.equal(MAX_APPLICATIONS - 1);
    // Of processor time: a step that sorted all of them would take several times as long. Collections of garbage
    // fall into some steps, so the longest few are not judged.
    const judgedMs = stepsMs.sort((a, b) => a - b).slice(0, -Math.ceil(stepsMs.length / 50));
    expect(Math.max(...judgedMs)).to.be.lessThan(50);
    expect(queue.engine.heldAt(queue.nowMs).memoryBytes).to.be.lessThan(16 * 1024 * 1024);
  });

  it('links to the portal are revoked one by one until their ends, or all by a generation (APP4)', () => {
    const untilMs = queue.nowMs + 1000;
    const revoke = (members: Partial<QueueCommandOf<'RevokePortalLinks'>>) =>
      queue.ask({ type: 'RevokePortalLinks', application: APP, generation: undefined, link: undefined, ...members });
    const links = () => shown().application.portalLinks;
    isRefused(revoke({ application: 'app_9', generation: 1 }), 'NOT_FOUND', 'app_9');
    revoke({ link: { id: 'a', untilMs } });
    const events = queue.journal.length;
    revoke({ link: { id: 'a', untilMs } });
    expect(queue.journal.length).to.equal(events);
    expect(links()).to.deep.equal({ generation: 0, revoked: [{ id: 'a', untilMs }] });
    app({ isNew: false, name: 'Other' });
    expect(links()?.revoked).to.have.length(1);
    queue.pass(1001);
    revoke({ link: { id: 'b', untilMs: queue.nowMs + 1000 } });
    expect(links()?.revoked.map(({ id }) => id)).to.deep.equal(['b']);
    for (let at = 1; at < MAX_REVOKED_LINKS; at += 1) revoke({ link: { id: `l${at}`, untilMs: queue.nowMs + 1000 } });
    isRefused(revoke({ link: { id: 'more', untilMs: queue.nowMs + 1000 } }), 'TOO_MANY', 'revoke all of them');
    revoke({ generation: 1 });
    revoke({ generation: 1 });
    expect(links()).to.deep.equal({ generation: 1, revoked: [] });
    expect(queue.rebuilt().digest()).to.equal(queue.digest());
  });

  it('a webhook names its application and endpoint, and a snapshot has the same state', () => {
    const webhook = { application: APP, endpoint: EP, id: 'evt_1', eventType: 'a.b' };
    queue.publish({ ...item('m1'), webhook });
    const reply = queue.ask({ type: 'GetMessage', id: item('m1').id }) as QueueReplyOf<'Message'>;
    expect(reply.message.envelope).to.deep.include({
      topicName: APP,
      endpointName: EP,
      webhook: { id: 'evt_1', eventType: 'a.b' },
    });
    expect(queue.engine.webhookEndpointOf(reply.message.envelope)?.url).to.equal(URL);
    eventType('a.b', { schema: '{}' });
    const copy = new QueueSpec();
    for (const event of queue.engine.rebuildingEvents()) copy.engine.evolve(event);
    expect(copy.digest()).to.equal(queue.digest());
    expect(copy.engine.heldAt(queue.nowMs)).to.deep.equal(queue.engine.heldAt(queue.nowMs));
  });

  it('what an account holds grows with its applications, and is freed with them', () => {
    const { bytes } = queue.engine.heldAt(queue.nowMs);
    expect(bytes).to.be.greaterThan(URL.length);
    queue.ask({ type: 'DeleteApplication', id: APP });
    expect(queue.engine.heldAt(queue.nowMs)).to.deep.include({ bytes: 0, memoryBytes: 0 });
    isRefused(endpoint(), 'NOT_FOUND', APP);
  });
});
