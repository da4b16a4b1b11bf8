/**
 * Parses the options of one call: each text becomes a validated value, for a message, its callbacks and theirs. Every
 * refusal names its header.
 *
 *  SR1 a callback is configured like a message, with these defaults: POST, JSON, as many retries as its message
 *  SR2 redacted parts of a message are also hidden in its callbacks, which repeat them in their bodies
 *  SR3 the account's limits hold for callbacks as for messages
 */
import { BREAKERS_FORMAT_LEVEL, PRIORITIES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import { MAX_CALLBACK_DEPTH } from '../limits.js';
import {
  type AccountLimits,
  type CallbackSetting,
  type DeliverySettings,
  type FlowControlSetting,
  type HeaderList,
  HTTP_METHODS,
  type HttpMethod,
  MESSAGES_WHEN_STOPPED,
  PRIORITIES,
  type Priority,
  type Redaction,
} from '../records.js';
import { parseCron } from './cron.js';
import { parseDestinationUrl } from './destination.js';
import { parseDurationSeconds, parseWholeNumber } from './duration.js';
import { parseFlowControl } from './flow-control-setting.js';
import { ForwardedHeader } from './forwarded-header.js';
import { parseLabels } from './labels.js';
import { deduplicationIdProblem, nameProblem } from './names.js';
import { parseRedaction } from './redaction.js';
import { compileRetryDelay } from './retry-delay.js';
import type { CollectedOptions, OptionName, SettingOptions } from './setting-options.js';

/** Message options, parsed from configuration headers and query keys. */
export interface ParsedSettings {
  readonly settings: DeliverySettings;
  /** Undefined: the delay of the settings counts. With an instant, a given delay is dropped. */
  readonly notBeforeMs: number | undefined;
  readonly deduplication: { readonly id: string } | 'content' | undefined;
  /** Only in a schedule's call; trimmed and valid. */
  readonly cron: string | undefined;
  readonly scheduleId: string | undefined;
  readonly queueName: string | undefined;
}

export type SettingsOutcome =
  | { readonly isOk: true; readonly parsed: ParsedSettings }
  /** `isQuota`: only a limit of the account refuses the call. */
  | { readonly isOk: false; readonly message: string; readonly isQuota: boolean };

export interface SettingsContext {
  readonly limits: AccountLimits;
  /** The reference for the longest delay of an instant. */
  readonly nowMs: number;
  /**
   * Selects the headers that have a meaning: schedules and retries have no instant and no deduplication, and only a
   * schedule's call has a cron expression, an id and a queue in headers.
   */
  readonly of: 'publish' | 'enqueue' | 'batch' | 'schedule' | 'retry';
  /**
   * A message of a workflow run: clients forward all headers of their own call, so those that cannot be forwarded are
   * left out.
   */
  readonly isOfRun?: boolean;
  /**
   * Refuses options without effect, because a caller expects one. `options`: those without a meaning in this call.
   * `callbacks`: also those of a missing callback. Default: none are refused, because an earlier release may have
   * accepted such settings.
   */
  readonly refuses?: 'options' | 'callbacks' | undefined;
  /** The level of stored formats, for options that need one. Default: no option is refused for it. */
  readonly formatLevel?: number;
}

type Of = SettingsContext['of'];

const OF_SCHEDULES_ONLY: readonly OptionName[] = ['cron', 'schedule-id', 'queue-name'];
const NOT_OF_SCHEDULES: readonly OptionName[] = ['not-before', 'deduplication-id', 'content-based-deduplication'];
const NOT_OF_CALLBACKS: readonly OptionName[] = [...OF_SCHEDULES_ONLY, ...NOT_OF_SCHEDULES, 'header-forward'];
/** Known options without a meaning in such a call. */
const MEANINGLESS: Readonly<Record<Of, readonly OptionName[]>> = {
  publish: OF_SCHEDULES_ONLY,
  enqueue: OF_SCHEDULES_ONLY,
  batch: OF_SCHEDULES_ONLY,
  schedule: NOT_OF_SCHEDULES,
  retry: NOT_OF_CALLBACKS,
};
const CALL_WORDS: Readonly<Record<Of, string>> = {
  publish: 'of a message',
  enqueue: 'of a message',
  batch: 'of a message',
  schedule: 'of a schedule',
  retry: 'of a retry',
};
/** The call in which such an option has a meaning. */
const PLACES: Partial<Readonly<Record<OptionName, string>>> = {
  cron: 'a timetable is given to POST /v2/schedules/<destination>',
  'schedule-id': 'a schedule is made by POST /v2/schedules/<destination>',
  'queue-name': 'a queue is named in the path of POST /v2/enqueue/<queue>/<destination>, or as queue in a batch',
};

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
const PRIORITY_WORDS: ReadonlySet<string> = new Set(PRIORITIES);
const NO_LABELS: readonly string[] = [];
const NOTHING_OF_A_BODY = { contentType: undefined, contentEncoding: undefined };
const JSON_HEADER: HeaderList = [['Content-Type', 'application/json']];

/** The settings of a message or callback without options. */
export function plainSettings(maxRetries: number, header: HeaderList): DeliverySettings {
  return {
    method: 'POST',
    header,
    maxRetries,
    retryDelay: undefined,
    timeoutSeconds: undefined,
    delaySeconds: 0,
    callback: undefined,
    failureCallback: undefined,
    flowControl: undefined,
    labels: NO_LABELS,
    redact: undefined,
  };
}

/** Parses one call; continues after a problem, but reports only the first. */
export class SettingsReader {
  #problem: string | undefined;
  /** The first problem is a limit of the account. */
  #isQuota = false;

  constructor(
    readonly call: CollectedOptions,
    readonly context: SettingsContext,
  ) {
    this.#problem = call.problem;
  }

  read(base: DeliverySettings): SettingsOutcome {
    const { message } = this.call;
    const { of } = this.context;
    const settings = this.#settings(message, base);
    const isOnce = of !== 'schedule' && of !== 'retry';
    const notBeforeMs = isOnce ? this.#notBeforeMs(message) : undefined;
    const deduplication = isOnce ? this.#deduplication(message) : undefined;
    const parsed: ParsedSettings = {
      settings: notBeforeMs === undefined ? settings : { ...settings, delaySeconds: 0 },
      notBeforeMs,
      deduplication,
      cron: of === 'schedule' ? this.#cron(message) : undefined,
      scheduleId: of === 'schedule' ? this.#name(message, 'schedule-id') : undefined,
      queueName: of === 'schedule' ? this.#name(message, 'queue-name') : undefined,
    };
    if (this.context.refuses !== undefined) this.#refuseMeaningless(message);
    if (this.#problem === undefined) return { isOk: true, parsed };
    return { isOk: false, message: this.#problem, isQuota: this.#isQuota };
  }

  #refuseMeaningless(options: SettingOptions): void {
    const { of, refuses } = this.context;
    const isMessage = options.depth === 0;
    for (const option of isMessage ? MEANINGLESS[of] : NOT_OF_CALLBACKS) {
      if (options.text(option) === undefined) continue;
      const place = isMessage ? PLACES[option] : undefined;
      const scope = isMessage ? CALL_WORDS[of] : 'of a callback';
      this.#refuse(options, option, `is no option ${scope}${place === undefined ? '' : `: ${place}`}`);
    }
    for (const [kind, own] of [
      ['callback', options.callback],
      ['failure-callback', options.failureCallback],
    ] as const) {
      if (own === undefined) continue;
      this.#refuseMeaningless(own);
      if (refuses !== 'callbacks' || own.isEmpty || options.text(kind) !== undefined) continue;
      this.#problem ??= `${own.prefix}… configures a callback that the call does not have: give its URL as ${options.prefix}${kind}`;
    }
  }

  #settings(options: SettingOptions, base: DeliverySettings): DeliverySettings {
    const maxRetries = this.#retries(options) ?? base.maxRetries;
    const redact = this.#redaction(options) ?? base.redact;
    const priority = this.#priority(options) ?? base.priority;
    const whenStopped = this.#whenStopped(options) ?? base.whenStopped;
    const settings = {
      method: this.#method(options) ?? base.method,
      header: this.#header(options, base.header),
      maxRetries,
      retryDelay: this.#retryDelay(options) ?? base.retryDelay,
      timeoutSeconds: this.#timeoutSeconds(options) ?? base.timeoutSeconds,
      delaySeconds: this.#delaySeconds(options) ?? base.delaySeconds,
      callback: hiding(redact, this.#callback(options, 'callback', base.callback, maxRetries)),
      failureCallback: hiding(redact, this.#callback(options, 'failure-callback', base.failureCallback, maxRetries)),
      flowControl: this.#flowControl(options) ?? base.flowControl,
      labels: this.#labels(options) ?? base.labels,
      redact,
    };
    return {
      ...settings,
      ...(priority !== undefined && priority !== 'normal' && { priority }),
      ...(whenStopped && { whenStopped }),
    };
  }

  #callback(
    options: SettingOptions,
    kind: 'callback' | 'failure-callback',
    base: CallbackSetting | undefined,
    maxRetries: number,
  ): CallbackSetting | undefined {
    const text = options.text(kind);
    const own = kind === 'callback' ? options.callback : options.failureCallback;
    if (text === undefined && (base === undefined || own === undefined)) return base;
    if (options.depth === MAX_CALLBACK_DEPTH) {
      return this.#refuse(options, kind, `is nested deeper than ${MAX_CALLBACK_DEPTH} callbacks`);
    }
    let url = base?.url ?? '';
    if (text !== undefined) {
      const destination = parseDestinationUrl(text, 'callback');
      if (!destination.isOk) return this.#refuse(options, kind, `: ${destination.message}`);
      url = destination.url;
    }
    const from = base?.settings ?? plainSettings(maxRetries, JSON_HEADER);
    return { url, settings: own === undefined ? from : this.#settings(own, from) };
  }

  #header(options: SettingOptions, base: HeaderList): HeaderList {
    const isMessage = options.depth === 0;
    const isEverything = isMessage && this.#flag(options, 'header-forward');
    const { contentType, contentEncoding } = isMessage ? this.call : NOTHING_OF_A_BODY;
    const isOfBody = contentType !== undefined || contentEncoding !== undefined;
    if (options.forward.length === 0 && !isOfBody && !isEverything) return base;
    const header = new ForwardedHeader(base, this.context.isOfRun);
    if (contentType !== undefined) header.set('content-type', contentType);
    if (contentEncoding !== undefined) header.set('content-encoding', contentEncoding);
    for (const [name, value] of options.forward) {
      // The body's own headers win over forwarded ones.
      const plain = name === 'content-type' ? contentType : name === 'content-encoding' ? contentEncoding : undefined;
      if (plain === undefined) header.add(`${options.prefix}forward-`, name, value);
    }
    if (isEverything) header.addAll(this.call.others);
    const finished = header.finish();
    this.#problem ??= finished.problem;
    return finished.header;
  }

  #method(options: SettingOptions): HttpMethod | undefined {
    const text = options.text('method');
    if (text === undefined) return undefined;
    const method = text.toUpperCase();
    if (METHODS.has(method)) return method as HttpMethod;
    return this.#refuse(options, 'method', `must be one of ${HTTP_METHODS.join(', ')}`);
  }

  #retries(options: SettingOptions): number | undefined {
    const text = options.text('retries');
    if (text === undefined) return undefined;
    const retries = parseWholeNumber(text);
    if (retries === undefined) return this.#refuse(options, 'retries', 'must be a whole number, 0 or more');
    return this.#within(retries, 'maxRetries');
  }

  #retryDelay(options: SettingOptions): string | undefined {
    const text = options.text('retry-delay');
    if (text === undefined) return undefined;
    const outcome = compileRetryDelay(text);
    return outcome.isOk ? text : this.#refuse(options, 'retry-delay', `is invalid: ${outcome.message}`);
  }

  #timeoutSeconds(options: SettingOptions): number | undefined {
    const text = options.text('timeout');
    if (text === undefined) return undefined;
    const seconds = parseDurationSeconds(text);
    if (seconds !== undefined && seconds > 0) return seconds;
    return this.#refuse(options, 'timeout', 'must be a duration of at least 1s, such as 30s or 1m30s');
  }

  #delaySeconds(options: SettingOptions): number | undefined {
    const text = options.text('delay');
    // With an instant, the delay is not parsed.
    if (text === undefined || this.#hasInstant(options)) return undefined;
    const seconds = parseDurationSeconds(text);
    if (seconds === undefined) return this.#refuse(options, 'delay', 'must be a duration, such as 50s or 1d10h30m');
    return this.#within(seconds, 'maxDelay');
  }

  #hasInstant(options: SettingOptions): boolean {
    const { of } = this.context;
    return options.depth === 0 && of !== 'schedule' && of !== 'retry' && options.text('not-before') !== undefined;
  }

  #notBeforeMs(options: SettingOptions): number | undefined {
    const text = options.text('not-before');
    if (text === undefined) return undefined;
    const seconds = parseWholeNumber(text);
    if (seconds === undefined) return this.#refuse(options, 'not-before', 'must be a Unix time in whole seconds');
    this.#within(Math.ceil(seconds - this.context.nowMs / 1000), 'maxDelay');
    return seconds * 1000;
  }

  #flowControl(options: SettingOptions): FlowControlSetting | undefined {
    const key = options.text('flow-control-key');
    const value = options.text('flow-control-value');
    if (key === undefined && value === undefined) return undefined;
    if (key === undefined)
      return this.#refuse(options, 'flow-control-value', 'can only be given with a flow-control key');
    if (value === undefined)
      return this.#refuse(options, 'flow-control-key', 'can only be given with a flow-control value');
    const outcome = parseFlowControl(key, value);
    return outcome.isOk ? outcome.setting : this.#refuse(options, 'flow-control-value', `: ${outcome.message}`);
  }

  #labels(options: SettingOptions): readonly string[] | undefined {
    const text = options.text('label');
    if (text === undefined) return undefined;
    const outcome = parseLabels(text);
    return outcome.isOk ? outcome.labels : this.#refuse(options, 'label', `: ${outcome.message}`);
  }

  #redaction(options: SettingOptions): Redaction | undefined {
    const text = options.text('redact-fields');
    if (text === undefined) return undefined;
    const outcome = parseRedaction(text);
    return outcome.isOk ? outcome.redaction : this.#refuse(options, 'redact-fields', outcome.message);
  }

  #priority(options: SettingOptions): Priority | undefined {
    const word = options.text('priority')?.toLowerCase();
    if (word === undefined) return undefined;
    const { formatLevel = PRIORITIES_FORMAT_LEVEL } = this.context;
    if (formatLevel < PRIORITIES_FORMAT_LEVEL) {
      return this.#refuse(
        options,
        'priority',
        `needs format level ${PRIORITIES_FORMAT_LEVEL}: run millrace cluster upgrade`,
      );
    }
    if (PRIORITY_WORDS.has(word)) return word as Priority;
    return this.#refuse(options, 'priority', `must be one of ${PRIORITIES.join(', ')}`);
  }

  #whenStopped(options: SettingOptions): DeliverySettings['whenStopped'] {
    const word = options.text('when-stopped')?.toLowerCase();
    if (word === undefined) return undefined;
    const { formatLevel = BREAKERS_FORMAT_LEVEL } = this.context;
    if (formatLevel < BREAKERS_FORMAT_LEVEL) {
      const advice = `needs format level ${BREAKERS_FORMAT_LEVEL}: run millrace cluster upgrade`;
      return this.#refuse(options, 'when-stopped', advice);
    }
    const fate = MESSAGES_WHEN_STOPPED.find((each) => each === word);
    return fate ?? this.#refuse(options, 'when-stopped', `must be one of ${MESSAGES_WHEN_STOPPED.join(', ')}`);
  }

  #deduplication(options: SettingOptions): ParsedSettings['deduplication'] {
    const isByContent = this.#flag(options, 'content-based-deduplication');
    const id = options.text('deduplication-id');
    if (id === undefined) return isByContent ? 'content' : undefined;
    const problem = deduplicationIdProblem(id);
    if (problem !== undefined) this.#problem ??= problem;
    return { id };
  }

  #cron(options: SettingOptions): string | undefined {
    const text = options.text('cron');
    if (text === undefined) return undefined;
    const outcome = parseCron(text);
    if (outcome.isOk) return outcome.cron;
    this.#problem ??= outcome.message;
    return undefined;
  }

  #name(options: SettingOptions, option: 'schedule-id' | 'queue-name'): string | undefined {
    const text = options.text(option);
    if (text === undefined) return undefined;
    const problem = nameProblem(option === 'queue-name' ? 'queue name' : 'schedule id', text);
    return problem === undefined ? text : this.#refuse(options, option, `: ${problem}`);
  }

  #flag(options: SettingOptions, option: OptionName): boolean {
    const text = options.text(option)?.toLowerCase();
    if (text === undefined || text === 'false') return false;
    if (text !== 'true') this.#refuse(options, option, 'must be true or false');
    return true;
  }

  #within(value: number, quota: 'maxDelay' | 'maxRetries'): number {
    const { limits } = this.context;
    const limit = quota === 'maxDelay' ? limits.maxDelaySeconds : limits.maxRetries;
    if (value > limit && this.#problem === undefined) {
      this.#problem = `quota ${quota} exceeded, current limit: ${limit}`;
      this.#isQuota = true;
    }
    return value;
  }

  /** @param reason the text after the header's name, with a leading colon unless it starts with a verb */
  #refuse(options: SettingOptions, option: OptionName, reason: string): undefined {
    const separator = reason.startsWith(':') ? '' : ' ';
    this.#problem ??= `${options.prefix}${option}${separator}${reason}`;
    return undefined;
  }
}

/** SR2 (redacted parts are also hidden in callbacks): the callback's body contains the message's body and headers. */
function hiding(redact: Redaction | undefined, callback: CallbackSetting | undefined): CallbackSetting | undefined {
  if (redact === undefined || callback === undefined || callback.settings.redact?.body === true) return callback;
  const own = callback.settings.redact ?? { allHeaders: false, headers: [] };
  return { ...callback, settings: { ...callback.settings, redact: { ...own, body: true } } };
}
