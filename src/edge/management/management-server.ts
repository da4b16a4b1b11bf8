/** Builds the server of the management endpoint. */
import { NO_PRICES } from '../../domain/statistics/index.js';
import { queueProtocolRefusal, SHARED_REFUSALS } from '../error-map.js';
import type { SocketParts } from '../http/endpoint.js';
import type { EndpointServer } from '../http/index.js';
import type { ApiArea } from '../http/openapi/area.js';
import { createManagementApp } from './management-app.js';
import { ManagementEndpoint, type ManagementEndpointParts } from './management-endpoint.js';
import { DEFAULT_MANAGEMENT_ENDPOINT_LIMITS, type ManagementEndpointLimits } from './management-limits.js';
import { openApiRoute } from './openapi-route.js';
import { MANAGEMENT_ROUTES } from './routes/index.js';

type Defaulted =
  | 'limits'
  | 'aliases'
  | 'pricesOf'
  | 'pendingDocuments'
  | 'deliveryAddresses'
  | 'offersFixedSearch'
  | 'hasEmbeddings'
  | 'defaultPartitions'
  | 'maxScriptMs'
  | 'mount';

export interface ManagementServerParts
  extends Omit<ManagementEndpointParts, Defaulted>,
    Partial<Omit<Pick<ManagementEndpointParts, Defaulted>, 'limits'>>,
    SocketParts {
  /** Missing ones have their defaults. */
  readonly limits?: Partial<ManagementEndpointLimits>;
  /** Further areas of the OpenAPI document. Default: none. */
  readonly areas?: readonly ApiArea[];
}

export function createManagementServer(parts: ManagementServerParts): EndpointServer {
  const limits = { ...DEFAULT_MANAGEMENT_ENDPOINT_LIMITS, ...parts.limits };
  const endpoint = new ManagementEndpoint({
    aliases: [],
    pricesOf: () => NO_PRICES,
    pendingDocuments: async () => 0,
    deliveryAddresses: [],
    offersFixedSearch: false,
    hasEmbeddings: false,
    defaultPartitions: 1,
    maxScriptMs: 250,
    mount: [],
    ...parts,
    limits,
  });
  const routes = [...MANAGEMENT_ROUTES, openApiRoute(MANAGEMENT_ROUTES, parts.areas ?? [])];
  return endpoint.serve(parts, {
    handle: createManagementApp(endpoint, routes),
    connectRefusal: SHARED_REFUSALS.methodNotAllowed,
    allowedMethods: 'GET, HEAD, POST, PATCH, DELETE',
    protocolRefusal: queueProtocolRefusal,
  });
}
