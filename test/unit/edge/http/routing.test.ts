/** From a method and a path to a declared route. Proves RT1, RT2. */
import { expect } from 'chai';
import type { PipelineContext } from '../../../../src/edge/http/application.js';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { type At, described } from '../../../../src/edge/http/route.js';
import { type RoutingOptions, routed } from '../../../../src/edge/http/routing.js';

const ANSWER = { kind: 'ok' } as const;

function tableOf(routes: readonly At[], options: RoutingOptions = {}) {
  const declared = routes.map((at) => described(at, { summary: at, permission: 'read', answer: ANSWER }));
  return async (method: string, path: string) => {
    let found: unknown;
    const router = routed(declared, options, async (_context, route, parts) => {
      found = [route.summary, { ...parts }];
    });
    try {
      // The router reads only these members.
      await router({ req: {}, request: {}, method, path, state: {} } as unknown as PipelineContext, async () => {});
      return found;
    } catch (refused) {
      if (!(refused instanceof RefusedRequest)) throw refused;
      return [refused.refusal.status, refused.headers.Allow];
    }
  };
}

describe('edge/http: declared routes', () => {
  it('prefers fixed segments to parameters, and parameters to wildcards', async () => {
    const find = tableOf(['POST /a/*all', 'POST /a/:one', 'POST /a/fixed', 'POST /a/:one/end']);
    expect(await find('POST', '/a/fixed')).to.deep.equal(['POST /a/fixed', {}]);
    expect(await find('POST', '/a/other')).to.deep.equal(['POST /a/:one', { one: 'other' }]);
    expect(await find('POST', '/a/b/end')).to.deep.equal(['POST /a/:one/end', { one: 'b' }]);
    expect(await find('POST', '/a/b/c')).to.deep.equal(['POST /a/*all', { all: 'b/c' }]);
  });

  it('decodes a parameter, and leaves a wildcard undecoded', async () => {
    const find = tableOf(['GET /one/:name', 'GET /all/*name']);
    expect(await find('GET', '/one/a%2Fb%20c')).to.deep.equal(['GET /one/:name', { name: 'a/b c' }]);
    expect(await find('GET', '/one/100%')).to.deep.equal(['GET /one/:name', { name: '100%' }]);
    expect(await find('GET', '/all/https://x//%41?')).to.deep.equal(['GET /all/*name', { name: 'https://x//%41?' }]);
  });

  it('requires a non-empty wildcard, unless it has a question mark', async () => {
    const find = tableOf(['GET /some/*name', 'GET /any/*name?']);
    expect(await find('GET', '/some/')).to.deep.equal([404, undefined]);
    expect(await find('GET', '/any/')).to.deep.equal(['GET /any/*name?', { name: '' }]);
    expect(await find('GET', '/any')).to.deep.equal([404, undefined]);
  });

  it('lists the methods of a path for 405', async () => {
    const routes: At[] = ['GET /a/:id', 'DELETE /a/:id', 'POST /a/fixed'];
    expect(await tableOf(routes)('PUT', '/a/fixed')).to.deep.equal([405, 'POST, GET, DELETE']);
    expect(await tableOf(routes)('GET', '/a/fixed')).to.deep.equal(['GET /a/:id', { id: 'fixed' }]);
    const first = tableOf(routes, { isFirstAlone: true });
    expect(await first('GET', '/a/fixed')).to.deep.equal([405, 'POST']);
    expect(await first('POST', '/a/other')).to.deep.equal([405, 'GET, DELETE']);
  });

  it('answers HEAD where it answers GET, if configured', async () => {
    expect(await tableOf(['GET /a'])('HEAD', '/a')).to.deep.equal([405, 'GET']);
    const find = tableOf(['GET /a', 'POST /b'], { answersHead: true });
    expect(await find('HEAD', '/a')).to.deep.equal(['GET /a', {}]);
    expect(await find('HEAD', '/b')).to.deep.equal([405, 'POST']);
    expect(await find('POST', '/a')).to.deep.equal([405, 'HEAD, GET']);
  });

  it('accepts a trailing slash and any case, if configured, outside of wildcards', async () => {
    const routes: At[] = ['GET /aB/:id', 'GET /all/*rest/end'];
    const exact = tableOf(routes);
    expect(await exact('GET', '/aB/x/')).to.deep.equal([404, undefined]);
    expect(await exact('GET', '/ab/x')).to.deep.equal([404, undefined]);
    const loose = tableOf(routes, { allowsLastSlash: true, ignoresCase: true });
    expect(await loose('GET', '/AB/X/')).to.deep.equal(['GET /aB/:id', { id: 'X' }]);
    expect(await loose('GET', '/all/x/END')).to.deep.equal([404, undefined]);
    expect(await loose('GET', '/all/x/end/')).to.deep.equal([404, undefined]);
  });

  it('matches pattern characters literally', async () => {
    const find = tableOf(['GET /openapi.json']);
    expect(await find('GET', '/openapi.json')).to.deep.equal(['GET /openapi.json', {}]);
    expect(await find('GET', '/openapixjson')).to.deep.equal([404, undefined]);
  });
});
