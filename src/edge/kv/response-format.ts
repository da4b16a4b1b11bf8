/** How a request wants its replies: JSON, JSON with base64 strings, or raw RESP2. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Spelling, WireSpellings } from '../wire-alias.js';

export type ResponseFormat = 'json' | 'base64' | 'resp2';

/** @returns the format, or what is wrong with the headers */
export function negotiateFormat(
  spellings: WireSpellings,
  headers: IncomingHttpHeaders,
  spelling: Spelling,
): { format: ResponseFormat } | { problem: string } {
  // Other values of this one are ignored, as clients may name encodings we do not know.
  const isBase64 = spellings.read(headers, 'Encoding') === 'base64';
  const wanted = spellings.read(headers, 'Response-Format');
  if (wanted === undefined || wanted === 'json') return isBase64 ? BASE64 : JSON_FORMAT;
  if (wanted !== 'resp2') return { problem: `ERR invalid ${spelling.nameOf('Response-Format')}: ${wanted}` };
  if (!isBase64) return RESP2;
  const names = [spelling.nameOf('Encoding'), spelling.nameOf('Response-Format')];
  return { problem: `ERR ${names[0]}: base64 cannot be combined with ${names[1]}: resp2` };
}

const JSON_FORMAT = { format: 'json' } as const;
const BASE64 = { format: 'base64' } as const;
const RESP2 = { format: 'resp2' } as const;
