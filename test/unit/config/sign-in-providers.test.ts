/** MILLRACE_SIGN_IN_PROVIDERS: the list of identity providers. */
import { expect } from 'chai';
import { loadConfig, readSignInProviders, Secret } from '../../../src/config/index.js';

const RULE = { group: '*', role: 'dev' };
const PROVIDER = { name: 'sso', issuer: 'https://id.example', clientId: 'millrace', roles: [RULE] };

const refusalOf = (providers: unknown): string => {
  try {
    loadConfig({ MILLRACE_SIGN_IN_PROVIDERS: JSON.stringify(providers) });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('MILLRACE_SIGN_IN_PROVIDERS', () => {
  it('fills in the fields that are not given', () => {
    expect(readSignInProviders(new Secret(JSON.stringify([PROVIDER])))).to.deep.equal([
      {
        ...PROVIDER,
        label: 'sso',
        clientSecret: undefined,
        scopes: 'openid email profile offline_access',
        groupsClaim: 'groups',
        trustsEmails: false,
      },
    ]);
  });

  for (const [about, given, text] of [
    ['a name for paths', { ...PROVIDER, name: 'S S O' }, 'name of provider 1 must be'],
    [
      'an issuer over plain HTTP elsewhere',
      { ...PROVIDER, issuer: 'http://id.example' },
      'issuer of provider 1 must be',
    ],
    ['an issuer with a user', { ...PROVIDER, issuer: 'https://a@id.example' }, 'issuer of provider 1 must be'],
    ['a client', { ...PROVIDER, clientId: undefined }, 'clientId of provider 1 must be'],
    ['a field that does not exist', { ...PROVIDER, groups: 'x' }, 'provider 1 has the unknown field groups'],
    ['no rules', { ...PROVIDER, roles: [] }, 'roles of provider 1 must be'],
    ['the role owner', { ...PROVIDER, roles: [{ ...RULE, role: 'owner' }] }, 'roles of provider 1 must be'],
    [
      'trustsEmails as a text',
      { ...PROVIDER, trustsEmails: 'yes' },
      'trustsEmails of provider 1 must be true or false',
    ],
  ] as const) {
    it(`refuses ${about}, and names the field`, () => {
      expect(refusalOf([given])).to.include(text);
    });
  }

  it('refuses two providers of one name, and too many', () => {
    expect(refusalOf([PROVIDER, PROVIDER])).to.include('two providers have the name sso');
    expect(refusalOf(Array.from({ length: 17 }, () => PROVIDER))).to.include('at most 16 are possible');
  });

  it('accepts an issuer over HTTP on this machine', () => {
    expect(refusalOf([{ ...PROVIDER, issuer: 'http://127.0.0.1:9000' }])).to.equal('');
  });
});
