/** Proves BRN4, BRN5: mails to a customer about his endpoints. */
import { expect } from 'chai';
import {
  ACCEPTED_IDS_MS,
  type EngineOptions,
  MAX_APPLICATION_MAILS,
  type QueueCommandOf,
  USUAL_BREAKER_RULES,
} from '../../../src/domain/queue/index.js';
import { item, QueueSpec } from '../../support/queue-spec.js';

const URL_A = 'https://user-of.example:8443/hooks/T0/secret-of-path?key=secret-of-query';
const webhook = { application: 'app_1', endpoint: 'ep_1', id: 'evt_1', eventType: 'a.b' };
const NO_CHANGES = { uid: undefined, name: undefined, metadata: undefined, rate: undefined };

describe('queue: mails to customers about stopped endpoints', () => {
  const withCustomer = (
    application: Partial<QueueCommandOf<'SetApplication'>> = {},
    options: EngineOptions = { mailsCustomers: () => true },
  ) => {
    const queue = new QueueSpec(options);
    queue.ask({ type: 'SetBreakerRules', rules: { ...USUAL_BREAKER_RULES, failures: 2, seconds: 0, probeSeconds: 1 } });
    queue.ask({
      type: 'SetApplication',
      id: 'app_1',
      isNew: true,
      ...NO_CHANGES,
      name: 'Customer Ltd',
      email: 'anna@customer.example',
      ...application,
    });
    queue.ask({
      type: 'SetApplicationEndpoint',
      application: 'app_1',
      id: 'ep_1',
      isNew: true,
      url: URL_A,
      description: 'Invoices',
      eventTypes: undefined,
      filter: undefined,
      header: undefined,
      isDisabled: undefined,
      secrets: [{ version: 'v1', sealed: 'secret-of-endpoint' }],
    });
    return queue;
  };
  const ended = (queue: QueueSpec, id: string, status: number) => {
    queue.publish({ ...item(id, { maxRetries: 0, url: URL_A }), webhook });
    queue.work();
    queue.outcome(id, status);
  };
  const mails = ({ journal }: QueueSpec) =>
    journal.flatMap((event) => {
      if (event.type !== 'MessageAccepted' || !event.envelope.url.startsWith('mailto:')) return [];
      const [subject = '', ...lines] = Buffer.from(event.body.content ?? [])
        .toString()
        .split('\n');
      return [{ id: event.id, envelope: event.envelope, subject, text: lines.join('\n') }];
    });
  const subjects = (queue: QueueSpec) => mails(queue).map(({ subject }) => subject);

  it('one mail each when an endpoint is stopped, works again, and is disabled, with the facts and without a secret (BRN4)', () => {
    const queue = withCustomer();
    ended(queue, 'a', 503);
    ended(queue, 'b', 503);
    queue.pass(2000);
    ended(queue, 'c', 200);
    ended(queue, 'd', 410);
    const sent = mails(queue);
    expect(sent.map(({ subject }) => subject)).to.deep.equal([
      'Webhook endpoint stopped: user-of.example:8443',
      'Webhook endpoint working again: user-of.example:8443',
      'Webhook endpoint disabled: user-of.example:8443',
    ]);
    for (const { envelope, subject, text } of sent) {
      expect(envelope.url).to.equal('mailto:anna@customer.example');
      expect(envelope.webhook).to.equal(undefined);
      expect(envelope.settings.labels).to.deep.equal(['notice', 'endpoint=ep_1']);
      expect(envelope.settings.flowControl).to.include({ key: 'millrace-mail' });
      expect(subject + text).not.to.include('secret');
      expect(text).to.include('Customer: Customer Ltd\n').and.include('Endpoint: ep_1 (Invoices)\n');
    }
    expect(sent[0]?.text)
      .to.include('Last answer: HTTP status 503\n')
      .and.match(/^Next try: 20\d\d-/m);
    expect(sent[2]?.text).to.include('410');
  });

  it('a customer without an address, and a process without a mail server, send no mail; an address of no characters ends it', () => {
    const without = withCustomer({ email: undefined });
    ended(without, 'a', 410);
    const noServer = withCustomer({}, {});
    ended(noServer, 'a', 410);
    const removed = withCustomer();
    removed.ask({ type: 'SetApplication', id: 'app_1', isNew: false, ...NO_CHANGES, email: '' });
    ended(removed, 'a', 410);
    for (const queue of [without, noServer, removed]) expect(mails(queue)).to.deep.equal([]);
  });

  it('a change of the name keeps the address, and the address is shown', () => {
    const queue = withCustomer();
    queue.ask({ type: 'SetApplication', id: 'app_1', isNew: false, ...NO_CHANGES, name: 'Other' });
    const reply = queue.ask({ type: 'GetApplication', id: 'app_1', eventType: undefined });
    expect(reply).to.have.nested.property('application.email', 'anna@customer.example');
  });

  it('a name, a description and an error cannot add a line to the mail', () => {
    const queue = withCustomer({ name: 'A\r\nBcc: b@example.com\u2028x' });
    ended(queue, 'a', 410);
    const [mail] = mails(queue);
    expect(mail?.text).to.include('Customer: A Bcc: b@example.com x\n');
    expect(mail?.text.split('\n').filter((line) => line.startsWith('Bcc'))).to.deep.equal([]);
  });

  it('an address that fails and recovers all the time sends a bounded number of mails in ten minutes (BRN5)', () => {
    const queue = withCustomer();
    const flap = (round: string) => {
      ended(queue, `${round} a`, 410);
      queue.ask({ type: 'SetBreaker', url: URL_A, isDisabled: false });
    };
    queue.pass(ACCEPTED_IDS_MS - (queue.nowMs % ACCEPTED_IDS_MS));
    for (let at = 0; at < 3 * MAX_APPLICATION_MAILS; at += 1) flap(`first ${at}`);
    expect(mails(queue)).to.have.length(MAX_APPLICATION_MAILS);
    const next = queue.rebuilt();
    expect(next.digest()).to.equal(queue.digest());
    ended(next, 'after a takeover', 410);
    expect(mails(next)).to.deep.equal([]);
    next.ask({ type: 'SetBreaker', url: URL_A, isDisabled: false });
    next.pass(ACCEPTED_IDS_MS);
    ended(next, 'later', 410);
    expect(subjects(next)).to.deep.equal(['Webhook endpoint disabled: user-of.example:8443']);
  });

  it('a mail that fails has no breaker, and is in the DLQ after its retries', () => {
    const queue = withCustomer().limit({ maxRetries: 1 });
    ended(queue, 'a', 410);
    const [mail] = mails(queue);
    for (let tries = 0; tries < 2; tries += 1) {
      queue.pass(24 * 3_600_000);
      queue.work();
      queue.outcome(mail?.id as string, { kind: 'no-response', error: 'no server', durationMs: 1 });
    }
    expect(queue.engine.counts()).to.include({ deadLetters: 2, stoppedDestinations: 1 });
    const reply = queue.ask({ type: 'ListBreakers', onlyStopped: false });
    expect(reply.type === 'Breakers' && reply.breakers).to.have.length(1);
  });
});
