/** What a machine's files say of names. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { candidatesOf } from '../../../../src/adapters/http-delivery/resolve-name.js';
import { ParsedFile, parseHosts, parseResolverConfig } from '../../../../src/adapters/http-delivery/resolver-files.js';

describe('files of the resolver', () => {
  it('have all addresses of a name, in any case, without comments and what is no address', () => {
    const hosts = parseHosts(
      '127.0.0.1\tlocalhost Here.Example # me\n::1 localhost\n# 10.0.0.1 gone\n10.0.0.300 bad\n127.0.0.1 localhost\n10.0.0.2\nfe80::1%lo0 scoped\r\n',
    );
    expect([...hosts]).to.deep.equal([
      ['localhost', ['127.0.0.1', '::1']],
      ['here.example', ['127.0.0.1']],
      ['scoped', ['fe80::1%lo0']],
    ]);
  });

  it('name servers, search domains and the dots that a name needs', () => {
    const config = parseResolverConfig(
      '; made by hand\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver x\nnameserver 10.0.0.3\nnameserver 10.0.0.4\n' +
        'domain old.example\nsearch a.example. b.example\noptions rotate ndots:5\n',
    );
    expect(config).to.deep.equal({
      servers: [
        { address: '10.0.0.1', port: 53 },
        { address: 'fe80::1%eth0', port: 53 },
        { address: '10.0.0.3', port: 53 },
      ],
      searchDomains: ['a.example', 'b.example'],
      minDots: 5,
    });
  });

  it('say that the server is here when they say nothing', () => {
    const nothing = { servers: [{ address: '127.0.0.1', port: 53 }], searchDomains: [], minDots: 1 };
    expect(parseResolverConfig('')).to.deep.equal(nothing);
  });

  it('bound what they ask for', () => {
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
    const config = { servers: [], searchDomains: ['s1', 's2'], minDots: 1 };
    expect(candidatesOf('a', config)).to.deep.equal(['a.s1', 'a.s2', 'a']);
    expect(candidatesOf('a.b', config)).to.deep.equal(['a.b', 'a.b.s1', 'a.b.s2']);
    expect(candidatesOf('a.', config)).to.deep.equal(['a']);
    expect(candidatesOf('a..b', config)).to.deep.equal([]);
    expect(candidatesOf('x'.repeat(64), config)).to.deep.equal([]);
    expect(candidatesOf('a.b', { ...config, minDots: 5 })).to.deep.equal(['a.b.s1', 'a.b.s2', 'a.b']);
  });
});
