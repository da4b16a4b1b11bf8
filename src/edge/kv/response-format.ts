/** The requested format of replies: JSON, JSON with base64 strings, or raw RESP2. */
import type { IncomingHttpHeaders } from 'node:http';
import { textOfHeader } from '../../kernel/index.js';
import type { HeaderAliases, Spelling } from '../wire-alias.js';

export type ResponseFormat = 'json' | 'base64' | 'resp2';

/** @returns the format, or the error about the headers */
export function negotiateFormat(
  spellings: HeaderAliases,
  headers: IncomingHttpHeaders,
  spelling: Spelling,
): { format: ResponseFormat } | { problem: string } {
  // Other encodings are ignored: clients may name unknown ones.
  const isBase64 = spellings.read(headers, 'Encoding') === 'base64';
  const wanted = spellings.read(headers, 'Response-Format');
  if (wanted === undefined || wanted === 'json') return isBase64 ? BASE64 : JSON_FORMAT;
  if (wanted !== 'resp2')
    return { problem: `ERR invalid ${spelling.nameOf('Response-Format')}: ${textOfHeader(wanted)}` };
  if (!isBase64) return RESP2;
  const names = [spelling.nameOf('Encoding'), spelling.nameOf('Response-Format')];
  return { problem: `ERR ${names[0]}: base64 cannot be combined with ${names[1]}: resp2` };
}

const JSON_FORMAT = { format: 'json' } as const;
const BASE64 = { format: 'base64' } as const;
const RESP2 = { format: 'resp2' } as const;
