/** Formats replies as redis-cli does. UTF-8 text stays readable; other bytes are `\xHH`. */
import { escaped, shownOf, textOf } from '../../../api/kv.js';
import type { RawReply } from '../../../api/resp.js';

/** Characters of a reply that are shown; more would slow the page down. */
export const MAX_DRAWN_CHARACTERS = 100_000;

/** Commands whose replies are plain text for people. */
const PLAIN = /^(info|lolwut|cluster (nodes|info)|client (list|info)|latency (doctor|graph)|memory doctor)\b/i;

interface Drawing {
  readonly lines: string[];
  length: number;
}

/** @param line the typed line, to recognise commands with plain text replies */
export function drawnReply(reply: RawReply, line: string): string {
  if (reply.kind === 'bulk' && PLAIN.test(line.trim())) return shownOf(reply.text).replaceAll('\r\n', '\n').trimEnd();
  const drawing: Drawing = { lines: [], length: 0 };
  draw(reply, '', '', drawing);
  const isCut = drawing.length > MAX_DRAWN_CHARACTERS;
  return isCut ? `${drawing.lines.join('\n')}\n… more than is drawn here` : drawing.lines.join('\n');
}

/** @param head precedes the first line; @param indent precedes the next lines, with the same width */
function draw(reply: RawReply, head: string, indent: string, drawing: Drawing): void {
  if (reply.kind !== 'array' || reply.items.length === 0) {
    const text = head + single(reply).slice(0, MAX_DRAWN_CHARACTERS);
    drawing.lines.push(text);
    drawing.length += text.length;
    return;
  }
  const width = String(reply.items.length).length;
  for (const [at, item] of reply.items.entries()) {
    if (drawing.length > MAX_DRAWN_CHARACTERS) return;
    const number = `${String(at + 1).padStart(width)}) `;
    draw(item, (at === 0 ? head : indent) + number, indent + ' '.repeat(number.length), drawing);
  }
}

function single(reply: RawReply): string {
  switch (reply.kind) {
    case 'status':
      return shownOf(reply.text);
    case 'error':
      return `(error) ${shownOf(reply.text)}`;
    case 'integer':
      return `(integer) ${reply.digits}`;
    case 'nil':
      return '(nil)';
    case 'bulk':
      return quoted(reply.text);
    case 'array':
      return '(empty array)';
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(binary: string): string {
  const text = textOf(binary);
  const units = text ?? binary;
  const isHidden = text === undefined ? /[^ -~]/g : /\p{Cc}/gu;
  return `"${units.replaceAll(/["\\\n\r\t]/g, (unit) => ESCAPES[unit] as string).replaceAll(isHidden, escaped)}"`;
}
