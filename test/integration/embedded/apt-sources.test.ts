/** Proves AP1, AP2. */
import { expect } from 'chai';
import {
  archiveSources,
  newerSuites,
  parseDistribution,
  parseListFile,
  parseSourcesFile,
  renderSource,
} from '../../../src/adapters/nats/embedded/apt-sources.js';

describe('embedded server: the machine’s apt sources', () => {
  it('are read from one-line files, without options that weaken the signature', () => {
    const text = [
      '# deb http://old.example/debian bookworm main',
      'deb-src http://deb.example/debian bookworm main',
      'deb cdrom:[Debian 12]/ bookworm main',
      'deb [arch=amd64 trusted=yes signed-by=/keys/a.gpg] https://deb.example/debian bookworm main contrib # ours',
      '  deb http://deb.example/debian-security bookworm-security main',
    ].join('\n');
    expect(parseListFile(text)).to.deep.equal([
      {
        uris: ['https://deb.example/debian'],
        suites: ['bookworm'],
        components: ['main', 'contrib'],
        signedBy: '/keys/a.gpg',
      },
      { uris: ['http://deb.example/debian-security'], suites: ['bookworm-security'], components: ['main'] },
    ]);
  });

  it('are read from stanza files, without disabled ones and with whole keys', () => {
    const text = [
      'Types: deb deb-src',
      '# a comment inside',
      'URIs: http://deb.example/debian',
      'Suites: bookworm',
      ' bookworm-updates',
      'Components: main',
      'Trusted: yes',
      'Signed-By:',
      ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
      ' .',
      ' abc',
      '',
      'Enabled: no',
      'Types: deb',
      'URIs: http://off.example/debian',
      'Suites: bookworm',
    ].join('\n');
    const [source, ...others] = parseSourcesFile(text);
    expect(others).to.deep.equal([]);
    expect(source?.suites).to.deep.equal(['bookworm', 'bookworm-updates']);
    const rendered = renderSource(source!, 'testing', { family: 'debian', codename: 'bookworm' });
    expect(rendered).to.equal(
      'Types: deb\nURIs: http://deb.example/debian\nSuites: testing\nComponents: main\n' +
        'Signed-By: -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n',
    );
  });

  it('contain the archive of the running suite, not its security archive', () => {
    const sources = parseListFile(
      'deb http://a.example/security bookworm-security main\ndeb http://a.example/debian bookworm main\n',
    );
    expect(archiveSources(sources, 'bookworm').map(({ uris }) => uris[0])).to.deep.equal(['http://a.example/debian']);
  });

  it('are extended by the suites after the running one', () => {
    expect(newerSuites({ family: 'debian', codename: 'bookworm' })).to.deep.equal(['testing', 'unstable', 'trixie']);
    expect(newerSuites({ family: 'debian', codename: 'duke' })).to.deep.equal(['testing', 'unstable']);
    expect(newerSuites({ family: 'ubuntu', codename: 'noble' })).to.deep.equal(['devel', 'resolute']);
  });

  it('are read on Debian, Ubuntu and their derivatives only', () => {
    const mint = 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n';
    expect(parseDistribution(mint)).to.deep.equal({ family: 'ubuntu', codename: 'noble' });
    expect(parseDistribution('ID=debian\nVERSION_CODENAME=bookworm\n')).to.deep.equal({
      family: 'debian',
      codename: 'bookworm',
    });
    expect(parseDistribution('ID=fedora\nVERSION_CODENAME=""\n')).to.equal(undefined);
    expect(parseDistribution('')).to.equal(undefined);
  });
});
