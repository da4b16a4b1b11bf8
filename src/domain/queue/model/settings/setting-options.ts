/**
 * Sorts configuration headers and query keys: the options of the message, of its callback, of that callback's failure
 * callback, and so on. Values stay texts; publish-settings parses them. Names nest: `svc-` is followed by an option,
 * or by `callback-` or `failure-callback-` and an option of that callback.
 *
 *  SOP1 a header wins over the query key of its name; a blank value counts as not given
 *  SOP2 unknown names, such as telemetry and later options, are ignored
 *  SOP3 a name reaches at most `MAX_CALLBACK_DEPTH` callbacks deep, and no value is longer than a header's may be
 */
import { type ByteString, textOfHeader } from '../../../../kernel/index.js';
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
  'priority',
  'when-stopped',
  'queue-name',
  'cron',
  'schedule-id',
] as const;
export type OptionName = (typeof OPTION_NAMES)[number];

const KNOWN: ReadonlySet<string> = new Set(OPTION_NAMES);
/** Repeated values of these options form one list. */
const LISTS: ReadonlySet<string> = new Set(['label', 'redact-fields', 'flow-control-value']);
const PREFIX = 'svc-';
const FORWARD = 'forward-';
const CALLBACK = 'callback-';
const FAILURE_CALLBACK = 'failure-callback-';

/** The options of one message or callback. */
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

  /** Whether no option is given, also for the callbacks. */
  get isEmpty(): boolean {
    const ofCallbacks = [this.#callback, this.#failureCallback];
    return this.#texts.size === 0 && this.forward.length === 0 && ofCallbacks.every((own) => own?.isEmpty ?? true);
  }

  get callback(): SettingOptions | undefined {
    return this.#callback;
  }

  get failureCallback(): SettingOptions | undefined {
    return this.#failureCallback;
  }

  /** The options of a callback; created with its first option. */
  inner(isFailure: boolean, prefix: string): SettingOptions {
    const found = isFailure ? this.#failureCallback : this.#callback;
    if (found !== undefined) return found;
    const made = new SettingOptions(prefix, this.depth + 1);
    if (isFailure) this.#failureCallback = made;
    else this.#callback = made;
    return made;
  }

  /** @returns a problem that shows without parsing the value */
  set(option: OptionName, value: ByteString): string | undefined {
    const text = textOfHeader(value).trim();
    const earlier = this.#texts.get(option);
    if (text === '' || text === earlier) return undefined;
    if (earlier !== undefined && !LISTS.has(option)) return 'is given twice';
    const whole = earlier === undefined ? text : `${earlier},${text}`;
    if (Buffer.byteLength(whole) > MAX_HEADER_VALUE_BYTES) return `is longer than ${MAX_HEADER_VALUE_BYTES} bytes`;
    this.#texts.set(option, whole);
    return undefined;
  }
}

export interface CollectedOptions {
  readonly message: SettingOptions;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Headers without configuration. */
  readonly others: HeaderList;
  /** The first reason to refuse the call. */
  readonly problem: string | undefined;
}

export function collectOptions(raw: RawSettings): CollectedOptions {
  const message = new SettingOptions(PREFIX, 0);
  const others: [string, string][] = [];
  let contentType: string | undefined;
  let contentEncoding: string | undefined;
  let problem: string | undefined;
  for (const [name, value] of raw.headers) {
    if (name.startsWith(PREFIX)) problem ??= take(message, name, PREFIX.length, value);
    else if (name === 'content-type') contentType ??= value;
    else if (name !== 'content-encoding') others.push([name, value]);
    else contentEncoding = contentEncoding === undefined ? value : `${contentEncoding}, ${value}`;
  }
  if (raw.query.length > 0) {
    const inHeaders = new Set(raw.headers.filter(([, value]) => value.trim() !== '').map(([name]) => name));
    for (const [name, value] of raw.query) {
      if (!name.startsWith(PREFIX) || inHeaders.has(name)) continue;
      problem ??= take(message, name, PREFIX.length, value);
    }
  }
  return {
    message,
    contentType: contentType === '' ? undefined : contentType,
    contentEncoding: contentEncoding === '' ? undefined : contentEncoding,
    others,
    problem,
  };
}

/**
 * @param at the index of the option's name
 * @returns a problem
 */
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
