/** From a method and a path to a declared route. Proves RT1, RT2. */
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { RefusedRequest } from '../../../../src/edge/http/refused.js';
import { type At, described } from '../../../../src/edge/http/route.js';
import { RouteTable, type TableOptions } from '../../../../src/edge/http/route-table.js';

const ANSWER = { kind: 'ok' } as const;

function tableOf(routes: readonly At[], options?: TableOptions) {
  const declared = routes.map((at) => described(at, { summary: at, permission: 'read', answer: ANSWER }));
  const table = new RouteTable(declared, options);
  return (method: string, path: string) => {
    try {
      const found = table.find({ method } as IncomingMessage, path);
      return [found.route.summary, { ...found.path }];
    } catch (refused) {
      if (!(refused instanceof RefusedRequest)) throw refused;
      return [refused.refusal.status, refused.headers.Allow];
    }
  };
}

describe('edge/http: the table of routes', () => {
  it('prefers fixed segments to parameters, and parameters to wildcards', () => {
    const find = tableOf(['POST /a/*all', 'POST /a/:one', 'POST /a/fixed', 'POST /a/:one/end']);
    expect(find('POST', '/a/fixed')).to.deep.equal(['POST /a/fixed', {}]);
    expect(find('POST', '/a/other')).to.deep.equal(['POST /a/:one', { one: 'other' }]);
    expect(find('POST', '/a/b/end')).to.deep.equal(['POST /a/:one/end', { one: 'b' }]);
    expect(find('POST', '/a/b/c')).to.deep.equal(['POST /a/*all', { all: 'b/c' }]);
  });

  it('decodes a parameter, and leaves a wildcard undecoded', () => {
    const find = tableOf(['GET /one/:name', 'GET /all/*name']);
    expect(find('GET', '/one/a%2Fb%20c')).to.deep.equal(['GET /one/:name', { name: 'a/b c' }]);
    expect(find('GET', '/one/100%')).to.deep.equal(['GET /one/:name', { name: '100%' }]);
    expect(find('GET', '/all/https://x//%41?')).to.deep.equal(['GET /all/*name', { name: 'https://x//%41?' }]);
  });

  it('requires a non-empty wildcard, unless it has a question mark', () => {
    const find = tableOf(['GET /some/*name', 'GET /any/*name?']);
    expect(find('GET', '/some/')).to.deep.equal([404, undefined]);
    expect(find('GET', '/any/')).to.deep.equal(['GET /any/*name?', { name: '' }]);
    expect(find('GET', '/any')).to.deep.equal([404, undefined]);
  });

  it('lists the methods of a path for 405', () => {
    const routes: At[] = ['GET /a/:id', 'DELETE /a/:id', 'POST /a/fixed'];
    expect(tableOf(routes)('PUT', '/a/fixed')).to.deep.equal([405, 'POST, GET, DELETE']);
    expect(tableOf(routes)('GET', '/a/fixed')).to.deep.equal(['GET /a/:id', { id: 'fixed' }]);
    const first = tableOf(routes, { isFirstAlone: true });
    expect(first('GET', '/a/fixed')).to.deep.equal([405, 'POST']);
    expect(first('POST', '/a/other')).to.deep.equal([405, 'GET, DELETE']);
  });

  it('answers HEAD where it answers GET, if configured', () => {
    expect(tableOf(['GET /a'])('HEAD', '/a')).to.deep.equal([405, 'GET']);
    const find = tableOf(['GET /a', 'POST /b'], { answersHead: true });
    expect(find('HEAD', '/a')).to.deep.equal(['GET /a', {}]);
    expect(find('HEAD', '/b')).to.deep.equal([405, 'POST']);
    expect(find('POST', '/a')).to.deep.equal([405, 'HEAD, GET']);
  });

  it('accepts a trailing slash and any case, if configured, outside of wildcards', () => {
    const routes: At[] = ['GET /aB/:id', 'GET /all/*rest/end'];
    const exact = tableOf(routes);
    expect(exact('GET', '/aB/x/')).to.deep.equal([404, undefined]);
    expect(exact('GET', '/ab/x')).to.deep.equal([404, undefined]);
    const loose = tableOf(routes, { allowsLastSlash: true, ignoresCase: true });
    expect(loose('GET', '/AB/X/')).to.deep.equal(['GET /aB/:id', { id: 'X' }]);
    expect(loose('GET', '/all/x/END')).to.deep.equal([404, undefined]);
    expect(loose('GET', '/all/x/end/')).to.deep.equal([404, undefined]);
  });

  it('matches pattern characters literally', () => {
    const find = tableOf(['GET /openapi.json']);
    expect(find('GET', '/openapi.json')).to.deep.equal(['GET /openapi.json', {}]);
    expect(find('GET', '/openapixjson')).to.deep.equal([404, undefined]);
  });
});
