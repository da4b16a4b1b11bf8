/**
 * Sends notices of alerts. Webhooks and Slack messages are messages of the account's own queue, so they are signed,
 * retried and logged like all others; mails go to the mail server.
 *
 *  ALN1 the message of a notice has an id that follows from alert, phase and channel: the queue accepts it once, even
 *       if two owners of the control shard send it
 *  ALN2 a mail has a Message-ID that follows in the same way. An owner that ends between the mail server's answer and
 *       the stored outcome is followed by one that sends the mail again
 */
import { createHash } from 'node:crypto';
import type { Alert, AlertChannel, AlertPhase, AlertRule, ControlState } from '../../domain/control/index.js';
import {
  derivedMessageId,
  type HeaderList,
  newMessageId,
  parseDestinationUrl,
  parseSettings,
} from '../../domain/queue/index.js';
import { type AccountId, bytesOfText, describeError, type MessageId, type Random } from '../../kernel/index.js';
import type {
  AccountBook,
  AlertTests,
  Clock,
  HttpOut,
  MailSender,
  QueueGateway,
  TestedChannel,
} from '../../ports/index.js';

/** The label of the messages; alert rules leave them out. */
export const NOTICE_LABEL = 'millrace-alert';

export interface AlertNoticePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly accounts: AccountBook;
  readonly queues: Pick<QueueGateway, 'publish'>;
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  /** Undefined without a mail server. */
  readonly mail: MailSender | undefined;
  readonly state: () => ControlState;
  /** The console's address; undefined: unknown. */
  readonly consoleUrl: () => string | undefined;
}

/** The content of a notice. */
interface Notice {
  readonly state: 'firing' | 'resolved' | 'test';
  readonly rule: { readonly id: string; readonly name: string; readonly kind: string };
  readonly subject: string;
  readonly text: string;
  readonly atMs: number;
  /** 0 for a test. */
  readonly number: number;
}

export class AlertNotices implements AlertTests {
  constructor(private readonly ports: AlertNoticePorts) {}

  get hasMail(): boolean {
    return this.ports.mail !== undefined;
  }

  refusalOf(url: string): string | undefined {
    const outcome = parseDestinationUrl(url, 'channel');
    return outcome.isOk ? this.ports.destinations.refusalOf(outcome.url) : outcome.message;
  }

  /** @returns the id of the message, or the mail server's answer. @throws Error with a reason for people */
  send(alert: Alert, phase: AlertPhase, channel: AlertChannel): Promise<string> {
    const { number, rule: id, name, kind, subject, text, raisedAtMs, resolvedAtMs } = alert;
    const isOver = phase === 'resolved';
    const notice: Notice = {
      state: isOver ? 'resolved' : 'firing',
      rule: { id, name, kind },
      subject,
      text,
      atMs: isOver ? resolvedAtMs : raisedAtMs,
      number,
    };
    const cause = `alert ${number} ${raisedAtMs} ${phase} ${channel.type} ${channel.address}`;
    return this.#send({ account: alert.account, channel, notice, cause, id: derivedMessageId(cause) });
  }

  async test(rule: AlertRule): Promise<readonly TestedChannel[]> {
    const { clock, random } = this.ports;
    const { id, name, kind, account } = rule;
    const atMs = clock.nowMs();
    const notice: Notice = {
      state: 'test',
      rule: { id, name, kind },
      subject: 'test',
      text: 'This is a test: no rule is firing.',
      atMs,
      number: 0,
    };
    return Promise.all(
      rule.channels.map(async (channel) => {
        const messageId = newMessageId(random, atMs);
        try {
          const answer = await this.#send({ account, channel, notice, cause: messageId, id: messageId });
          return { channel, isSent: true, answer };
        } catch (error) {
          return { channel, isSent: false, answer: describeError(error) };
        }
      }),
    );
  }

  #send(sent: SentNotice): Promise<string> {
    return sent.channel.type === 'email' ? this.#mail(sent) : this.#publish(sent);
  }

  async #mail({ channel, notice, cause }: SentNotice): Promise<string> {
    const { mail } = this.ports;
    if (mail === undefined) throw new Error('no mail server is set (MILLRACE_SMTP_URL)');
    const id = createHash('sha256').update(cause).digest('hex').slice(0, 32);
    return mail.send({ to: channel.address, subject: titleOf(notice), text: this.#mailText(notice), id });
  }

  async #publish({ account, channel, notice, id }: SentNotice): Promise<string> {
    const { accounts, queues, clock, state } = this.ports;
    const [queue] = queuesOf(state(), account);
    const terms = queue === undefined ? undefined : accounts.termsOf(queue);
    if (queue === undefined || terms === undefined) throw new Error('the account has no queue');
    const refusal = this.refusalOf(channel.address);
    if (refusal !== undefined) throw new Error(refusal);
    const raw = { headers: HEADERS, query: [] };
    const outcome = parseSettings(raw, { limits: terms.limits, nowMs: clock.nowMs(), of: 'publish' });
    if (!outcome.isOk) throw new Error(outcome.message);
    const body = channel.type === 'slack' ? this.#slackBody(notice) : this.#webhookBody(notice);
    const item = {
      id,
      destination: { kind: 'url', url: channel.address, settings: outcome.parsed.settings },
      queueName: undefined,
      body: Buffer.from(JSON.stringify(body)),
      notBeforeMs: undefined,
      deduplication: undefined,
      callerIp: '',
      isAlias: false,
    } as const;
    const reply = await queues.publish(queue, [item]);
    if (reply.type === 'Rejected') throw new Error(reply.message);
    return id;
  }

  #webhookBody({ state, rule, subject, text, atMs, number }: Notice) {
    return { state, rule, alert: number, subject, text, at: new Date(atMs).toISOString(), url: this.#link() };
  }

  #slackBody(notice: Notice) {
    return { text: `*${escaped(titleOf(notice))}*\n${escaped(notice.text)}\n${this.#link()}` };
  }

  #mailText(notice: Notice): string {
    const { rule, subject, text, atMs } = notice;
    const facts = [`Rule: ${rule.name} (${rule.kind})`, `Subject: ${subject}`, `Time: ${new Date(atMs).toISOString()}`];
    return [text, '', ...facts, '', this.#link(), ''].join('\n');
  }

  #link(): string {
    return `${this.ports.consoleUrl() ?? ''}/console/alerts`;
  }
}

interface SentNotice {
  readonly account: AccountId;
  readonly channel: AlertChannel;
  readonly notice: Notice;
  /** The text that ids follow from. */
  readonly cause: string;
  readonly id: MessageId;
}

const HEADERS: HeaderList = [
  ['content-type', bytesOfText('application/json')],
  ['svc-label', bytesOfText(NOTICE_LABEL)],
];

function titleOf({ state, rule, subject }: Notice): string {
  return `[${state}] ${rule.name}: ${subject}`;
}

/** The three characters with a meaning in Slack's texts. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The queues that the account sees, its own first. */
export function queuesOf(state: ControlState, account: AccountId): AccountId[] {
  const queues = [...state.people.queues.of(account)];
  return queues.sort((a, b) => Number(b === account) - Number(a === account) || (a < b ? -1 : 1));
}
