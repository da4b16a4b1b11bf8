/**
 * The text of a mail to a customer about his endpoint. Its first line is the subject. It has no link, because a link to
 * the portal is a secret, and of URLs the host alone, because paths and queries of webhooks often are secrets.
 */
import { readUrl } from '../../../kernel/index.js';
import type { Application } from '../model/application-records.js';
import type { Breaker, FlowControlSetting } from '../model/records.js';

/** All mails of an account share this flow-control key: many mail servers refuse more connections, or more mails a minute. */
export const MAILS: FlowControlSetting = { key: 'millrace-mail', parallelism: 2, rate: 60, periodSeconds: 60 };

/** Longer names, descriptions and errors are cut: one line of a mail. */
const MAX_LINE_CHARACTERS = 200;
/** Control characters, and those that some programs show as the end of a line or that turn the direction of a text. */
const NOT_OF_A_LINE = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

const WORDS = {
  open: {
    subject: 'stopped',
    text: 'Deliveries to your webhook endpoint fail. One is tried from time to time, until one succeeds.',
  },
  disabled: {
    subject: 'disabled',
    text: 'Your webhook endpoint is disabled, because deliveries have failed for a long time. None is tried until you enable it.',
  },
  closed: { subject: 'working again', text: 'Your webhook endpoint works again, and deliveries go on.' },
} as const;
const GONE =
  'Your webhook endpoint is disabled, because it answered 410 Gone. No delivery is tried until you enable it.';

interface MailedChange {
  readonly breaker: Breaker;
  readonly application: Application;
  /** The id; of no characters: it was deleted. */
  readonly endpoint: string;
  readonly description: string;
  readonly nowMs: number;
}

/** BRN4 (plain text without secrets). */
export function mailText({ breaker, application, endpoint, description, nowMs }: MailedChange): string {
  const { url, state, reason, failures, failingSinceMs, nextProbeAtMs, error } = breaker;
  const { subject, text } = WORDS[state];
  const host = lineOf(readUrl(url)?.host ?? '');
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Customer', lineOf(application.name === '' ? application.id : application.name)],
    ['Endpoint', description === '' ? endpoint : `${endpoint} (${lineOf(description)})`],
    ['Host', host],
    ['Failing since', failures === 0 ? undefined : instant(failingSinceMs)],
    ['Next try', state === 'open' ? instant(nextProbeAtMs) : undefined],
    ['Last answer', error === '' ? undefined : lineOf(error)],
    ['Time', instant(nowMs)],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  const isGone = state === 'disabled' && reason === 'gone';
  return [`Webhook endpoint ${subject}: ${host}`, isGone ? GONE : text, '', ...lines, ''].join('\n');
}

function lineOf(text: string): string {
  const line = text.replaceAll(NOT_OF_A_LINE, ' ').trim();
  return line.length <= MAX_LINE_CHARACTERS ? line : `${line.slice(0, MAX_LINE_CHARACTERS - 1)}…`;
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}
