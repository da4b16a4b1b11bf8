/**
 * Deliveries of the queue with mails: a message to a `mailto:` URL goes to the mail server, all others are calls. The first
 * line of the body is the subject. Keeps HO4 (the outcome is a value) and HO5 (the permission is checked at the sending).
 *
 *  MLQ1 the Message-ID follows from address and text, so a mailbox can recognise the mail of a repeated attempt
 */
import { createHash } from 'node:crypto';
import { describeError, mailAddressIn } from '../../kernel/index.js';
import type { CallOutcome, Clock, HttpOut, MailSender, OutgoingCall } from '../../ports/index.js';

export interface MailingOutPorts {
  readonly http: Pick<HttpOut, 'send'>;
  readonly mail: MailSender;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** The status that the log shows for a mail that the server has accepted. */
const ACCEPTED = 200;

export class MailingOut implements Pick<HttpOut, 'send'> {
  constructor(private readonly ports: MailingOutPorts) {}

  send(call: OutgoingCall): Promise<CallOutcome> {
    const to = mailAddressIn(call.url);
    return to === undefined ? this.ports.http.send(call) : this.#mail(to, call);
  }

  async #mail(to: string, { url, body, signal, maySend }: OutgoingCall): Promise<CallOutcome> {
    const { mail, clock } = this.ports;
    if (signal.aborted) return { kind: 'interrupted' };
    if (maySend?.() === false) return { kind: 'held-back' };
    const startMs = clock.monotonicMs();
    const [subject = '', ...lines] = Buffer.from(body).toString().split('\n');
    const id = createHash('sha256').update(`${url}\n`).update(body).digest('hex').slice(0, 32);
    try {
      const answer = await mail.send({ to, subject, text: lines.join('\n'), id });
      return {
        kind: 'response',
        status: ACCEPTED,
        header: [],
        body: Buffer.from(answer),
        isCut: false,
        durationMs: clock.monotonicMs() - startMs,
      };
    } catch (error) {
      return { kind: 'no-response', error: describeError(error), durationMs: clock.monotonicMs() - startMs };
    }
  }
}
