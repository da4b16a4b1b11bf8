/**
 * Reads the options of one call: texts become values, each judged, for a message, its callbacks and theirs. Every
 * refusal names the header that it is about.
 *
 * Invariants
 *  SR1 a callback is configured like a message, from defaults: POST, JSON, as many retries as the message it is of
 *  SR2 what is hidden of a message is hidden of its callbacks, whose bodies repeat it
 *  SR3 bounds of the account hold for callbacks as for messages
 */
import { compileRetryDelay } from '../delivery/retry-delay.js';
import { MAX_CALLBACK_DEPTH } from '../limits.js';
import { deduplicationIdProblem } from '../messages/deduplication-key.js';
import {
  type AccountLimits,
  type CallbackSetting,
  type DeliverySettings,
  type FlowControlSetting,
  type HeaderList,
  HTTP_METHODS,
  type HttpMethod,
  type Redaction,
} from '../records.js';
import { parseCron } from '../schedules/cron.js';
import { parseDestinationUrl } from './destination.js';
import { parseDurationSeconds, parseWholeNumber } from './duration.js';
import { parseFlowControl } from './flow-control-setting.js';
import { ForwardedHeader } from './forwarded-header.js';
import { parseLabels } from './labels.js';
import { nameProblem } from './names.js';
import { parseRedaction } from './redaction.js';
import type { CollectedOptions, OptionName, SettingOptions } from './setting-options.js';

/** What a call says of its messages, read from configuration headers and query keys. */
export interface ParsedSettings {
  readonly settings: DeliverySettings;
  /** Undefined: what follows from the settings' delay. A delay beside it has been dropped. */
  readonly notBeforeMs: number | undefined;
  readonly deduplication: { readonly id: string } | 'content' | undefined;
  /** It is there in a schedule's call; trimmed, a timetable. */
  readonly cron: string | undefined;
  readonly scheduleId: string | undefined;
  readonly queueName: string | undefined;
}

export type SettingsOutcome =
  | { readonly isOk: true; readonly parsed: ParsedSettings }
  /** `isQuota`: in order but for a bound of the account. */
  | { readonly isOk: false; readonly message: string; readonly isQuota: boolean };

export interface SettingsContext {
  readonly limits: AccountLimits;
  /** Against which an instant is too far away. */
  readonly nowMs: number;
  /**
   * Which headers have a meaning: schedules and retries know no instant and no deduplication, and only a schedule's
   * call has a timetable, an id and a queue by header.
   */
  readonly of: 'publish' | 'enqueue' | 'batch' | 'schedule' | 'retry';
  /**
   * A message of a workflow's run: whoever sends it hands on all headers that it was called with, so that those which
   * cannot be forwarded are left out.
   */
  readonly isOfRun?: boolean;
}

const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS);
const NO_LABELS: readonly string[] = [];
const JSON_HEADER: HeaderList = [['Content-Type', 'application/json']];

/** They are the settings of a message or callback without options. */
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

/** Reads one call; goes on after a problem, but only the first is told. */
export class SettingsReader {
  #problem: string | undefined;
  /** The first problem is a bound of the account. */
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
    if (this.#problem === undefined) return { isOk: true, parsed };
    return { isOk: false, message: this.#problem, isQuota: this.#isQuota };
  }

  #settings(options: SettingOptions, base: DeliverySettings): DeliverySettings {
    const maxRetries = this.#retries(options) ?? base.maxRetries;
    const redact = this.#redaction(options) ?? base.redact;
    return {
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
    const contentType = isMessage ? this.call.contentType : undefined;
    if (options.forward.length === 0 && contentType === undefined && !isEverything) return base;
    const header = new ForwardedHeader(base, this.context.isOfRun);
    if (contentType !== undefined) header.set('content-type', contentType);
    for (const [name, value] of options.forward) {
      // A plain Content-Type counts before a forwarded one.
      if (name !== 'content-type' || contentType === undefined) header.add(`${options.prefix}forward-`, name, value);
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
    // An instant wins, so that a delay beside it is not even looked at.
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
    if (key === undefined) return this.#refuse(options, 'flow-control-value', 'needs a key beside it');
    if (value === undefined) return this.#refuse(options, 'flow-control-key', 'needs a value beside it');
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

  /** @param reason what follows the header's name, a colon in front of it if it is no verb */
  #refuse(options: SettingOptions, option: OptionName, reason: string): undefined {
    const separator = reason.startsWith(':') ? '' : ' ';
    this.#problem ??= `${options.prefix}${option}${separator}${reason}`;
    return undefined;
  }
}

/** SR2: the callback's body has the message's body and headers in it. */
function hiding(redact: Redaction | undefined, callback: CallbackSetting | undefined): CallbackSetting | undefined {
  if (redact === undefined || callback === undefined || callback.settings.redact?.body === true) return callback;
  const { allHeaders, headers } = callback.settings.redact ?? { allHeaders: false, headers: [] };
  return { ...callback, settings: { ...callback.settings, redact: { body: true, allHeaders, headers } } };
}
