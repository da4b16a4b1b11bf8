/** The document is valid OpenAPI 3.1, complete, and equal to the declarations. */
import { expect } from 'chai';
import { openApiDocument } from '../../../../src/edge/http/openapi/document.js';
import { schemaOf } from '../../../../src/edge/http/openapi/schemas.js';
import { requestOf } from '../../../../src/edge/http/request-class.js';
import { managementArea } from '../../../../src/edge/management/openapi-route.js';
import { CreateDatabaseRequest } from '../../../../src/edge/management/requests/database-requests.js';
import { MANAGEMENT_ROUTES } from '../../../../src/edge/management/routes/index.js';
import { AREAS } from '../../../../src/edge/openapi/index.js';

const URLS = { kv: 'kv.example', queue: 'https://queue.example', search: 'search.example' };
const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch', 'head']);

describe('the OpenAPI document', () => {
  const document = openApiDocument([...AREAS, managementArea(MANAGEMENT_ROUTES)], URLS, '1.2.3');
  const text = JSON.stringify(document);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      METHODS.has(method) ? [{ path, method, operation: operation as unknown as Record<string, unknown> }] : [],
    ),
  );

  it('defines all referenced schemas, and references all defined ones', () => {
    const referred = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name));
    expect([...referred].sort()).to.deep.equal(Object.keys(document.components.schemas).sort());
  });

  it('has a schema of one area under each name', () => {
    const names = AREAS.flatMap(({ schemas = {} }) => Object.keys(schemas));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).to.deep.equal([]);
  });

  it('names each operation once, and every parameter of its path', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { path, method, operation } of operations) {
      const named = (operation.parameters as { name: string; in: string }[]).filter((each) => each.in === 'path');
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(
        named.map(({ name }) => name),
        `${method} ${path}`,
      ).to.deep.equal(inPath);
    }
  });

  it('has no two paths that differ only in names of parameters', () => {
    const templates = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
    expect(new Set(templates).size).to.equal(templates.length);
  });

  it('has an example body for each call that reads JSON', () => {
    const without = operations.filter(({ operation }) => {
      const { requestBody } = operation as { requestBody?: { content: Record<string, { example?: unknown }> } };
      const json = requestBody?.content['application/json'];
      return json !== undefined && json.example === undefined;
    });
    expect(without.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([]);
  });

  it('has a success, a failure and a summary for each operation', () => {
    for (const { path, method, operation } of operations) {
      const { responses, summary } = operation as { responses: object; summary: string };
      expect(responses, `${method} ${path}`).to.have.property('default');
      expect(
        Object.keys(responses).some((status) => status.startsWith('2')),
        path,
      ).to.equal(true);
      expect(summary, path).to.match(/^[A-Z].*\.$/);
    }
  });

  it('covers all areas, each with its server', () => {
    const tags = new Set(operations.flatMap(({ operation }) => operation.tags as string[]));
    expect([...tags].sort()).to.deep.equal([
      'health',
      'kv',
      'management',
      'monitoring',
      'operators',
      'queue',
      'search',
      'vector',
    ]);
    expect(document.paths['/pipeline']?.servers).to.deep.equal([{ url: 'http://kv.example' }]);
    expect(document.paths['/v2/dlq']?.servers).to.deep.equal([{ url: 'https://queue.example' }]);
    expect(document.paths['/v2/search']?.servers).to.equal(undefined);
  });

  it('is valid OpenAPI 3.1', () => {
    expect(document.openapi).to.equal('3.1.0');
    expect(text).to.not.include('nullable');
  });

  it('describes a body with the rules of its validation', () => {
    const { properties, required } = schemaOf(CreateDatabaseRequest) as {
      properties: Record<string, Record<string, unknown>>;
      required?: string[];
    };
    expect(required).to.equal(undefined);
    expect(properties.budget).to.deep.include({ type: 'integer', minimum: 0 });
    expect(properties.plan?.enum).to.include('fixed_500gb');
    expect(properties.database_name).to.deep.include({ type: 'string', minLength: 1, maxLength: 64 });
    expect(properties.read_regions).to.deep.include({ type: 'array' });
    const asked = requestOf(CreateDatabaseRequest, { name: 'x', other: 1 });
    expect(asked).to.have.property('name', 'x');
    expect(asked).to.not.have.property('other');
  });
});
