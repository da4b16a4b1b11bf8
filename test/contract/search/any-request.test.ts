/**
 * Random requests to the data plane of search indexes: every answer has its format, and none is an internal error.
 * Proves SC2.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { repetitions } from '../../support/depth.js';
import { SearchEndpointHarness } from '../../support/search-endpoint.js';
import { FollowedGateway } from '../../support/search-follower.js';

const STATUSES = [200, 400, 404, 405];
const COMMANDS = [
  'upsert-data',
  'search',
  'fetch',
  'delete',
  'range',
  'reset',
  'delete-namespace',
  'list-namespaces',
  'info',
  'rename-namespace',
  'query',
  '',
];
const NAMES = ['', '/', '/films', '/a%20b', '/%', '/%ff', '/a/b', '?all', '/films?all', '/%00'];

const text = fc.constantFrom(
  '',
  'a',
  'film-1',
  'after-YQ',
  '0',
  'x = 1',
  "x GLOB 'a*'",
  'x <',
  '\ud800',
  'é',
  '__proto__',
);
const value = fc.oneof(
  text,
  fc.integer({ min: -2, max: 1001 }),
  fc.constantFrom(null, true, false, 0.5, 1e300),
  fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 }),
  fc.dictionary(text, fc.oneof(text, fc.integer()), { maxKeys: 2, noNullPrototype: true }),
);
const field = fc.constantFrom(
  'id',
  'content',
  'metadata',
  'vector',
  'query',
  'topK',
  'filter',
  'reranking',
  'semanticWeight',
  'ids',
  'prefix',
  'cursor',
  'limit',
  'includeData',
  'includeVectors',
  'namespace',
  'newNamespace',
  'deleteExisting',
);
const one = fc.dictionary(field, value, { maxKeys: 5, noNullPrototype: true });
const body = fc.oneof(
  one.map((members) => JSON.stringify(members)),
  fc.array(one, { maxLength: 3 }).map((items) => JSON.stringify(items)),
  fc.json(),
  fc.string(),
);

describe('search data plane: random requests', () => {
  let face: SearchEndpointHarness;
  before(async () => {
    const gateway = new FollowedGateway();
    face = await new SearchEndpointHarness({ gateway, queries: gateway }).start();
  });
  after(() => face.stop());

  it('are answered with a result, or with an error and its status', async () => {
    const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT', 'OPTIONS');
    const request = fc.record({ method, command: fc.constantFrom(...COMMANDS), name: fc.constantFrom(...NAMES), body });
    await fc.assert(
      fc.asyncProperty(request, async ({ method: by, command, name, body: sent }) => {
        const answer = await face.call(command + name, sent, { method: by });
        expect(STATUSES, answer.text).to.include(answer.status);
        if (answer.status === 200) expect(answer.body).to.have.all.keys('result');
        else {
          expect(answer.body).to.have.all.keys('error', 'status');
          expect(answer.body.status).to.equal(answer.status);
          expect(answer.body.error).to.be.a('string').that.is.not.equal('');
        }
      }),
      { numRuns: repetitions(1000) },
    );
    expect(face.log.lines).to.deep.equal([]);
  });
});
