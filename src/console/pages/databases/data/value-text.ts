/** Converts a value to text, JSON or hex, and back to bytes. */
import { binaryOfText, textOf } from '../../../api/kv.js';
import { indentedJson, isJson } from '../../../parts/json.js';

export type ValueForm = 'text' | 'json' | 'hex';

/** A longer value would have too many digits for a page. */
const MAX_HEX_BYTES = 256 * 1_024;

/** The most readable form of a value. */
export function formOf(binary: string): ValueForm {
  const text = textOf(binary);
  if (text === undefined) return 'hex';
  return /^\s*[[{]/.test(text) && isJson(text) ? 'json' : 'text';
}

/** Undefined: the value cannot be shown in this form. */
export function shownAs(binary: string, form: ValueForm): string | undefined {
  if (form === 'hex') return binary.length > MAX_HEX_BYTES ? undefined : hexLines(binary);
  const text = textOf(binary);
  if (text === undefined || form === 'text') return text;
  return isJson(text) ? indentedJson(text) : undefined;
}

/** The bytes of the typed text. @throws Error about invalid input */
export function binaryFrom(typed: string, form: ValueForm): string {
  if (form === 'text') return binaryOfText(typed);
  if (form === 'json') {
    if (!isJson(typed)) throw new Error('This is no JSON.');
    return binaryOfText(typed);
  }
  const digits = typed.replaceAll(/\s/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error('Hex has two digits for each byte.');
  return digits.replaceAll(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
}

const BYTES_A_LINE = 16;

function hexLines(binary: string): string {
  const lines: string[] = [];
  for (let at = 0; at < binary.length; at += BYTES_A_LINE) {
    const bytes = Array.from(binary.slice(at, at + BYTES_A_LINE), (unit) =>
      unit.charCodeAt(0).toString(16).padStart(2, '0'),
    );
    lines.push(bytes.join(' '));
  }
  return lines.join('\n');
}
