/** Notices of alerts: how they are sent, and what the management API needs to check and test a rule's channels. */
import type { AlertChannel, AlertRule } from '../domain/control/index.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Equal for a repetition, so that a mailbox can recognise it. */
  readonly id: string;
}

export interface MailSender {
  /** @returns the server's answer. @throws Error with a reason for people, without credentials */
  send(mail: Mail): Promise<string>;
}

/** The outcome of a test notice to one channel. */
export interface TestedChannel {
  readonly channel: AlertChannel;
  /** A message was accepted by the queue, or a mail by the mail server. */
  readonly isSent: boolean;
  /** The id of the message, the server's answer, or the reason of the failure. */
  readonly answer: string;
}

export interface AlertTests {
  /** Whether a mail server is set. */
  readonly hasMail: boolean;
  /** The reason why a channel's URL must not be called. */
  refusalOf(url: string): string | undefined;
  /** Sends a marked notice to every channel; never rejects. */
  test(rule: AlertRule): Promise<readonly TestedChannel[]>;
}
