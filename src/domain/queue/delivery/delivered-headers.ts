/**
 * The headers of an attempt. The queue's own headers have the alias's names if there is an alias, else the neutral
 * ones, regardless of the spelling of the publish: receivers of one installation look for one. An endpoint of a run that
 * was not triggered in the alias's spelling gets both. Forwarded headers are stored in the neutral spelling and sent in
 * the same one.
 *
 *  DH1 a header with a name of the queue's own is never forwarded, in either spelling, even where the queue does not
 *      send it: a receiver may trust such a header
 *  DH2 an attempt carries one spelling, or each header in both: when both are configured, or for a workflow endpoint
 *      whose run was triggered without the alias's spelling
 *  DH3 a message to a workflow endpoint names its run and its role in the run, overriding forwarded headers; a call
 *      that a run makes to another URL does not mention the run and forwards its headers unchanged
 *  DH4 a request without a body has no headers that describe a body
 */
import { bytesOfText, type MessageId } from '../../../kernel/index.js';
import {
  carriesBody,
  type DeliverySettings,
  type Envelope,
  type FlowControlSetting,
  type HeaderList,
} from '../model/records.js';
import type { RunPart } from '../model/run-records.js';
import { outgoingHeaderProblem, spelledHeader } from '../model/settings/header-names.js';

/**
 * The words of a spelling: the prefix of headers without the dash, and the queue's name, capitalized in `User-Agent`.
 */
export interface DeliveryWords {
  readonly headerWord: string;
  readonly queueWord: string;
}

export interface DeliveredHeadersOptions {
  /** Undefined: deliveries use the neutral spelling. */
  readonly alias: DeliveryWords | undefined;
  /** Also sends the neutral spelling. */
  readonly isBoth?: boolean;
  /** For example `EU-CENTRAL-1`; undefined: the header is left out. */
  readonly region: string | undefined;
}

export interface AttemptIdentity {
  readonly messageId: MessageId;
  /** 0 for the first attempt. */
  readonly retried: number;
  /** One for each of `wordsFor`. */
  readonly signatures: readonly string[];
  /** Set for a message of a workflow run. */
  readonly part?: RunPart | undefined;
  /** The endpoint has to fetch the list of entries itself. */
  readonly isListLeftOut?: boolean | undefined;
}

const NEUTRAL: DeliveryWords = { headerWord: 'Svc', queueWord: 'msgq' };
const NEUTRAL_PREFIX = 'svc-';
const OWN_NAMES = ['message-id', 'retried', 'signature', 'caller-ip', 'schedule-id', 'topic-name', 'region'] as const;
/** Further names that only a message to a workflow endpoint carries. */
const RUN_NAMES = [
  'workflow-runid',
  'workflow-createdat',
  'max-retries',
  'retry-delay',
  'flow-control-key',
  'flow-control-value',
] as const;
/** An endpoint recognises the role of a message by these names, so they are not forwarded with another role. */
const ROLE_NAMES = {
  step: ['workflow-callback', 'workflow-is-failure', 'workflow-failure-callback'],
  // With a version the endpoint would read the body as a list of entries.
  result: ['workflow-sdk-version', 'workflow-is-failure', 'workflow-failure-callback'],
  failure: ['workflow-callback'],
} as const;
const OF_A_BODY: ReadonlySet<string> = new Set(['content-type', 'content-encoding']);
const CONTENT_TYPE = 'Content-Type';
/** This exact value without a length tells an endpoint to fetch the list. */
const JSON_TYPE: HeaderList[number] = [CONTENT_TYPE, 'application/json'];

/** `plain`: a message without a run, or a run's call to another URL. */
type Kind = 'plain' | keyof typeof ROLE_NAMES;
const KINDS: readonly Kind[] = ['plain', 'step', 'result', 'failure'];

export class DeliveredHeaders {
  /** One prefix for each spelling in deliveries of plain messages. */
  readonly headerWords: readonly string[];
  readonly #region: string | undefined;
  readonly #plain: Spellings;
  /** For endpoints of runs that were triggered without the alias's spelling. */
  readonly #ofNeutralRun: Spellings;
  readonly #reserved: ReadonlyMap<Kind, ReadonlySet<string>>;
  /** The headers that all attempts of an envelope share. */
  readonly #shared: ReadonlyMap<Kind, WeakMap<Envelope, HeaderList>> = new Map(
    KINDS.map((kind) => [kind, new WeakMap()]),
  );

  constructor({ alias, isBoth = false, region }: DeliveredHeadersOptions) {
    const both = alias === undefined ? spellingsOf(NEUTRAL) : spellingsOf(alias, NEUTRAL);
    this.#ofNeutralRun = both;
    this.#plain = alias === undefined || isBoth ? both : spellingsOf(alias);
    this.headerWords = this.#plain.headerWords;
    this.#region = region;
    const prefixes = [NEUTRAL_PREFIX, ...(alias ? [`${alias.headerWord.toLowerCase()}-`] : [])];
    const reservedFor = (kind: Kind) => {
      const names = kind === 'plain' ? OWN_NAMES : [...OWN_NAMES, ...RUN_NAMES, ...ROLE_NAMES[kind]];
      return new Set(['user-agent', ...prefixes.flatMap((prefix) => names.map((name) => prefix + name))]);
    };
    this.#reserved = new Map(KINDS.map((kind) => [kind, reservedFor(kind)]));
  }

  /** One prefix for each spelling in a delivery; signatures are issued under the same words. */
  wordsFor(envelope: Pick<Envelope, 'isAlias'>, part: Pick<RunPart, 'role'> | undefined): readonly string[] {
    return this.#spellingsFor(envelope, kindOf(part)).headerWords;
  }

  of(envelope: Envelope, { messageId, retried, signatures, part, isListLeftOut }: AttemptIdentity): HeaderList {
    const kind = kindOf(part);
    const shared = this.#sharedOf(envelope, kind);
    const headers: HeaderList[number][] = isListLeftOut ? [...shared.filter(isNotContentType), JSON_TYPE] : [...shared];
    this.#spellingsFor(envelope, kind).headerWords.forEach((headerWord, index) => {
      if (part !== undefined && kind !== 'plain') {
        headers.push([`${headerWord}-Workflow-RunId`, part.runId]);
        headers.push([`${headerWord}-Workflow-CreatedAt`, String(part.runCreatedAtMs)]);
      }
      headers.push([`${headerWord}-Message-Id`, messageId]);
      headers.push([`${headerWord}-Retried`, String(retried)]);
      headers.push([`${headerWord}-Signature`, signatures[index] as string]);
    });
    return headers;
  }

  /**
   * The headers of a webhook for a customer: the forwarded ones and the signature, without the queue's own.
   * @param signature of Standard Webhooks
   */
  ofWebhook({ settings }: Pick<Envelope, 'settings'>, signature: HeaderList): HeaderList {
    const { headerWord, queueWord } = this.#plain.sender;
    return [['User-Agent', `${headerWord}-${capitalized(queueWord)}`], ...settings.header, ...signature];
  }

  #sharedOf(envelope: Envelope, kind: Kind): HeaderList {
    const sharedOfKind = this.#shared.get(kind) as WeakMap<Envelope, HeaderList>;
    const known = sharedOfKind.get(envelope);
    if (known !== undefined) return known;
    const { sender, headerWords } = this.#spellingsFor(envelope, kind);
    const reserved = this.#reserved.get(kind) as ReadonlySet<string>;
    const isDescribed = kind !== 'plain' || carriesBody(envelope.settings.method);
    const forwarded = envelope.settings.header.filter(
      ([name]) => !reserved.has(name.toLowerCase()) && (isDescribed || !OF_A_BODY.has(name.toLowerCase())),
    );
    const headers: HeaderList[number][] = [
      ['User-Agent', `${sender.headerWord}-${capitalized(sender.queueWord)}`],
      ...spelledHeader(forwarded, headerWords),
    ];
    if (kind === 'step' && headers.every(isNotContentType)) headers.push(JSON_TYPE);
    const own = [
      ['Caller-Ip', envelope.callerIp],
      ['Schedule-Id', envelope.scheduleId],
      ['Topic-Name', envelope.topicName],
      ['Region', this.#region],
      ...(kind === 'plain' ? [] : settingsInForce(envelope.settings)),
    ] as const;
    for (const headerWord of headerWords) {
      for (const [name, value] of own) if (value) headers.push([`${headerWord}-${name}`, value]);
    }
    sharedOfKind.set(envelope, headers);
    return headers;
  }

  /** All messages of a run have the `isAlias` of its trigger. */
  #spellingsFor({ isAlias }: Pick<Envelope, 'isAlias'>, kind: Kind): Spellings {
    return kind === 'plain' || isAlias ? this.#plain : this.#ofNeutralRun;
  }
}

interface Spellings {
  /** It gives the `User-Agent`, of which there is only one. */
  readonly sender: DeliveryWords;
  readonly headerWords: readonly string[];
}

function spellingsOf(sender: DeliveryWords, ...others: readonly DeliveryWords[]): Spellings {
  return { sender, headerWords: [sender, ...others].map(({ headerWord }) => headerWord) };
}

function kindOf(part: Pick<RunPart, 'role'> | undefined): Kind {
  return part === undefined || part.role === 'call' ? 'plain' : part.role;
}

/**
 * Settings in the form of request headers. A value that a header cannot carry is left out: the endpoint only displays
 * them.
 */
function settingsInForce({ maxRetries, retryDelay = '', flowControl }: DeliverySettings): HeaderList {
  const given: HeaderList[number][] = [['Max-Retries', String(maxRetries)]];
  if (canBeHeader(retryDelay)) given.push(['Retry-Delay', retryDelay]);
  if (flowControl !== undefined) {
    const key = bytesOfText(flowControl.key);
    if (canBeHeader(key)) given.push(['Flow-Control-Key', key], ['Flow-Control-Value', flowControlText(flowControl)]);
  }
  return given;
}

function canBeHeader(value: string): boolean {
  return outgoingHeaderProblem('x', value) === undefined;
}

function flowControlText({ parallelism, rate, periodSeconds }: FlowControlSetting): string {
  const limits: string[] = [];
  if (parallelism !== undefined) limits.push(`parallelism=${parallelism}`);
  if (rate !== undefined) limits.push(`rate=${rate}`, `period=${periodSeconds}`);
  return limits.join(',');
}

function isNotContentType([name]: HeaderList[number]): boolean {
  return name.toLowerCase() !== 'content-type';
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
