/**
 * The OpenAPI 3.1 document of all three areas. The management API's part follows from its routes' declarations; the
 * other two are declared here by hand, since their requests are no JSON objects.
 */
import type { PublicUrls } from '../management/public-addresses.js';
import type { Route } from '../management/route.js';
import { kvPaths } from './kv-paths.js';
import { managementPaths } from './management-paths.js';
import type { JsonSchema, Paths } from './parts.js';
import { QUEUE_SCHEMAS, queuePaths } from './queue-paths.js';
import { Schemas } from './schemas.js';
import { searchPaths } from './search-paths.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  };
}

const ERROR: JsonSchema = {
  type: 'object',
  properties: { error: { type: 'string', description: 'What is wrong, and with which field.' } },
  required: ['error'],
};

/** @param urls of the key-value and queue faces; the management API is where the document was read */
export function openApiDocument(routes: readonly Route[], urls: PublicUrls, version: string): OpenApiDocument {
  const schemas = new Schemas();
  const management = managementPaths(routes, schemas);
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
    tags: [
      { name: 'kv', description: 'Key-value commands over HTTP.' },
      { name: 'queue', description: 'Messages delivered over HTTP, and workflows.' },
      { name: 'search', description: 'Documents of search indexes.' },
      { name: 'management', description: 'Accounts, databases, search indexes, statistics.' },
    ],
    paths: { ...at(urls.kv, kvPaths()), ...at(urls.queue, queuePaths()), ...searchPaths(), ...management },
    components: {
      schemas: { Error: ERROR, ...QUEUE_SCHEMAS, ...schemas.all() },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'E-mail and API key.' },
        bearer: { type: 'http', scheme: 'bearer' },
        kvTokenInQuery: { type: 'apiKey', in: 'query', name: '_token' },
        queueTokenInQuery: { type: 'apiKey', in: 'query', name: 'msgq_token' },
      },
    },
  };
}

function at(url: string, paths: Paths): Paths {
  const servers = [{ url: /^https?:/.test(url) ? url : `http://${url}` }];
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, { servers, ...item }]));
}
