/**
 * Splits an inline command into words, separated by blanks, with optional quotes. In double quotes `\n`, `\r`, `\t`,
 * `\b`, `\a` and `\xHH` stand for bytes and any other escaped character for itself; in single quotes only `\'` is
 * special. A closing quote must be followed by a blank.
 */
import type { ByteString } from '../../kernel/index.js';

const BLANK = /[ \t\n\v\f\r\0]/;
const HEX = /^[0-9a-fA-F]{2}$/;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };

/** The words of the line; undefined for unbalanced quotes. */
export function splitInlineWords(line: ByteString): ByteString[] | undefined {
  const words: ByteString[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && BLANK.test(line[at] as string)) at += 1;
    if (at >= line.length) return words;
    let word = '';
    while (at < line.length && !BLANK.test(line[at] as string)) {
      const character = line[at] as string;
      if (character !== '"' && character !== "'") {
        word += character;
        at += 1;
        continue;
      }
      const quoted = character === '"' ? doubleQuoted(line, at + 1) : singleQuoted(line, at + 1);
      if (quoted === undefined) return undefined;
      word += quoted.text;
      at = quoted.end;
      if (at < line.length && !BLANK.test(line[at] as string)) return undefined;
    }
    words.push(word);
  }
}

interface Quoted {
  readonly text: ByteString;
  /** After the closing quote. */
  readonly end: number;
}

function doubleQuoted(line: ByteString, from: number): Quoted | undefined {
  let text = '';
  let at = from;
  while (at < line.length) {
    const character = line[at] as string;
    if (character === '"') return { text, end: at + 1 };
    if (character !== '\\' || at + 1 >= line.length) {
      text += character;
      at += 1;
      continue;
    }
    const digits = line.slice(at + 2, at + 4);
    if (line[at + 1] === 'x' && HEX.test(digits)) {
      text += String.fromCharCode(Number.parseInt(digits, 16));
      at += 4;
    } else {
      const escaped = line[at + 1] as string;
      text += ESCAPED[escaped] ?? escaped;
      at += 2;
    }
  }
  return undefined;
}

function singleQuoted(line: ByteString, from: number): Quoted | undefined {
  let text = '';
  let at = from;
  while (at < line.length) {
    if (line[at] === "'") return { text, end: at + 1 };
    if (line[at] === '\\' && line[at + 1] === "'") at += 1;
    text += line[at];
    at += 1;
  }
  return undefined;
}
