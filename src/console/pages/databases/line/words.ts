/** Splits a line like redis-cli: words, quotes, and `\xHH` for bytes that cannot be typed. */
import { binaryOfText } from '../../../api/kv.js';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };

/** Binary strings. @throws Error for an open quote, or text directly after a closing one */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at] as string)) {
      at += 1;
      continue;
    }
    const [word, end] = wordAt(line, at);
    words.push(word);
    at = end;
  }
  return words;
}

function wordAt(line: string, from: number): readonly [word: string, end: number] {
  const quote = line[from];
  if (quote !== '"' && quote !== "'") {
    const end = line.slice(from).search(/\s/);
    const to = end < 0 ? line.length : from + end;
    return [binaryOfText(line.slice(from, to)), to];
  }
  let word = '';
  let at = from + 1;
  while (line[at] !== quote) {
    if (at >= line.length) throw new Error('Invalid argument(s): a quote is not closed');
    const [part, length] = quote === '"' ? doubleQuoted(line, at) : singleQuoted(line, at);
    word += part;
    at += length;
  }
  if (/\S/.test(line[at + 1] ?? ' ')) throw new Error('Invalid argument(s): a blank is missing after a closing quote');
  return [word, at + 1];
}

function doubleQuoted(line: string, at: number): readonly [part: string, length: number] {
  if (line[at] !== '\\') return character(line, at);
  const hex = /^\\x([0-9a-f]{2})/i.exec(line.slice(at, at + 4));
  if (hex !== null) return [String.fromCharCode(Number.parseInt(hex[1] as string, 16)), 4];
  const escaped = line[at + 1] ?? '';
  return [ESCAPES[escaped] ?? binaryOfText(escaped), 2];
}

function singleQuoted(line: string, at: number): readonly [part: string, length: number] {
  return line.startsWith("\\'", at) ? ["'", 2] : character(line, at);
}

/** A character may have two UTF-16 units. */
function character(line: string, at: number): readonly [part: string, length: number] {
  const text = String.fromCodePoint(line.codePointAt(at) as number);
  return [binaryOfText(text), text.length];
}
