/**
 * The headers of an attempt. What the queue says itself comes under the neutral names or, for a message that was
 * accepted by an alias request, under the alias's; forwarded headers are stored neutral and spelled the same way.
 *
 * Invariants
 *  H1 a name of the queue's own is never forwarded, in either spelling, also where the queue leaves it out: a
 *     receiver may trust what it reads there
 *  H2 one attempt carries one spelling
 */
import type { MessageId } from '../../kernel/index.js';
import { spelledHeaderName } from './header-names.js';
import type { Envelope, HeaderList } from './records.js';

/** The alias's words: of headers without the dash, and of the queue, capitalized where it names the sender. */
export interface DeliveryAlias {
  readonly headerWord: string;
  readonly queueWord: string;
}

export interface DeliveredHeadersOptions {
  /** Undefined: alias messages are delivered in the neutral spelling. */
  readonly alias: DeliveryAlias | undefined;
  /** `EU-CENTRAL-1`; undefined: receivers are not told. */
  readonly region: string | undefined;
}

export interface AttemptIdentity {
  readonly messageId: MessageId;
  /** 0 for the first attempt. */
  readonly retried: number;
  readonly signature: string;
}

const NEUTRAL: DeliveryAlias = { headerWord: 'Svc', queueWord: 'msgq' };
const NEUTRAL_PREFIX = 'svc-';
const OWN_NAMES = ['message-id', 'retried', 'signature', 'caller-ip', 'schedule-id', 'topic-name', 'region'] as const;

export class DeliveredHeaders {
  readonly #region: string | undefined;
  readonly #alias: DeliveryAlias | undefined;
  readonly #reserved: ReadonlySet<string>;
  /** What all attempts for an envelope share. */
  readonly #shared = new WeakMap<Envelope, HeaderList>();

  constructor({ alias, region }: DeliveredHeadersOptions) {
    this.#alias = alias;
    this.#region = region;
    const prefixes = [NEUTRAL_PREFIX, ...(alias ? [`${alias.headerWord.toLowerCase()}-`] : [])];
    this.#reserved = new Set(['user-agent', ...prefixes.flatMap((prefix) => OWN_NAMES.map((name) => prefix + name))]);
  }

  of(envelope: Envelope, { messageId, retried, signature }: AttemptIdentity): HeaderList {
    const { headerWord } = this.#wordsFor(envelope);
    return [
      ...this.#sharedOf(envelope),
      [`${headerWord}-Message-Id`, messageId],
      [`${headerWord}-Retried`, String(retried)],
      [`${headerWord}-Signature`, signature],
    ];
  }

  #sharedOf(envelope: Envelope): HeaderList {
    const known = this.#shared.get(envelope);
    if (known !== undefined) return known;
    const { headerWord, queueWord } = this.#wordsFor(envelope);
    const headers: (readonly [string, string])[] = [['User-Agent', `${headerWord}-${capitalized(queueWord)}`]];
    for (const [name, value] of envelope.settings.header) {
      if (!this.#reserved.has(name.toLowerCase())) headers.push([spelledHeaderName(name, headerWord), value]);
    }
    const own = [
      ['Caller-Ip', envelope.callerIp],
      ['Schedule-Id', envelope.scheduleId],
      ['Topic-Name', envelope.topicName],
      ['Region', this.#region],
    ] as const;
    for (const [name, value] of own) if (value) headers.push([`${headerWord}-${name}`, value]);
    this.#shared.set(envelope, headers);
    return headers;
  }

  #wordsFor(envelope: Envelope): DeliveryAlias {
    return (envelope.isAlias ? this.#alias : undefined) ?? NEUTRAL;
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
