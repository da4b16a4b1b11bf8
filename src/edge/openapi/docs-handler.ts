/** `/docs` on the management port: the OpenAPI document as pages, for anybody, as the document itself is. */
import type { Log } from '../../ports/index.js';
import { managementRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import { BuiltFiles } from '../http/built-files.js';
import { answerPage, type BuiltPages } from '../http/built-pages.js';
import { type Mounted, mounted } from '../http/mounted.js';
import { RefusedRequest } from '../http/refused.js';

export interface DocsParts {
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** A file of the built pages by its path below their folder; undefined: there is none. */
  readFile(path: string): Promise<Buffer | undefined>;
}

const ROOT = '/docs';

export function createDocsHandler(parts: DocsParts): Mounted {
  const { log, isDraining } = parts;
  const pages: BuiltPages = { files: new BuiltFiles((path) => parts.readFile(path)), isDraining };
  return mounted({
    name: 'docs',
    root: ROOT,
    log,
    isDraining,
    async answer(exchange, path) {
      if (path !== ROOT && !path.startsWith(`${ROOT}/`)) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
      await answerPage(pages, exchange, path.slice(ROOT.length));
    },
    wording: managementRefusalOf,
  });
}
