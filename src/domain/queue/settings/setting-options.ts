/**
 * Configuration headers and query keys put in order: which options a call gives for its message, for the message's
 * callback, for that callback's failure callback, and so on. Values are texts still; publish-settings reads them.
 *
 * Names nest: after `svc-` stands an option, or `callback-` or `failure-callback-` and an option of that callback.
 *
 * Invariants
 *  SOP1 a header wins over the query key of its name; a blank value counts as not given
 *  SOP2 what has no meaning here, telemetry and options yet unknown, is passed over
 *  SOP3 a name reaches at most `MAX_CALLBACK_DEPTH` callbacks deep, and no value is longer than a header's may be
 */
import { MAX_CALLBACK_DEPTH, MAX_HEADER_VALUE_BYTES } from '../limits.js';
import type { HeaderList, RawSettings } from '../records.js';

export const OPTION_NAMES = [
  'method',
  'delay',
  'not-before',
  'retries',
  'retry-delay',
  'timeout',
  'header-forward',
  'callback',
  'failure-callback',
  'deduplication-id',
  'content-based-deduplication',
  'flow-control-key',
  'flow-control-value',
  'label',
  'redact-fields',
  'queue-name',
  'cron',
  'schedule-id',
] as const;
export type OptionName = (typeof OPTION_NAMES)[number];

const KNOWN: ReadonlySet<string> = new Set(OPTION_NAMES);
/** Whose repetitions are one list. */
const LISTS: ReadonlySet<string> = new Set(['label', 'redact-fields', 'flow-control-value']);
const PREFIX = 'svc-';
const FORWARD = 'forward-';
const CALLBACK = 'callback-';
const FAILURE_CALLBACK = 'failure-callback-';

/** What is given for one message or callback. */
export class SettingOptions {
  readonly #texts = new Map<OptionName, string>();
  /** Names without their prefix, in lower case. */
  readonly forward: [name: string, value: string][] = [];
  #callback: SettingOptions | undefined;
  #failureCallback: SettingOptions | undefined;

  /** @param prefix of the options' full names: `svc-`, `svc-callback-` … */
  constructor(
    readonly prefix: string,
    readonly depth: number,
  ) {}

  /** Trimmed; undefined when not given. */
  text(option: OptionName): string | undefined {
    return this.#texts.get(option);
  }

  get callback(): SettingOptions | undefined {
    return this.#callback;
  }

  get failureCallback(): SettingOptions | undefined {
    return this.#failureCallback;
  }

  /** The options of a callback; made when the first is given. */
  inner(isFailure: boolean, prefix: string): SettingOptions {
    const found = isFailure ? this.#failureCallback : this.#callback;
    if (found !== undefined) return found;
    const made = new SettingOptions(prefix, this.depth + 1);
    if (isFailure) this.#failureCallback = made;
    else this.#callback = made;
    return made;
  }

  /** @returns what is wrong with the value, as far as that can be told without reading it */
  set(option: OptionName, value: string): string | undefined {
    const text = value.trim();
    const earlier = this.#texts.get(option);
    if (text === '' || text === earlier) return undefined;
    if (earlier !== undefined && !LISTS.has(option)) return 'is given twice';
    const whole = earlier === undefined ? text : `${earlier},${text}`;
    if (whole.length > MAX_HEADER_VALUE_BYTES) return `is longer than ${MAX_HEADER_VALUE_BYTES} bytes`;
    this.#texts.set(option, whole);
    return undefined;
  }
}

export interface CollectedOptions {
  readonly message: SettingOptions;
  readonly contentType: string | undefined;
  /** Headers that configure nothing. */
  readonly others: HeaderList;
  /** Why the call is refused: the first reason. */
  readonly problem: string | undefined;
}

export function collectOptions(raw: RawSettings): CollectedOptions {
  const message = new SettingOptions(PREFIX, 0);
  const others: [string, string][] = [];
  let contentType: string | undefined;
  let problem: string | undefined;
  for (const [name, value] of raw.headers) {
    if (name.startsWith(PREFIX)) problem ??= take(message, name, PREFIX.length, value);
    else if (name === 'content-type') contentType ??= value;
    else others.push([name, value]);
  }
  if (raw.query.length > 0) {
    const inHeaders = new Set(raw.headers.filter(([, value]) => value.trim() !== '').map(([name]) => name));
    for (const [name, value] of raw.query) {
      if (!name.startsWith(PREFIX) || inHeaders.has(name)) continue;
      problem ??= take(message, name, PREFIX.length, value);
    }
  }
  return { message, contentType: contentType === '' ? undefined : contentType, others, problem };
}

/** @param at where the option's own name begins. @returns a problem */
function take(options: SettingOptions, name: string, at: number, value: string): string | undefined {
  const option = at === 0 ? name : name.slice(at);
  if (KNOWN.has(option)) {
    const problem = options.set(option as OptionName, value);
    return problem === undefined ? undefined : `${name} ${problem}`;
  }
  if (option.startsWith(FORWARD)) {
    options.forward.push([option.slice(FORWARD.length), value]);
    return undefined;
  }
  const isFailure = option.startsWith(FAILURE_CALLBACK);
  if (!isFailure && !option.startsWith(CALLBACK)) return undefined;
  if (options.depth === MAX_CALLBACK_DEPTH) {
    return `${name.slice(0, 200)}: callbacks are nested deeper than ${MAX_CALLBACK_DEPTH}`;
  }
  const next = at + (isFailure ? FAILURE_CALLBACK : CALLBACK).length;
  return take(options.inner(isFailure, name.slice(0, next)), name, next, value);
}
