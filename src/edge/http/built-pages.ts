/** Serves the built pages of the console and of the documentation: pages by their path, and assets by name. */
import { SHARED_REFUSALS } from '../error-map.js';
import type { PipelineContext, Stage } from './application.js';
import type { BuiltFiles, ServedFile } from './built-files.js';
import { RefusedRequest } from './refused.js';
import { type At, described } from './route.js';
import { routed } from './routing.js';

const PAGE = 'index.html';
const NOT_FOUND_PAGE = '404.html';
const ASSETS = 'assets/';

/** Scripts, styles and requests are allowed only from this server. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');
const NO_ORIGINS = ["'none'"];

const HEADERS = {
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
  /**
   * `application`: one page for all paths, which finds its view itself. `site`: a file for each path, and a page for
   * unknown ones; its addresses are relative, so the root has a slash at the end.
   */
  readonly kind: 'application' | 'site';
  /** Origins that may show the pages in a frame. Default: none. */
  readonly frameAncestors?: readonly string[];
}

/** Serves the pages below a root. @throws Refused 404, 405 */
export function servesPages(root: string, pages: BuiltPages): Stage {
  const { kind, files, isDraining, frameAncestors = [] } = pages;
  const origins = frameAncestors.length === 0 ? NO_ORIGINS : frameAncestors;
  const policy = `${POLICY}; frame-ancestors ${origins.join(' ')}`;
  const route = described(`GET ${root}/*path?` as At, {
    alsoMethods: ['head'],
    alsoPaths: [root],
    summary: 'Serves a page or one of its files.',
    permission: 'open',
    answer: { kind: 'other', type: 'text/html', description: 'The page.' },
  });
  return routed([route], { allowsLastSlash: true }, async (context, _route, { path = '' }) => {
    context.set('Content-Security-Policy', policy);
    if (kind === 'site' && context.path === root) {
      context.redirect(`${root}/`);
      return;
    }
    const first = async (names: readonly string[]) => {
      for (const name of names) {
        const file = await files.get(name, String(context.headers['accept-encoding'] ?? ''));
        if (file !== undefined) return file;
      }
      return undefined;
    };
    const isAsset = path.startsWith(ASSETS);
    const found = await first(namesOf(path, kind));
    if (found !== undefined) return serve(context, found, isAsset ? FOR_EVER : EACH_TIME, isDraining());
    const isPageWanted = kind === 'site' && context.headers.accept?.includes('text/html') === true;
    const instead = isPageWanted ? await first([NOT_FOUND_PAGE]) : undefined;
    if (instead === undefined) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
    serve(context, instead, EACH_TIME, isDraining());
    context.status = 404;
  });
}

/** The files that may answer a path, the first one that exists does. */
function namesOf(path: string, kind: BuiltPages['kind']): readonly string[] {
  if (kind === 'application') return [path.startsWith(ASSETS) ? path : PAGE];
  return path === '' ? [PAGE] : [path, `${path}.html`];
}

function serve(context: PipelineContext, file: ServedFile, caching: string, isLast: boolean): void {
  context.set({ ...HEADERS, 'Cache-Control': caching, ETag: file.etag });
  if (isLast) context.set('Connection', 'close');
  if (file.encoding !== undefined) context.set('Content-Encoding', file.encoding);
  context.set('Content-Type', file.type);
  context.body = file.bytes;
  context.status = context.headers['if-none-match'] === file.etag ? 304 : 200;
}
