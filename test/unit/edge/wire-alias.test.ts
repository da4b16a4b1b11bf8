import { expect } from 'chai';
import { WireSpellings } from '../../../src/edge/index.js';

const ALIAS = { headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store' };

describe('edge: wire alias', () => {
  const spellings = new WireSpellings([ALIAS]);

  it('reads a header in either spelling, and lets the neutral one count', () => {
    expect(spellings.read({ 'acme-encoding': 'base64' }, 'Encoding')).to.equal('base64');
    expect(spellings.read({ 'svc-encoding': 'none', 'acme-encoding': 'base64' }, 'Encoding')).to.equal('none');
    expect(spellings.read({}, 'Encoding')).to.equal(undefined);
  });

  it('answers in the alias when any header of the request begins with it', () => {
    const spelling = spellings.spellingOf({ host: 'x', 'acme-telemetry-sdk': 'y' });
    expect(spelling.nameOf('Sync-Token')).to.equal('Acme-Sync-Token');
  });

  it('answers neutrally otherwise', () => {
    expect(spellings.spellingOf({ 'svc-encoding': 'base64' }).nameOf('Sync-Token')).to.equal('Svc-Sync-Token');
    expect(spellings.spellingOf({ acme: 'x', acmeish: 'y' }).nameOf('Sync-Token')).to.equal('Svc-Sync-Token');
  });

  it('knows no alias when none is named', () => {
    const neutral = new WireSpellings([]);
    expect(neutral.read({ 'acme-encoding': 'base64' }, 'Encoding')).to.equal(undefined);
    expect(neutral.spellingOf({ 'acme-encoding': 'x' }).nameOf('Sync-Token')).to.equal('Svc-Sync-Token');
    expect(neutral.responseHeaders()).to.deep.equal(['Svc-Sync-Token']);
  });

  it('lists both spellings for browsers', () => {
    expect(spellings.responseHeaders()).to.deep.equal(['Svc-Sync-Token', 'Acme-Sync-Token']);
    expect(spellings.requestHeaders()).to.include.members([
      'Svc-Encoding',
      'Acme-Encoding',
      'Acme-Response-Format',
      'Svc-Telemetry-Runtime',
      'Acme-Telemetry-Platform',
    ]);
  });
});
