/** Proves RTA1, RTA2. */
import { expect } from 'chai';
import { parseRequestTarget } from '../../../src/edge/kv/request-target.js';

function words(target: string): readonly string[] {
  return parseRequestTarget(target).words;
}

describe('edge/kv: request target', () => {
  it('splits the path on slashes and decodes each segment afterwards', () => {
    expect(words('/set/foo/a%2Fb')).to.deep.equal(['set', 'foo', 'a/b']);
  });

  it('decodes percent escapes to raw bytes, UTF-8 or not', () => {
    expect(words('/set/k/%00%ff%C3%A9')).to.deep.equal(['set', 'k', '\x00\xff\xc3\xa9']);
  });

  it('keeps a plus sign in the path', () => {
    expect(words('/set/a+b/1%2B1')).to.deep.equal(['set', 'a+b', '1+1']);
  });

  it('reads an empty segment as an empty argument, but drops exactly one at the end', () => {
    expect(words('/set//v')).to.deep.equal(['set', '', 'v']);
    expect(words('/get/foo/')).to.deep.equal(['get', 'foo']);
    expect(words('/get//')).to.deep.equal(['get', '']);
    expect(words('/')).to.deep.equal([]);
    expect(words('')).to.deep.equal([]);
  });

  it('keeps dots and double slashes as arguments', () => {
    expect(words('/set/../.')).to.deep.equal(['set', '..', '.']);
    expect(words('/get/%2e%2e')).to.deep.equal(['get', '..']);
  });

  it('decodes once only', () => {
    expect(words('/get/%2525')).to.deep.equal(['get', '%25']);
  });

  it('appends names and values of the query in order, and names alone where there is no value', () => {
    const { options } = parseRequestTarget('/set/foo?EX=100&NX&GET=&a=b=c');
    expect(options).to.deep.equal(['EX', '100', 'NX', 'GET', 'a', 'b=c']);
  });

  it('reads the query as a form: plus and %20 are blanks', () => {
    expect(parseRequestTarget('/set/foo?a+b=c%20d%2B').options).to.deep.equal(['a b', 'c d+']);
  });

  it('removes _token at any place, in any encoding, and uses the first one', () => {
    const target = parseRequestTarget('/set/foo?EX=1&%5Ftoken=a%2Bb&NX&_token=other');
    expect(target.token).to.equal('a+b');
    expect(target.options).to.deep.equal(['EX', '1', 'NX']);
    expect(parseRequestTarget('/get/a?_token').token).to.equal('');
  });

  it('reports an escape without two hexadecimal digits, in path and query', () => {
    for (const target of ['/get/%zz', '/get/%', '/get/%4', '/get/a?x=%g1', '/get/%+1']) {
      expect(parseRequestTarget(target).isMalformed, target).to.equal(true);
    }
    expect(parseRequestTarget('/get/%41').isMalformed).to.equal(false);
  });

  it('reserves route words as the first segment only, in any case', () => {
    expect(parseRequestTarget('/').route).to.equal('whole-command');
    expect(parseRequestTarget('/?_token=x').route).to.equal('whole-command');
    expect(parseRequestTarget('/pipeline').route).to.equal('pipeline');
    expect(parseRequestTarget('/Pipeline/').route).to.equal('pipeline');
    expect(parseRequestTarget('/MULTI-EXEC').route).to.equal('multi-exec');
    expect(parseRequestTarget('/subscribe/a/b').route).to.equal('subscribe');
    expect(parseRequestTarget('/psubscribe/a*').route).to.equal('psubscribe');
    expect(parseRequestTarget('/monitor').route).to.equal('monitor');
    expect(parseRequestTarget('/get/pipeline').route).to.equal('command');
    expect(parseRequestTarget('/pipeline/x').route).to.equal('command');
  });

  it('finds the path of an absolute target', () => {
    expect(words('http://host:1/get/a')).to.deep.equal(['get', 'a']);
    expect(words('http://host')).to.deep.equal([]);
  });

  it('copies long words unchanged', () => {
    const long = `${'x'.repeat(2000)}\xff`;
    expect(words(`/get/${long}`)).to.deep.equal(['get', long]);
    expect(words('/get/0123456789abcdef')).to.deep.equal(['get', '0123456789abcdef']);
  });
});
