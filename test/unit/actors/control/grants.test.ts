import { expect } from 'chai';
import { Grants } from '../../../../src/actors/control/grants.js';
import {
  type ControlState,
  type DatabaseLimits,
  type DatabaseSettings,
  DEFAULT_DATABASE_SETTINGS,
  evolve,
} from '../../../../src/domain/control/index.js';
import type { KvGrant } from '../../../../src/ports/index.js';
import { hashSecret } from '../../../../src/protocol/index.js';
import { databaseCreated, db, INSTALLED, LIMITS, NOW_MS, stateAfter } from '../../../spec/control/given.js';

const TOKEN = 'token-of-d';

class Stand {
  readonly state: ControlState;
  version = 1;
  readonly grants = new Grants(
    () => this.state,
    () => this.version,
  );

  constructor() {
    const created = databaseCreated('d');
    if (created.type !== 'DatabaseCreated') throw new Error('not a database');
    const standardToken = { sha256: hashSecret(TOKEN), sealed: 'x' };
    this.state = stateAfter(...INSTALLED, { ...created, secrets: { ...created.secrets, standardToken } });
  }

  set(settings: Partial<DatabaseSettings>): void {
    const all = { ...DEFAULT_DATABASE_SETTINGS, ...settings };
    evolve(this.state, { type: 'DatabaseSettingsSet', database: db('d'), settings: all, atMs: NOW_MS });
    this.version += 1;
  }

  limit(limits: Partial<DatabaseLimits>): void {
    evolve(this.state, { type: 'LimitsUpdated', database: db('d'), limits: { ...LIMITS, ...limits }, atMs: NOW_MS });
    this.version += 1;
  }

  get grant(): KvGrant {
    return this.grants.ofToken(TOKEN) as KvGrant;
  }
}

describe('the grant of a database', () => {
  it('allows every network and is not suspended by default', () => {
    const { grant } = new Stand();
    expect(grant.networks).to.equal(undefined);
    expect(grant.isSuspended).to.equal(undefined);
  });

  it('names the networks that may use the database', () => {
    const stand = new Stand();
    stand.set({ allowedIps: ['10.0.0.0/8'] });
    expect(stand.grant.networks?.has('10.1.2.3')).to.equal(true);
    expect(stand.grant.networks?.has('11.1.2.3')).to.equal(false);
    stand.set({ allowedIps: [] });
    expect(stand.grant.networks).to.equal(undefined);
  });

  it('reports a suspended database as suspended, not as an unknown token', () => {
    const stand = new Stand();
    stand.set({ isSuspended: true });
    expect(stand.grant.isSuspended).to.equal(true);
    stand.set({ isSuspended: false });
    expect(stand.grant.isSuspended).to.equal(undefined);
  });

  it('has the limits that edges enforce', () => {
    const stand = new Stand();
    stand.limit({ maxCommandsPerSecond: 7, maxBytesPerMonth: 8, maxConnections: 9 });
    expect(stand.grant.limits).to.include({ maxCommandsPerSecond: 7, maxBytesPerMonth: 8, maxConnections: 9 });
  });

  it('stays the same object through changes that do not concern edges', () => {
    const stand = new Stand();
    stand.set({ allowedIps: ['10.0.0.0/8'] });
    const { grant } = stand;
    stand.set({ allowedIps: ['10.0.0.0/8'], budgetDollars: 5, plan: 'fixed_1gb' });
    expect(stand.grants.renewed(grant)).to.equal(grant);
    stand.limit({ maxDataBytes: 5 });
    expect(stand.grants.renewed(grant)).to.equal(grant);
  });

  const changes: Readonly<Record<string, (stand: Stand) => void>> = {
    'a suspension': (stand) => stand.set({ isSuspended: true }),
    'a list of addresses': (stand) => stand.set({ allowedIps: ['10.0.0.1'] }),
    'a rate': (stand) => stand.limit({ maxCommandsPerSecond: 1 }),
    'a bandwidth': (stand) => stand.limit({ maxBytesPerMonth: 1 }),
    'a number of connections': (stand) => stand.limit({ maxConnections: 1 }),
    'a number of requests': (stand) => stand.limit({ maxRequestsPerDay: 1 }),
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`is a new object after ${name} was set`, () => {
      const stand = new Stand();
      const { grant } = stand;
      change(stand);
      expect(stand.grants.renewed(grant)).to.be.an('object').and.not.equal(grant);
    });
  }
});
