/** Serves the built pages: the page itself for each of its paths, and its assets by name. */
import { SHARED_REFUSALS } from '../error-map.js';
import type { PipelineContext, Stage } from './application.js';
import type { BuiltFiles, ServedFile } from './built-files.js';
import { RefusedRequest } from './refused.js';
import { type At, described } from './route.js';
import { routed } from './routing.js';

const PAGE = 'index.html';
const ASSETS = 'assets/';

/** Scripts, styles and requests are allowed only from this server, frames not at all. */
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

/** Serves the pages below a root. @throws Refused 404, 405 */
export function servesPages(root: string, pages: BuiltPages): Stage {
  const route = described(`GET ${root}/*path?` as At, {
    alsoMethods: ['head'],
    alsoPaths: [root],
    summary: 'Serves a page or one of its files.',
    permission: 'open',
    answer: { kind: 'other', type: 'text/html', description: 'The page.' },
  });
  return routed([route], { allowsLastSlash: true }, async (context, _route, { path = '' }) => {
    const isAsset = path.startsWith(ASSETS);
    const file = await pages.files.get(isAsset ? path : PAGE, String(context.headers['accept-encoding'] ?? ''));
    if (file === undefined) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    serve(context, file, isAsset ? FOR_EVER : EACH_TIME, pages.isDraining());
  });
}

function serve(context: PipelineContext, file: ServedFile, caching: string, isLast: boolean): void {
  context.set({ ...HEADERS, 'Cache-Control': caching, ETag: file.etag });
  if (isLast) context.set('Connection', 'close');
  if (file.encoding !== undefined) context.set('Content-Encoding', file.encoding);
  context.set('Content-Type', file.type);
  context.body = file.bytes;
  context.status = context.headers['if-none-match'] === file.etag ? 304 : 200;
}
