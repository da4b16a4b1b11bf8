/** All areas of the OpenAPI document other than the management API, which serves it. */

import { OPERATORS_AREA } from '../admin/routes/index.js';
import type { ApiArea } from '../http/openapi/area.js';
import { MONITORING_AREA } from '../monitoring/scrape-routes.js';
import { QUEUE_AREA } from '../queue/queue-area.js';
import { SEARCH_AREA, VECTOR_AREA } from '../search/search-area.js';
import { HEALTH_AREA } from './health-area.js';
import { KV_AREA } from './kv-area.js';

export { createDocsHandler } from './docs-handler.js';

export const AREAS: readonly ApiArea[] = [
  KV_AREA,
  QUEUE_AREA,
  SEARCH_AREA,
  VECTOR_AREA,
  OPERATORS_AREA,
  MONITORING_AREA,
  HEALTH_AREA,
];
