/** Replies as redis-cli draws them. Text that is UTF-8 stays readable; other bytes are `\xHH`. */
import { escaped, shownOf, textOf } from '../../../api/kv.js';
import type { RawReply } from '../../../api/resp.js';

/** More is not drawn: nobody reads it, and the page would be slow. */
export const MAX_DRAWN_CHARACTERS = 100_000;

/** Their text is meant for people as it is. */
const PLAIN = /^(info|lolwut|cluster (nodes|info)|client (list|info)|latency (doctor|graph)|memory doctor)\b/i;

interface Drawing {
  readonly lines: string[];
  length: number;
}

/** @param line what was typed: some commands' answers are texts for people */
export function drawnReply(reply: RawReply, line: string): string {
  if (reply.kind === 'bulk' && PLAIN.test(line.trim())) return shownOf(reply.text).replaceAll('\r\n', '\n').trimEnd();
  const drawing: Drawing = { lines: [], length: 0 };
  draw(reply, '', '', drawing);
  const isCut = drawing.length > MAX_DRAWN_CHARACTERS;
  return isCut ? `${drawing.lines.join('\n')}\n… more than is drawn here` : drawing.lines.join('\n');
}

/** @param head before the first line; @param indent before the lines below it, as wide */
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
