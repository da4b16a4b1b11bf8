/** `/docs` on the management port: the documentation's site, which is public like the OpenAPI document. */
import type { Middleware } from 'koa';
import type { Log } from '../../ports/index.js';
import { managementRefusalOf } from '../error-map.js';
import { BuiltFiles } from '../http/built-files.js';
import { servesPages } from '../http/built-pages.js';
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
  const files = new BuiltFiles((path) => parts.readFile(path));
  const answer = servesPages(ROOT, { kind: 'site', files, isDraining });
  return subHandler({ name: 'docs', root: ROOT, log, isDraining, answer, wording: managementRefusalOf });
}
