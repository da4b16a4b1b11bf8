/** The OpenAPI 3.1 document of all areas, which follows from the declarations of their routes. */
import type { ApiArea, AreaUrls } from './area.js';
import type { JsonSchema, Paths } from './parts.js';
import { pathsOf } from './paths.js';
import { Schemas } from './schemas.js';

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

export function openApiDocument(areas: readonly ApiArea[], urls: AreaUrls, version: string): OpenApiDocument {
  const schemas = new Schemas();
  const paths: Paths = {};
  for (const area of areas) Object.assign(paths, at(area, urls, pathsOf(area, schemas)));
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace', version, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
    tags: areas.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: Object.assign({ Error: ERROR }, ...areas.map((area) => area.schemas ?? {}), schemas.all()),
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'E-mail and API key.' },
        bearer: { type: 'http', scheme: 'bearer' },
        kvTokenInQuery: { type: 'apiKey', in: 'query', name: '_token' },
        queueTokenInQuery: { type: 'apiKey', in: 'query', name: 'msgq_token' },
      },
    },
  };
}

function at({ isAt }: ApiArea, urls: AreaUrls, paths: Paths): Paths {
  if (isAt === undefined) return paths;
  const url = urls[isAt];
  const servers = [{ url: /^https?:/.test(url) ? url : `http://${url}` }];
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, { servers, ...item }]));
}
