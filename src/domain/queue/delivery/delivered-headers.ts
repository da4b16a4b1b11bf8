/**
 * The headers of an attempt. What the queue says itself comes under the alias's names where there is an alias, else
 * under the neutral ones, whatever spelling the message was accepted in: receivers of one installation look for one.
 * Forwarded headers are stored neutral and spelled the same way.
 *
 * Invariants
 *  DH1 a name of the queue's own is never forwarded, in either spelling, also where the queue leaves it out: a
 *      receiver may trust what it reads there
 *  DH2 one attempt carries one spelling, or everything in both where both are asked for
 *  DH3 a message to a workflow's endpoint says which run it is of and what it is to the run, whatever was forwarded; a
 *      call that a run makes to others says nothing of the run, and what it was given goes through
 *  DH4 what has no body is not described as if it had one
 */
import type { MessageId } from '../../../kernel/index.js';
import {
  carriesBody,
  type DeliverySettings,
  type Envelope,
  type FlowControlSetting,
  type HeaderList,
} from '../records.js';
import type { RunPart } from '../runs/records.js';
import { outgoingHeaderProblem, spelledHeader } from '../settings/header-names.js';

/** The words of a spelling: of headers without the dash, and of the queue, capitalized where it names the sender. */
export interface DeliveryWords {
  readonly headerWord: string;
  readonly queueWord: string;
}

export interface DeliveredHeadersOptions {
  /** Undefined: deliveries are in the neutral spelling. */
  readonly alias: DeliveryWords | undefined;
  /** The neutral spelling beside the alias's. */
  readonly isBoth?: boolean;
  /** `EU-CENTRAL-1`; undefined: receivers are not told. */
  readonly region: string | undefined;
}

export interface AttemptIdentity {
  readonly messageId: MessageId;
  /** 0 for the first attempt. */
  readonly retried: number;
  /** One for each of `headerWords`. */
  readonly signatures: readonly string[];
  /** It is there for a message of a workflow's run. */
  readonly part?: RunPart | undefined;
  /** The endpoint is to fetch the list of entries itself. */
  readonly isListLeftOut?: boolean | undefined;
}

const NEUTRAL: DeliveryWords = { headerWord: 'Svc', queueWord: 'msgq' };
const NEUTRAL_PREFIX = 'svc-';
const OWN_NAMES = ['message-id', 'retried', 'signature', 'caller-ip', 'schedule-id', 'topic-name', 'region'] as const;
/** Beside those, of every message to a workflow's endpoint. */
const RUN_NAMES = [
  'workflow-runid',
  'workflow-createdat',
  'max-retries',
  'retry-delay',
  'flow-control-key',
  'flow-control-value',
] as const;
/** An endpoint tells by these what reaches it: only what is one says so. */
const ROLE_NAMES = {
  step: ['workflow-callback', 'workflow-is-failure', 'workflow-failure-callback'],
  // If it had a version, its body would be taken for a list of entries.
  result: ['workflow-sdk-version', 'workflow-is-failure', 'workflow-failure-callback'],
  failure: ['workflow-callback'],
} as const;
const CONTENT_TYPE = 'Content-Type';
/** Exactly this, and no length, is how an endpoint knows that it has to fetch the list. */
const JSON_TYPE: HeaderList[number] = [CONTENT_TYPE, 'application/json'];

/** `plain`: of a message of no run, and of a run's call to others. */
type Kind = 'plain' | keyof typeof ROLE_NAMES;
const KINDS: readonly Kind[] = ['plain', 'step', 'result', 'failure'];

export class DeliveredHeaders {
  /** They begin headers, and name the issuers of signatures: one for each spelling that deliveries carry. */
  readonly headerWords: readonly string[];
  readonly #region: string | undefined;
  /** The first names the sender: of `User-Agent` there is one. */
  readonly #spellings: readonly [DeliveryWords, ...DeliveryWords[]];
  readonly #reserved: ReadonlyMap<Kind, ReadonlySet<string>>;
  /** What all attempts for an envelope share. */
  readonly #shared: ReadonlyMap<Kind, WeakMap<Envelope, HeaderList>> = new Map(
    KINDS.map((kind) => [kind, new WeakMap()]),
  );

  constructor({ alias, isBoth = false, region }: DeliveredHeadersOptions) {
    this.#spellings = alias === undefined ? [NEUTRAL] : isBoth ? [alias, NEUTRAL] : [alias];
    this.headerWords = this.#spellings.map(({ headerWord }) => headerWord);
    this.#region = region;
    const prefixes = [NEUTRAL_PREFIX, ...(alias ? [`${alias.headerWord.toLowerCase()}-`] : [])];
    const reservedFor = (kind: Kind) => {
      const names = kind === 'plain' ? OWN_NAMES : [...OWN_NAMES, ...RUN_NAMES, ...ROLE_NAMES[kind]];
      return new Set(['user-agent', ...prefixes.flatMap((prefix) => names.map((name) => prefix + name))]);
    };
    this.#reserved = new Map(KINDS.map((kind) => [kind, reservedFor(kind)]));
  }

  of(envelope: Envelope, { messageId, retried, signatures, part, isListLeftOut }: AttemptIdentity): HeaderList {
    const kind = part === undefined || part.role === 'call' ? 'plain' : part.role;
    const shared = this.#sharedOf(envelope, kind);
    const headers: HeaderList[number][] = isListLeftOut ? [...shared.filter(isNotContentType), JSON_TYPE] : [...shared];
    this.#spellings.forEach(({ headerWord }, index) => {
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

  #sharedOf(envelope: Envelope, kind: Kind): HeaderList {
    const sharedOfKind = this.#shared.get(kind) as WeakMap<Envelope, HeaderList>;
    const known = sharedOfKind.get(envelope);
    if (known !== undefined) return known;
    const [sender] = this.#spellings;
    const reserved = this.#reserved.get(kind) as ReadonlySet<string>;
    const isDescribed = kind !== 'plain' || carriesBody(envelope.settings.method);
    const forwarded = envelope.settings.header.filter(
      ([name]) => !reserved.has(name.toLowerCase()) && (isDescribed || name.toLowerCase() !== 'content-type'),
    );
    const headers: HeaderList[number][] = [
      ['User-Agent', `${sender.headerWord}-${capitalized(sender.queueWord)}`],
      ...spelledHeader(forwarded, this.headerWords),
    ];
    if (kind === 'step' && headers.every(isNotContentType)) headers.push(JSON_TYPE);
    const own = [
      ['Caller-Ip', envelope.callerIp],
      ['Schedule-Id', envelope.scheduleId],
      ['Topic-Name', envelope.topicName],
      ['Region', this.#region],
      ...(kind === 'plain' ? [] : settingsInForce(envelope.settings)),
    ] as const;
    for (const { headerWord } of this.#spellings) {
      for (const [name, value] of own) if (value) headers.push([`${headerWord}-${name}`, value]);
    }
    sharedOfKind.set(envelope, headers);
    return headers;
  }
}

/** They are as they would be given. What no header can carry is left out: nothing hangs on it. */
function settingsInForce({ maxRetries, retryDelay = '', flowControl }: DeliverySettings): HeaderList {
  const given: HeaderList[number][] = [['Max-Retries', String(maxRetries)]];
  if (canBeHeader(retryDelay)) given.push(['Retry-Delay', retryDelay]);
  if (flowControl !== undefined && canBeHeader(flowControl.key)) {
    given.push(['Flow-Control-Key', flowControl.key], ['Flow-Control-Value', flowControlText(flowControl)]);
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
