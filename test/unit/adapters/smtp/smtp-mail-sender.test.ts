/** Mails to a real SMTP server on this machine. */
import { expect } from 'chai';
import { SMTPServer } from 'smtp-server';
import { SmtpMailSender } from '../../../../src/adapters/smtp/index.js';

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
});
