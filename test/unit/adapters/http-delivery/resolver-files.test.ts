/** The names in the files of a machine's resolver. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { candidatesOf } from '../../../../src/adapters/http-delivery/resolve-name.js';
import { ParsedFile, parseHosts, parseResolverConfig } from '../../../../src/adapters/http-delivery/resolver-files.js';

describe('the files of the resolver', () => {
  it('list all addresses of a name in any case, without comments and invalid addresses', () => {
    const hosts = parseHosts(
      '127.0.0.1\tlocalhost Here.Example # me\n::1 localhost\n# 10.0.0.1 gone\n10.0.0.300 bad\n127.0.0.1 localhost\n10.0.0.2\nfe80::1%lo0 scoped\r\n',
    );
    expect([...hosts]).to.deep.equal([
      ['localhost', ['127.0.0.1', '::1']],
      ['here.example', ['127.0.0.1']],
      ['scoped', ['fe80::1%lo0']],
    ]);
  });

  it('give the search domains and the number of dots that a name needs', () => {
    const config = parseResolverConfig(
      '; made by hand\nnameserver 10.0.0.1\ndomain old.example\nsearch a.example. b.example\noptions rotate ndots:5\n',
    );
    expect(config).to.deep.equal({ searchDomains: ['a.example', 'b.example'], minDots: 5 });
    expect(parseResolverConfig('')).to.deep.equal({ searchDomains: [], minDots: 1 });
  });

  it('have bounded numbers of search domains and dots', () => {
    const search = Array.from({ length: 9 }, (_, n) => `s${n}`).join(' ');
    const config = parseResolverConfig(`search ${search}\noptions ndots:99\n`);
    expect(config.searchDomains).to.have.length(6);
    expect(config.minDots).to.equal(15);
  });

  it('are read again when they have changed, and are empty when they are gone', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'resolver-'));
    const path = join(directory, 'hosts');
    const file = new ParsedFile(path, parseHosts);
    expect((await file.value()).size).to.equal(0);
    await writeFile(path, '10.0.0.1 a\n');
    expect((await file.value()).get('a')).to.deep.equal(['10.0.0.1']);
    expect(await file.value()).to.equal(await file.value());
    await writeFile(path, '10.0.0.22 a\n');
    expect((await file.value()).get('a')).to.deep.equal(['10.0.0.22']);
    await rm(directory, { recursive: true });
    expect((await file.value()).size).to.equal(0);
  });

  it('decide in which order names are tried', () => {
    const config = { searchDomains: ['s1', 's2'], minDots: 1 };
    expect(candidatesOf('a', config)).to.deep.equal(['a.s1', 'a.s2', 'a']);
    expect(candidatesOf('a.b', config)).to.deep.equal(['a.b', 'a.b.s1', 'a.b.s2']);
    expect(candidatesOf('a.', config)).to.deep.equal(['a']);
    expect(candidatesOf('a..b', config)).to.deep.equal([]);
    expect(candidatesOf('x'.repeat(64), config)).to.deep.equal([]);
    expect(candidatesOf('a.b', { ...config, minDots: 5 })).to.deep.equal(['a.b.s1', 'a.b.s2', 'a.b']);
  });
});
