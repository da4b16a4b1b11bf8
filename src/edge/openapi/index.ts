/** The documentation on the management port: its site, and all areas of the OpenAPI document other than the management API. */
import type { Middleware } from 'koa';
import type { Log } from '../../ports/index.js';
import { OPERATORS_AREA } from '../admin/routes/index.js';
import { managementRefusalOf } from '../error-map.js';
import { BuiltFiles } from '../http/built-files.js';
import { servesPages } from '../http/built-pages.js';
import type { ApiArea } from '../http/openapi/area.js';
import { subHandler } from '../http/sub-handler.js';
import { MONITORING_AREA } from '../monitoring/scrape-routes.js';
import { QUEUE_AREA } from '../queue/queue-area.js';
import { SEARCH_AREA, VECTOR_AREA } from '../search/search-area.js';
import { HEALTH_AREA } from './health-area.js';
import { KV_AREA } from './kv-area.js';

export const AREAS: readonly ApiArea[] = [
  KV_AREA,
  QUEUE_AREA,
  SEARCH_AREA,
  VECTOR_AREA,
  OPERATORS_AREA,
  MONITORING_AREA,
  HEALTH_AREA,
];

interface DocsParts {
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** A file of the built pages by its path in their folder; undefined if missing. */
  readFile(path: string): Promise<Buffer | undefined>;
}

const ROOT = '/docs';

/** `/docs`: the site, which is public like the OpenAPI document. */
export function createDocsHandler(parts: DocsParts): Middleware {
  const { log, isDraining } = parts;
  const files = new BuiltFiles((path) => parts.readFile(path));
  const answer = servesPages(ROOT, { kind: 'site', files, isDraining });
  return subHandler({ name: 'docs', root: ROOT, log, isDraining, answer, wording: managementRefusalOf });
}
