/** Builds the OpenAPI 3.1 document of all areas from their route declarations. */
import type { ApiArea, AreaUrls } from './area.js';
import type { SampleLanguage } from './code-samples.js';
import type { Answered, ApiServer, JsonSchema, Paths } from './parts.js';
import { pathsOf } from './paths.js';
import { Schemas } from './schemas.js';
import { SharedAnswers } from './shared-answers.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly ApiServer[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, Answered>>;
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  };
}

const DESCRIPTION = `Key-value databases, a queue that delivers messages over HTTP, workflows, search indexes, and their management.

Each area has credentials of its own, and the first two a port of their own. A failure is \`{"error": "…"}\`, with a text that
says what is wrong, and whether anything happened.`;

const ERROR: JsonSchema = {
  type: 'object',
  properties: { error: { type: 'string', description: 'The problem, and the field that has it.' } },
  required: ['error'],
};

/** @param languages of the examples of each operation */
export function openApiDocument(
  areas: readonly ApiArea[],
  urls: AreaUrls,
  version: string,
  languages: readonly SampleLanguage[] = ['sh', 'js'],
): OpenApiDocument {
  const schemas = new Schemas();
  const answers = new SharedAnswers();
  const paths: Paths = {};
  for (const area of areas) Object.assign(paths, at(area, urls, pathsOf(area, { schemas, answers, languages })));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document is read.' }],
    tags: areas.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: Object.assign({ Error: ERROR }, ...areas.map((area) => area.schemas ?? {}), schemas.all()),
      responses: answers.all(),
      securitySchemes: Object.assign({}, ...areas.map(({ security }) => security)),
    },
  };
}

function at({ isAt, servers }: ApiArea, urls: AreaUrls, paths: Paths): Paths {
  const all = servers ?? (isAt === undefined ? undefined : [{ url: withScheme(urls[isAt]) }]);
  if (all === undefined) return paths;
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, { servers: all, ...item }]));
}

function withScheme(url: string): string {
  return /^https?:/.test(url) ? url : `http://${url}`;
}
