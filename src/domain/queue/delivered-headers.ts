/**
 * The headers of an attempt. What the queue says itself comes under the neutral names or, for a message that was
 * accepted by an alias request, under the alias's; forwarded headers are stored neutral and spelled the same way.
 *
 * Invariants
 *  H1 a name of the queue's own is never forwarded, in either spelling, also where the queue leaves it out: a
 *     receiver may trust what it reads there
 *  H2 one attempt carries one spelling
 *  H3 a message to a workflow's endpoint says which run it is of and what it is to the run, whatever was forwarded; a
 *     call that a run makes to others says nothing of the run, and what it was given goes through
 */
import type { MessageId } from '../../kernel/index.js';
import type { RunPart } from '../workflow/records.js';
import { outgoingHeaderProblem, spelledHeaderName } from './header-names.js';
import type { DeliverySettings, Envelope, FlowControlSetting, HeaderList } from './records.js';

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
  /** Of a message of a workflow's run. */
  readonly part?: RunPart | undefined;
  /** The endpoint is to fetch the list of entries itself. */
  readonly isListLeftOut?: boolean | undefined;
}

const NEUTRAL: DeliveryAlias = { headerWord: 'Svc', queueWord: 'msgq' };
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
/** By these an endpoint tells what reaches it: only what is one says so. */
const ROLE_NAMES = {
  step: ['workflow-callback', 'workflow-is-failure', 'workflow-failure-callback'],
  // With a version, its body would be taken for a list of entries.
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
  readonly #region: string | undefined;
  readonly #alias: DeliveryAlias | undefined;
  readonly #reserved: ReadonlyMap<Kind, ReadonlySet<string>>;
  /** What all attempts for an envelope share. */
  readonly #shared: ReadonlyMap<Kind, WeakMap<Envelope, HeaderList>> = new Map(
    KINDS.map((kind) => [kind, new WeakMap()]),
  );

  constructor({ alias, region }: DeliveredHeadersOptions) {
    this.#alias = alias;
    this.#region = region;
    const prefixes = [NEUTRAL_PREFIX, ...(alias ? [`${alias.headerWord.toLowerCase()}-`] : [])];
    const reservedFor = (kind: Kind) => {
      const names = kind === 'plain' ? OWN_NAMES : [...OWN_NAMES, ...RUN_NAMES, ...ROLE_NAMES[kind]];
      return new Set(['user-agent', ...prefixes.flatMap((prefix) => names.map((name) => prefix + name))]);
    };
    this.#reserved = new Map(KINDS.map((kind) => [kind, reservedFor(kind)]));
  }

  of(envelope: Envelope, { messageId, retried, signature, part, isListLeftOut }: AttemptIdentity): HeaderList {
    const { headerWord } = this.#wordsFor(envelope);
    const kind = part === undefined || part.role === 'call' ? 'plain' : part.role;
    const shared = this.#sharedOf(envelope, kind);
    const headers: HeaderList[number][] = isListLeftOut ? [...shared.filter(isNotContentType), JSON_TYPE] : [...shared];
    if (part !== undefined && kind !== 'plain') {
      headers.push([`${headerWord}-Workflow-RunId`, part.runId]);
      headers.push([`${headerWord}-Workflow-CreatedAt`, String(part.runCreatedAtMs)]);
    }
    headers.push([`${headerWord}-Message-Id`, messageId]);
    headers.push([`${headerWord}-Retried`, String(retried)]);
    headers.push([`${headerWord}-Signature`, signature]);
    return headers;
  }

  #sharedOf(envelope: Envelope, kind: Kind): HeaderList {
    const sharedOfKind = this.#shared.get(kind) as WeakMap<Envelope, HeaderList>;
    const known = sharedOfKind.get(envelope);
    if (known !== undefined) return known;
    const { headerWord, queueWord } = this.#wordsFor(envelope);
    const reserved = this.#reserved.get(kind) as ReadonlySet<string>;
    const headers: HeaderList[number][] = [['User-Agent', `${headerWord}-${capitalized(queueWord)}`]];
    for (const [name, value] of envelope.settings.header) {
      if (!reserved.has(name.toLowerCase())) headers.push([spelledHeaderName(name, headerWord), value]);
    }
    if (kind === 'step' && headers.every(isNotContentType)) headers.push(JSON_TYPE);
    const own = [
      ['Caller-Ip', envelope.callerIp],
      ['Schedule-Id', envelope.scheduleId],
      ['Topic-Name', envelope.topicName],
      ['Region', this.#region],
      ...(kind === 'plain' ? [] : settingsInForce(envelope.settings)),
    ] as const;
    for (const [name, value] of own) if (value) headers.push([`${headerWord}-${name}`, value]);
    sharedOfKind.set(envelope, headers);
    return headers;
  }

  #wordsFor(envelope: Envelope): DeliveryAlias {
    return (envelope.isAlias ? this.#alias : undefined) ?? NEUTRAL;
  }
}

/** As they would be given. What no header can carry is left out: nothing hangs on it. */
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
