/** Proves WAL1–WAL3. */
import { expect } from 'chai';
import { HeaderAliases } from '../../../src/edge/index.js';

const ALIAS = { headerWord: 'Acme', queueWord: 'acmeq', kvWord: 'store' };

describe('edge: wire alias', () => {
  const spellings = new HeaderAliases([ALIAS]);

  it('reads a header in either spelling, and prefers the neutral one', () => {
    expect(spellings.read({ 'acme-encoding': 'base64' }, 'Encoding')).to.equal('base64');
    expect(spellings.read({ 'svc-encoding': 'none', 'acme-encoding': 'base64' }, 'Encoding')).to.equal('none');
    expect(spellings.read({}, 'Encoding')).to.equal(undefined);
  });

  it('answers in the alias when any header of the request starts with it', () => {
    const spelling = spellings.spellingOf({ host: 'x', 'acme-telemetry-sdk': 'y' });
    expect(spelling.nameOf('Sync-Token')).to.equal('Acme-Sync-Token');
  });

  it('answers in the neutral spelling otherwise', () => {
    expect(spellings.spellingOf({ 'svc-encoding': 'base64' }).nameOf('Sync-Token')).to.equal('Svc-Sync-Token');
    expect(spellings.spellingOf({ acme: 'x', acmeish: 'y' }).nameOf('Sync-Token')).to.equal('Svc-Sync-Token');
  });

  it('has no effect when none is configured', () => {
    const neutral = new HeaderAliases([]);
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

describe('edge: wire alias of the queue', () => {
  const spellings = new HeaderAliases([ALIAS]);

  it('converts names to neutral ones, also the names inside them', () => {
    const turned = [
      ['acme-retries', 'svc-retries'],
      ['acme-forward-x', 'svc-forward-x'],
      ['acme-forward-acme-run', 'svc-forward-svc-run'],
      ['acme-callback-forward-acme-run', 'svc-callback-forward-svc-run'],
      ['acme-failure-callback-forward-x', 'svc-failure-callback-forward-x'],
      ['acme-header-forward', 'svc-header-forward'],
      ['svc-forward-acme-run', 'svc-forward-acme-run'],
      ['x-acme-run', 'x-acme-run'],
      ['acme', 'acme'],
    ] as const;
    for (const [name, neutral] of turned) expect(spellings.neutralName(name), name).to.equal(neutral);
  });

  it('converts the header names among redacted fields', () => {
    expect(spellings.neutralValue('svc-redact-fields', 'body, header[Acme-Run],header[ acme-x]')).to.equal(
      'body, header[svc-Run],header[svc-x]',
    );
    for (const name of ['svc-callback-redact-fields', 'svc-callback-failure-callback-redact-fields']) {
      expect(spellings.neutralValue(name, 'header[Acme-Run]'), name).to.equal('header[svc-Run]');
    }
    expect(spellings.neutralValue('svc-forward-redact-fields', 'header[Acme-Run]')).to.equal('header[Acme-Run]');
    expect(spellings.neutralValue('svc-label', 'header[Acme-Run]')).to.equal('header[Acme-Run]');
  });

  it('recognises the spelling of names and of the token’s query key', () => {
    expect(spellings.spellingOfName('acme-x')).to.equal('alias');
    expect(spellings.spellingOfName('svc-x')).to.equal('neutral');
    expect(spellings.spellingOfName('x-acme')).to.equal(undefined);
    expect(spellings.tokenKey('acmeq_token')).to.equal('alias');
    expect(spellings.tokenKey('msgq_token')).to.equal('neutral');
    expect(spellings.tokenKey('store_token')).to.equal(undefined);
    const capitals = new HeaderAliases([{ headerWord: 'Acme', queueWord: 'AcmeQ', kvWord: 'store' }]);
    expect(capitals.tokenKey('acmeq_token')).to.equal('alias');
  });

  it('converts stored names, and texts with names in them, for the reader', () => {
    const alias = spellings.spellingFor(true);
    expect(alias.headerName('Svc-Run')).to.equal('Acme-Run');
    expect(alias.headerName('X-Svc-Run')).to.equal('X-Svc-Run');
    expect(alias.text('svc-retries and Svc-Delay')).to.equal('acme-retries and Acme-Delay');
    expect(spellings.spellingFor(false).headerName('Svc-Run')).to.equal('Svc-Run');
  });

  it('converts options together with the header name in them', () => {
    const alias = spellings.spellingFor(true);
    const spelled = [
      ['Svc-Retries', 'Acme-Retries'],
      ['Svc-Workflow-Runid', 'Acme-Workflow-Runid'],
      ['Svc-Forward-Svc-Run', 'Acme-Forward-Acme-Run'],
      ['Svc-Failure-Callback-Forward-Svc-Run', 'Acme-Failure-Callback-Forward-Acme-Run'],
      ['Svc-Forward-X-Svc-Run', 'Acme-Forward-X-Svc-Run'],
      ['Content-Type', 'Content-Type'],
      ['X-Forward-Svc-Run', 'X-Forward-Svc-Run'],
    ] as const;
    for (const [neutral, name] of spelled) {
      expect(alias.settingName(neutral), neutral).to.equal(name);
      expect(spellings.spellingFor(false).settingName(neutral)).to.equal(neutral);
      expect(spellings.neutralName(name.toLowerCase()), name).to.equal(neutral.toLowerCase());
    }
  });

  it('stays neutral when no alias is configured', () => {
    const neutral = new HeaderAliases([]);
    expect(neutral.neutralName('acme-retries')).to.equal('acme-retries');
    expect(neutral.spellingFor(true).headerName('Svc-Run')).to.equal('Svc-Run');
    expect(neutral.tokenKey('acmeq_token')).to.equal(undefined);
  });
});
