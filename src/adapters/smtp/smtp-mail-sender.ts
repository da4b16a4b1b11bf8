/** Sends mails over SMTP. Its package is loaded with the first mail. */
import { hostname } from 'node:os';
import type { Transporter } from 'nodemailer';
import type { Config } from '../../config/index.js';
import type { Mail, MailSender } from '../../ports/index.js';

export interface SmtpOptions {
  /** With user and password. */
  readonly url: string;
  readonly from: string;
  /** Of the mail's address in its id. */
  readonly host: string;
}

/** A mail server that does not answer within this time is tried again later. */
const ANSWER_MS = 10_000;

export class SmtpMailSender implements MailSender {
  #transport: Promise<Transporter> | undefined;

  constructor(private readonly options: SmtpOptions) {}

  async send({ to, subject, text, id }: Mail): Promise<string> {
    const { from, host } = this.options;
    this.#transport ??= this.#connect();
    try {
      const transport = await this.#transport;
      const sent = await transport.sendMail({ from, to, subject, text, messageId: `<${id}@${host}>` });
      return String(sent.response);
    } catch (error) {
      throw new Error(this.#withoutPassword(error instanceof Error ? error.message : String(error)));
    }
  }

  async close(): Promise<void> {
    (await this.#transport)?.close();
  }

  async #connect(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const timeouts = { connectionTimeout: ANSWER_MS, greetingTimeout: ANSWER_MS, socketTimeout: ANSWER_MS };
    return createTransport({ url: this.options.url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  }

  #withoutPassword(text: string): string {
    const { password } = new URL(this.options.url);
    return password === '' ? text : text.replaceAll(decodeURIComponent(password), '********');
  }
}

/**
 * The sender of the settings; undefined without a mail server.
 * @param life of the process, which closes it
 */
export function smtpSenderOf(
  { alerts }: Config,
  life: { atEnd(end: () => unknown): void },
): SmtpMailSender | undefined {
  const { smtpUrl, smtpFrom } = alerts;
  if (smtpUrl === undefined || smtpFrom === undefined) return undefined;
  const sender = new SmtpMailSender({ url: smtpUrl.reveal(), from: smtpFrom, host: hostname() });
  life.atEnd(() => sender.close());
  return sender;
}
