/**
 * `Svc-Flow-Control-Key` and `-Value`: the limits of a message's key. The value is a list of `name=value` with
 * case-insensitive names: `parallelism`, `rate`, and `period` as a duration or in seconds.
 */
import { MAX_FLOW_KEY_BYTES, MAX_FLOW_PERIOD_SECONDS } from '../limits.js';
import type { FlowControlSetting } from '../records.js';
import { parseDurationSeconds, parseWholeNumber } from './duration.js';
import { flowKeyProblem } from './names.js';

export type FlowControlOutcome =
  | { readonly isOk: true; readonly setting: FlowControlSetting }
  | { readonly isOk: false; readonly message: string };

const DEFAULT_PERIOD_SECONDS = 1;

export function parseFlowControl(keyText: string, valueText: string): FlowControlOutcome {
  const key = keyText.trim();
  if (key === '') return problem('key is empty');
  const keyProblem = flowKeyProblem(key);
  if (keyProblem !== undefined) return problem(keyProblem);
  if (Buffer.byteLength(key) > MAX_FLOW_KEY_BYTES) return problem(`key is longer than ${MAX_FLOW_KEY_BYTES} bytes`);
  const given = new Map<string, string>();
  for (const part of valueText.split(',')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const name = part.slice(0, equals < 0 ? part.length : equals).trim();
    const lower = name.toLowerCase();
    if (equals < 0 || !NAMES.has(lower)) return problem(`unknown limit ${shown(name)}`);
    if (given.has(lower)) return problem(`${lower} is given twice`);
    given.set(lower, part.slice(equals + 1).trim());
  }
  if (!given.has('parallelism') && !given.has('rate')) return problem('parallelism or rate is required');
  const numbers = new Map<string, number>();
  for (const [name, text] of given) {
    const number = name === 'period' ? parseDurationSeconds(text) : parseWholeNumber(text);
    if (number === undefined || number < 1) {
      return problem(`${name} must be ${name === 'period' ? 'a duration of at least 1s' : 'a positive whole number'}`);
    }
    numbers.set(name, number);
  }
  const periodSeconds = numbers.get('period') ?? DEFAULT_PERIOD_SECONDS;
  if (periodSeconds > MAX_FLOW_PERIOD_SECONDS) return problem('period is longer than a week');
  const setting = { key, parallelism: numbers.get('parallelism'), rate: numbers.get('rate'), periodSeconds };
  return { isOk: true, setting };
}

const NAMES: ReadonlySet<string> = new Set(['parallelism', 'rate', 'period']);

function problem(message: string): FlowControlOutcome {
  return { isOk: false, message };
}

/** An error repeats at most 40 characters of the caller's text. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
