/** Answers with a file of the built pages: the page itself for whatever path it shows, and its parts by their names. */

import { SHARED_REFUSALS } from '../error-map.js';
import type { HttpExchange } from './answer.js';
import type { BuiltFiles, ServedFile } from './built-files.js';
import { RefusedRequest } from './refused.js';

const PAGE = 'index.html';
const ASSETS = '/assets/';

/** No code, style or frame but what this server serves, and no request to anybody else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  Vary: 'Accept-Encoding',
} as const;

const FOR_EVER = 'public, max-age=31536000, immutable';
const EACH_TIME = 'no-cache';

export interface BuiltPages {
  readonly files: BuiltFiles;
  readonly isDraining: () => boolean;
}

/** @param path what follows the folder of the pages; '' or begins with a slash. @throws Refused 404, 405 */
export async function answerPage(pages: BuiltPages, exchange: HttpExchange, path: string): Promise<void> {
  const { method, headers } = exchange.request;
  if (method !== 'GET' && method !== 'HEAD') {
    throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: 'GET, HEAD' });
  }
  const isAsset = path.startsWith(ASSETS);
  const name = isAsset ? path.slice(1) : PAGE;
  const file = await pages.files.get(name, String(headers['accept-encoding'] ?? ''));
  if (file === undefined) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
  serve(exchange, file, isAsset ? FOR_EVER : EACH_TIME, pages.isDraining());
}

function serve({ request, response }: HttpExchange, file: ServedFile, caching: string, isLast: boolean): void {
  if (response.destroyed) return;
  const isKnown = request.headers['if-none-match'] === file.etag;
  response.writeHead(isKnown ? 304 : 200, {
    ...HEADERS,
    'Cache-Control': caching,
    ETag: file.etag,
    ...(isKnown ? {} : { 'Content-Type': file.type, 'Content-Length': file.bytes.length }),
    ...(file.encoding === undefined ? {} : { 'Content-Encoding': file.encoding }),
    ...(isLast ? { Connection: 'close' } : {}),
  });
  response.end(isKnown || request.method === 'HEAD' ? undefined : file.bytes);
}
