/** Mails to a real SMTP server on this machine. */
import { expect } from 'chai';
import { SMTPServer } from 'smtp-server';
import { MailingOut, SmtpMailSender } from '../../../../src/adapters/smtp/index.js';
import type { OutgoingCall } from '../../../../src/ports/index.js';
import { realTime } from '../../../support/real-time.js';

const MAIL = { to: 'anna@example.com', subject: 'Größer', text: 'One line.\n', id: 'abc' };

describe('a mail sender', () => {
  let server: SMTPServer;
  let port = 0;
  const mails: string[] = [];
  const senders: SmtpMailSender[] = [];

  before(async () => {
    server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: ({ password }, _session, done) =>
        password === 'right secret' ? done(null, { user: 'ops' }) : done(new Error(`${password} is wrong`)),
      onRcptTo: ({ address }, _session, done) =>
        done(address.startsWith('nobody') ? new Error('no such mailbox') : null),
      onData(stream, _session, done) {
        stream.on('data', (piece: Buffer) => mails.push(piece.toString()));
        stream.on('end', () => done());
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  after(async () => {
    for (const sender of senders) await sender.close();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  const sender = (password: string, at = port) => {
    const url = `smtp://ops:${encodeURIComponent(password)}@127.0.0.1:${at}`;
    const made = new SmtpMailSender({ url, from: 'Millrace <millrace@example.com>', host: 'one.example' });
    senders.push(made);
    return made;
  };
  const failure = (sent: Promise<string>) =>
    sent.then(
      () => 'sent',
      (error: Error) => error.message,
    );

  it("returns the server's answer, and sends sender, recipient, subject and a given id", async () => {
    expect(await sender('right secret').send(MAIL)).to.match(/^250 /);
    expect(mails[0]).to.include('From: Millrace <millrace@example.com>');
    expect(mails[0]).to.include('To: anna@example.com');
    expect(mails[0]).to.include('Message-ID: <abc@one.example>');
    expect(mails[0]).to.match(/Subject: =\?UTF-8\?/);
  });

  it('fails with the reason of the server, never with the password', async () => {
    expect(await failure(sender('wrong secret').send(MAIL))).to.include('******** is wrong');
    expect(await failure(sender('right secret').send({ ...MAIL, to: 'nobody@example.com' }))).to.include(
      'no such mailbox',
    );
    expect(await failure(sender('right secret', 1).send(MAIL))).to.match(/ECONNREFUSED/);
  });

  describe('as the way out of the queue (MLQ1)', () => {
    const call = (url: string, text: string, more: Partial<OutgoingCall> = {}): OutgoingCall => ({
      url,
      method: 'POST',
      headers: [],
      body: Buffer.from(text),
      timeoutMs: 1000,
      maxResponseBytes: 1000,
      signal: new AbortController().signal,
      ...more,
    });
    const out = (password = 'right secret') => {
      const http = {
        send: async ({ url }: OutgoingCall) => ({ kind: 'no-response', error: url, durationMs: 0 }) as const,
      };
      return new MailingOut({ http, mail: sender(password), clock: realTime });
    };
    const URL = 'mailto:o%27neil%2Bx@example.com';

    it('a message to a mailto: URL is one mail with its first line as subject, and a repetition has the same id', async () => {
      mails.length = 0;
      const outcomes = [await out().send(call(URL, 'One\nTwo\n')), await out().send(call(URL, 'One\nTwo\n'))];
      expect(outcomes.map((outcome) => outcome.kind === 'response' && outcome.status)).to.deep.equal([200, 200]);
      expect(mails[0])
        .to.match(/^To: o'neil\+x@example.com\r$/m)
        .and.match(/^Subject: One\r$/m);
      expect(mails[0]).to.include('\r\n\r\nTwo');
      const ids = mails.map((mail) => /^Message-ID: (.*)$/m.exec(mail)?.[1]);
      expect(new Set(ids)).to.have.property('size', 1);
      await out().send(call(URL, 'Other\nTwo\n'));
      expect(mails[2]).not.to.include(ids[0]);
    });

    it('a refusal of the mail server is an outcome without the password, and other URLs are called', async () => {
      const refused = await out('wrong secret').send(call(URL, 'One'));
      expect(refused.kind === 'no-response' && refused.error).to.include('******** is wrong');
      const called = await out().send(call('https://a.example/', 'One'));
      expect(called).to.include({ error: 'https://a.example/' });
    });

    it('no mail is sent without the permission, or after the end of the activation', async () => {
      mails.length = 0;
      expect(await out().send(call(URL, 'One', { maySend: () => false }))).to.deep.equal({ kind: 'held-back' });
      expect(await out().send(call(URL, 'One', { signal: AbortSignal.abort() }))).to.deep.equal({
        kind: 'interrupted',
      });
      expect(mails).to.deep.equal([]);
    });
  });
});
