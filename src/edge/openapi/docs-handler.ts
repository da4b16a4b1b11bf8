/** `/docs` on the management port: the OpenAPI document as pages, open like the document. */
import type { Middleware } from 'koa';
import type { Log } from '../../ports/index.js';
import { managementRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import { BuiltFiles } from '../http/built-files.js';
import { answerPage, type BuiltPages } from '../http/built-pages.js';
import { RefusedRequest } from '../http/refused.js';
import { subHandler } from '../http/sub-handler.js';

export interface DocsParts {
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** A file of the built pages by its path in their folder; undefined if missing. */
  readFile(path: string): Promise<Buffer | undefined>;
}

const ROOT = '/docs';

export function createDocsHandler(parts: DocsParts): Middleware {
  const { log, isDraining } = parts;
  const pages: BuiltPages = { files: new BuiltFiles((path) => parts.readFile(path)), isDraining };
  return subHandler({
    name: 'docs',
    root: ROOT,
    log,
    isDraining,
    async answer(context) {
      const { path } = context;
      if (path !== ROOT && !path.startsWith(`${ROOT}/`)) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
      await answerPage(pages, context, path.slice(ROOT.length));
    },
    wording: managementRefusalOf,
  });
}
