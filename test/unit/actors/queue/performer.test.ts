/** Proves PF1–PF4, DH4. */
import { expect } from 'chai';
import { KEPT_RESPONSE_BYTES } from '../../../../src/domain/queue/index.js';
import { type ErrorCode, MillraceError } from '../../../../src/kernel/index.js';
import { ATTEMPTED_ID as ID, PerformerStand as Stand } from '../../../support/performer-stand.js';
import { GENEROUS, PLAIN_SETTINGS } from '../../../support/queue-shard-stand.js';

const CALLBACK = { url: 'https://back.example/', settings: PLAIN_SETTINGS };

describe('the call of an attempt', () => {
  it('carries the body, the headers of the attempt and its signature', async () => {
    const stand = new Stand();
    await stand.perform();
    expect(stand.sent()).to.deep.equal(['in memory']);
    expect(stand.http.calls[0]?.headers).to.deep.include.members([
      ['Svc-Message-Id', ID],
      ['Svc-Retried', '2'],
      ['Svc-Signature', 'signed'],
    ]);
  });

  it('is made with an empty body when the message has none', async () => {
    const stand = new Stand();
    await stand.perform(0);
    expect(stand.sent()).to.deep.equal(['']);
  });

  for (const method of ['GET', 'HEAD'] as const) {
    it(`by ${method} omits the body and the headers that describe it, and the callback contains the body`, async () => {
      const signed: string[] = [];
      const stand = new Stand();
      stand.sign = ({ body, bodyHash }) => {
        signed.push(`${Buffer.from(body)} ${bodyHash}`);
        return 'signed';
      };
      const header: [string, string][] = [
        ['Content-Type', 'text/plain'],
        ['X-Own', '1'],
      ];
      await stand.perform(1, { method, header, callback: CALLBACK });
      await stand.perform(1, { header });
      expect(stand.sent()).to.deep.equal(['', 'in memory']);
      expect(signed, 'the signed bytes are the sent ones').to.deep.equal([' undefined', 'in memory undefined']);
      const names = stand.http.calls.map(({ headers }) => headers.map(([name]) => name));
      expect(names[0]).to.include('X-Own').and.not.include('Content-Type');
      expect(names[1]).to.include('X-Own').and.include('Content-Type');
      stand.http.open[0]?.answer(200, '');
      await stand.time.advance(0);
      const command = stand.works[0]?.command;
      expect(command?.type === 'RecordAttempt' && Buffer.from(command.sentBody ?? '').toString()).to.equal('in memory');
    });
  }

  it('is limited to the longest attempt of the account, or to the shorter timeout of the message', async () => {
    const stand = new Stand();
    await stand.perform();
    await stand.perform(1, { timeoutSeconds: 3 });
    await stand.perform(1, { timeoutSeconds: 5000 });
    expect(stand.http.calls.map(({ timeoutMs }) => timeoutMs)).to.deep.equal([900_000, 3000, 900_000]);
  });

  it('reads as much of the answer as is kept, or as fits into a callback', async () => {
    const stand = new Stand();
    await stand.perform();
    await stand.perform(1, { callback: CALLBACK });
    await stand.perform(1, { failureCallback: CALLBACK });
    const { maxMessageBytes } = GENEROUS.limits;
    expect(stand.http.calls.map(({ maxResponseBytes }) => maxResponseBytes)).to.deep.equal([
      KEPT_RESPONSE_BYTES,
      maxMessageBytes,
      maxMessageBytes,
    ]);
  });

  it('results in an outcome of exactly this attempt', async () => {
    const stand = new Stand();
    await stand.perform();
    stand.http.open[0]?.answer(503, 'busy');
    await stand.time.advance(0);
    expect(stand.works.map(({ command }) => command)).to.deep.equal([
      {
        type: 'RecordAttempt',
        id: ID,
        retried: 2,
        restarts: 1,
        outcome: {
          kind: 'response',
          status: 503,
          header: [],
          body: Buffer.from('busy'),
          isCut: false,
          durationMs: 1,
        },
        sentBody: undefined,
      },
    ]);
  });

  it('returns the sent body when a callback needs it', async () => {
    const stand = new Stand();
    await stand.perform(1, { failureCallback: CALLBACK });
    stand.http.open[0]?.fail('connection refused');
    await stand.time.advance(0);
    const [work] = stand.works;
    expect(work?.command).to.deep.include({ sentBody: Buffer.from('in memory') });
  });

  it('keeps its outcome when the mailbox is full', async () => {
    const stand = new Stand();
    await stand.perform();
    stand.http.open[0]?.answer(200);
    await stand.time.advance(0);
    stand.works[0]?.reject(new MillraceError('MAILBOX_FULL', 'full'));
    await stand.time.advance(20);
    expect(stand.works).to.have.length(2);
    expect(stand.works[1]?.command).to.deep.equal(stand.works[0]?.command);
    expect(stand.http.calls).to.have.length(1);
  });

  it('waits until the body can be read', async () => {
    const stand = new Stand();
    stand.loads.push(...Array<ErrorCode>(20).fill('JOURNAL_UNAVAILABLE'), 'read late');
    await stand.perform(2);
    await stand.time.advance(3000);
    expect(stand.sent()).to.deep.equal([]);
    await stand.time.advance(2000);
    expect(stand.sent()).to.deep.equal(['read late']);
  });

  it('fails with an alarm when the body is permanently lost', async () => {
    const stand = new Stand();
    stand.loads.push('JOURNAL_DAMAGED');
    await stand.perform(2);
    await stand.time.advance(10_000);
    expect(stand.sent()).to.deep.equal([]);
    expect(stand.alarms).to.deep.equal(['queue.body-lost']);
    expect(stand.works).to.have.length(1);
    const [work] = stand.works;
    expect(work?.command).to.deep.include({
      outcome: { kind: 'no-response', error: 'the body of the message cannot be read', durationMs: 0 },
    });
  });

  it('waits for a usable signing key, with one alarm a minute', async () => {
    const stand = new Stand();
    stand.signature = () => {
      throw new MillraceError('BAD_CONFIG', 'sealed with another key file');
    };
    await stand.perform();
    await stand.time.advance(59_000);
    expect(stand.sent()).to.deep.equal([]);
    expect(stand.alarms).to.deep.equal(['queue.cannot-sign']);
    stand.signature = () => 'signed';
    await stand.time.advance(200);
    expect(stand.sent()).to.deep.equal(['in memory']);
  });

  it('waits while the lease is in doubt, because another process may own the account', async () => {
    const stand = new Stand();
    stand.holdsLease = false;
    await stand.perform();
    await stand.time.advance(5000);
    expect(stand.http.calls).to.have.length(0);
    stand.holdsLease = true;
    await stand.time.advance(100);
    expect(stand.http.calls).to.have.length(1);
  });

  it('checks the lease again after it waited for its turn, and waits again where it is in doubt', async () => {
    const stand = new Stand();
    await stand.perform();
    stand.holdsLease = false;
    expect(stand.http.calls[0]?.maySend?.()).to.equal(false);
    stand.http.open[0]?.holdBack();
    await stand.time.advance(5000);
    expect(stand.http.calls).to.have.length(1);
    expect(stand.works).to.deep.equal([]);
    stand.holdsLease = true;
    await stand.time.advance(100);
    expect(stand.http.calls).to.have.length(2);
    expect(stand.http.calls[1]?.maySend?.()).to.equal(true);
    stand.http.open[0]?.answer(200);
    await stand.time.advance(0);
    expect(stand.works.map(({ command }) => command.type)).to.deep.equal(['RecordAttempt']);
    expect(stand.performer.inFlight).to.equal(1);
  });

  it('is made in portions when an entry starts many, so that others run in between', async () => {
    const stand = new Stand();
    const all = Array.from({ length: 100 }, () => stand.perform());
    await stand.time.yieldToEventLoop();
    expect(stand.http.calls).to.have.length(64);
    await Promise.all(all);
    expect(stand.http.calls).to.have.length(100);
  });

  it('is neither made nor reported once the activation is over', async () => {
    const stand = new Stand();
    stand.loads.push('late');
    await stand.perform(1);
    const late = stand.perform(2);
    stand.performer.end();
    await late;
    await stand.perform(1);
    await stand.time.advance(1000);
    expect(stand.sent()).to.deep.equal(['in memory']);
    expect(stand.http.calls[0]?.signal.aborted).to.equal(true);
    expect(stand.works).to.deep.equal([]);
    expect(stand.performer.inFlight).to.equal(0);
  });
});
