/** Lines as MONITOR prints them: `1721284005.242090 [0 127.0.0.1:50432] "GET" "k"`. */
import type { ByteString } from '../../kernel/index.js';

const NAMED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
};

export function monitorLine(words: readonly ByteString[], nowMicros: number, address: string): ByteString {
  const seconds = Math.floor(nowMicros / 1e6);
  const micros = String(Math.floor(nowMicros % 1e6)).padStart(6, '0');
  return `${seconds}.${micros} [0 ${address}] ${words.map(quoted).join(' ')}`;
}

function quoted(word: ByteString): ByteString {
  const escaped = word.replace(/[^ !#-[\]-~]/g, (character) => {
    return NAMED[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
