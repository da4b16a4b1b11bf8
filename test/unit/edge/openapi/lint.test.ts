/** The document under an OpenAPI linter: complete, without contradictions, with valid examples. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect } from 'chai';
import { openApiDocument } from '../../../../src/edge/http/openapi/document.js';
import { managementArea } from '../../../../src/edge/management/openapi-route.js';
import { MANAGEMENT_ROUTES } from '../../../../src/edge/management/routes/index.js';
import { AREAS } from '../../../../src/edge/openapi/index.js';

const URLS = { kv: 'kv.example', queue: 'https://queue.example' };

describe('the OpenAPI linter', () => {
  async function problemsOf(document: object): Promise<string[]> {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        // Published clients use both `/v2/kv/{id}/change-plan` and `/v2/kv/change-plan/{id}`: the path with the fixed
        // segment wins.
        'no-ambiguous-paths': 'off',
        // An operation without authentication has no refusals except those of `default`.
        'operation-4xx-response': 'off',
        // The data of events is named where the linter does not look; test/unit/edge/management/openapi.test.ts does.
        'no-unused-components': 'off',
      },
    });
    const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
    return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
  }

  const document = openApiDocument([...AREAS, managementArea(MANAGEMENT_ROUTES)], URLS, '1.2.3');

  it('finds no problem in the document', async () => {
    expect(await problemsOf(document)).to.deep.equal([]);
  });

  it('finds an example that does not fit its schema', async () => {
    const paths = structuredClone(document.paths) as Record<
      string,
      Record<string, { requestBody: { content: object } }>
    >;
    const { content } = paths['/v2/queues']?.post?.requestBody ?? {};
    (content as Record<string, { example: object }>)['application/json'] = {
      ...(content as Record<string, { example: object }>)['application/json'],
      example: { parallelism: 'many' },
    };
    expect((await problemsOf({ ...document, paths })).join()).to.include('no-invalid-media-type-examples');
  });
});
