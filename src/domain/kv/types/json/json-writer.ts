/** Value → JSON text, without recursion and in steps; compact, or laid out as JSON.GET's options say. */
import type { ByteString } from '../../../../kernel/index.js';
import { inOneStep, type Steps } from '../../steps.js';
import { SLICE_VALUES } from './json-limits.js';
import { formatNumber } from './json-numbers.js';
import { isContainer, type JsonNumber, type JsonValue, lengthOfJson } from './json-value.js';

export interface JsonLayout {
  /** Before each item, once a level. */
  readonly indent: ByteString;
  /** Before each item and before a closing bracket. */
  readonly newline: ByteString;
  /** Behind each colon. */
  readonly space: ByteString;
}

export const COMPACT: JsonLayout = { indent: '', newline: '', space: '' };

interface OpenContainer {
  readonly isArray: boolean;
  readonly items: Iterator<JsonValue | [ByteString, JsonValue]>;
  isFirst: boolean;
}

/**
 * @param level how deep the value stands in a text around it
 * @param onBytes told of what has been written, now and then; may throw
 */
export function* writeJson(
  value: JsonValue,
  layout: JsonLayout = COMPACT,
  level = 0,
  onBytes?: (bytes: number) => void,
): Steps<ByteString> {
  if (!isContainer(value)) {
    const scalar = scalarText(value);
    onBytes?.(scalar.length);
    return scalar;
  }
  let text = '';
  const pieces: Buffer[] = [];
  let met = 0;
  const { space } = layout;
  const isCompact = layout.indent === '' && layout.newline === '';
  const open: OpenContainer[] = [];
  const begin = (container: JsonValue): void => {
    if (!isContainer(container)) {
      text += scalarText(container);
    } else if (lengthOfJson(container) === 0) {
      text += Array.isArray(container) ? '[]' : '{}';
    } else {
      if (isCompact && space === '') {
        const budget = { values: SHORT_VALUES };
        const short = shortText(container, budget);
        met += SHORT_VALUES - budget.values;
        if (budget.values >= 0) {
          text += short;
          return;
        }
      }
      const isArray = Array.isArray(container);
      text += isArray ? '[' : '{';
      open.push({ isArray, items: isArray ? container.values() : container.entries(), isFirst: true });
    }
  };
  begin(value);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    met += 1;
    if (met >= SLICE_VALUES) {
      met = 0;
      yield;
    }
    if (text.length >= PIECE_BYTES) {
      onBytes?.(text.length);
      pieces.push(Buffer.from(text, 'latin1'));
      text = '';
    }
    const { done, value: item } = top.items.next();
    if (done === true) {
      open.pop();
      if (!isCompact) text += layout.newline + layout.indent.repeat(level + open.length);
      text += top.isArray ? ']' : '}';
      continue;
    }
    if (top.isFirst) top.isFirst = false;
    else text += ',';
    if (!isCompact) text += layout.newline + layout.indent.repeat(level + open.length);
    if (top.isArray) {
      begin(item as JsonValue);
    } else {
      const [name, member] = item as [ByteString, JsonValue];
      text += `${quoted(name)}:${space}`;
      begin(member);
    }
  }
  onBytes?.(text.length);
  if (pieces.length === 0) return text;
  pieces.push(Buffer.from(text, 'latin1'));
  return Buffer.concat(pieces).toString('latin1');
}

/** Text of this length becomes bytes: a string grown by many small additions is a burden on the collector. */
const PIECE_BYTES = 32 * 1024;

/** Values that are written without looking up: most containers hold no more. */
const SHORT_VALUES = 256;

/** Compact; of no use where the budget is overdrawn. */
function shortText(value: JsonValue, budget: { values: number }): ByteString {
  budget.values -= 1;
  if (!isContainer(value)) return scalarText(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) {
      if (budget.values < 0) return '';
      text += text === '' ? shortText(item, budget) : `,${shortText(item, budget)}`;
    }
    return `[${text}]`;
  }
  for (const [name, member] of value) {
    if (budget.values < 0) return '';
    const written = `${quoted(name)}:${shortText(member, budget)}`;
    text += text === '' ? written : `,${written}`;
  }
  return `{${text}}`;
}

export function stringifyJson(value: JsonValue): ByteString {
  return inOneStep(writeJson(value));
}

function scalarText(value: JsonValue): ByteString {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value === 'boolean') return String(value);
  return formatNumber(value as JsonNumber);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
const TO_ESCAPE = /["\\\x00-\x1f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
const EACH_TO_ESCAPE = /["\\\x00-\x1f]/g;

/** A string as JSON text. */
export function quoted(text: ByteString): ByteString {
  return TO_ESCAPE.test(text) ? `"${text.replace(EACH_TO_ESCAPE, escaped)}"` : `"${text}"`;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

function escaped(character: string): string {
  return SHORT_ESCAPES.get(character) ?? `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
