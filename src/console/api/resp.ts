/** Parses RESP2 replies from a binary string. */

export type RawReply =
  | { readonly kind: 'status' | 'error' | 'bulk'; readonly text: string }
  | { readonly kind: 'integer'; readonly digits: string }
  | { readonly kind: 'nil' }
  | { readonly kind: 'array'; readonly items: readonly RawReply[] };

interface Reader {
  readonly binary: string;
  at: number;
}

/** All consecutive replies, without a truncated one at the end. */
export function rawReplies(binary: string): readonly RawReply[] {
  const reader: Reader = { binary, at: 0 };
  const replies: RawReply[] = [];
  while (reader.at < binary.length) {
    const reply = next(reader);
    if (reply === undefined) break;
    replies.push(reply);
  }
  return replies;
}

function next(reader: Reader): RawReply | undefined {
  const end = reader.binary.indexOf('\r\n', reader.at);
  if (end < 0) return undefined;
  const mark = reader.binary[reader.at];
  const line = reader.binary.slice(reader.at + 1, end);
  reader.at = end + 2;
  if (mark === '+') return { kind: 'status', text: line };
  if (mark === '-') return { kind: 'error', text: line };
  if (mark === ':') return { kind: 'integer', digits: line };
  const length = Number(line);
  if (length < 0) return { kind: 'nil' };
  if (mark === '$') return bulk(reader, length);
  const items: RawReply[] = [];
  while (items.length < length) {
    const item = next(reader);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return { kind: 'array', items };
}

function bulk(reader: Reader, length: number): RawReply {
  const text = reader.binary.slice(reader.at, reader.at + length);
  reader.at += length + 2;
  return { kind: 'bulk', text };
}
