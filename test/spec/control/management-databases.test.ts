import { expect } from 'chai';
import {
  ACCOUNT_PLAN_NAMES,
  ACCOUNT_PLAN_TERMS,
  type ControlCommand,
  type ControlEvent,
  DATABASE_PLAN_TERMS,
  DATABASE_PLANS,
  DEFAULT_ACCOUNT_PLAN,
  databasePlanNamed,
  isIpv4Block,
  MAX_ALLOWED_IPS,
  MAX_BUDGET_DOLLARS,
  MAX_COMMANDS_PER_SECOND,
} from '../../../src/domain/control/index.js';
import {
  ACCOUNT,
  createDatabase,
  databaseCreated,
  db,
  given,
  INSTALLED,
  LIMITS,
  metered,
  NOW_MS,
  secret,
  secretsOf,
  stateAfter,
  usedBy,
} from './given.js';
import {
  atMs,
  backupEnded,
  backupStarted,
  change,
  indexCreated,
  managed,
  OTHER,
  PEOPLE,
  settings,
  settingsSet,
  TEAM,
  teamSet,
} from './management-given.js';

const get = (name: string, account = ACCOUNT): ControlCommand => ({ type: 'GetDatabase', account, database: db(name) });
const move = (name: string, to = TEAM, account = ACCOUNT): ControlCommand => ({
  type: 'MoveDatabase',
  account,
  database: db(name),
  to,
});
/** The plan of an account without an assigned plan. */
const MAX_PAID = ACCOUNT_PLAN_TERMS.paid.maxDatabases;
const many = (count: number, plan: 'free' | 'payg' = 'payg') =>
  Array.from({ length: count }, (_, i) => managed(`n${i}`, { plan })).flat();

describe('control: creating a database for the management API', () => {
  const create = (name: string, over: Record<string, unknown> = {}) =>
    createDatabase(name, { account: ACCOUNT, settings: settings(), ...over });

  it('stores its settings with it', () => {
    const { reply } = given(...INSTALLED)
      .when(create('second', { settings: settings({ plan: 'fixed_1gb' }) }))
      .then(databaseCreated('second'), settingsSet({ plan: 'fixed_1gb' }, 'second'));
    expect(reply.type === 'OneDatabase' && reply.database.settings?.plan).to.equal('fixed_1gb');
    given(...INSTALLED, ...managed('second', { plan: 'fixed_1gb' }))
      .when(create('second', { settings: settings({ plan: 'fixed_1gb' }) }))
      .then()
      .answers(reply);
  });

  it('allows a name several times in an account; a name means the oldest database with it', () => {
    const { events } = given(...INSTALLED).when(create('second', { name: 'first' }), NOW_MS + 1);
    expect(events).to.have.length(2);
    expect(stateAfter(...INSTALLED, ...events).named(ACCOUNT, 'first')?.id).to.equal(db('first'));
    const without = stateAfter(...INSTALLED, ...events, { type: 'DatabaseDeleted', database: db('first'), atMs });
    expect(without.named(ACCOUNT, 'first')?.id).to.equal(db('second'));
  });

  it('accepts names of 1 to 64 characters of any script, blanks included', () => {
    for (const name of [' x ', 'ü'.repeat(64), '🙂'.repeat(64)]) {
      expect(given(...INSTALLED).when(create('x', { name })).events).to.have.length(2);
    }
    for (const name of ['', 'a\u0000', 'n'.repeat(65), '🙂'.repeat(65), 'n'.repeat(100_000)]) {
      given(...INSTALLED)
        .when(create('x', { name }))
        .refuses('BAD_NAME');
    }
  });

  it('refuses one more than the plan of the account allows, and a second free one', () => {
    const almost = [...INSTALLED, ...many(MAX_PAID - 2)];
    expect(given(...almost).when(create('x')).events).to.have.length(2);
    const oneMore = given(...almost, ...managed('last')).when(create('x'));
    oneMore.refuses('TOO_MANY');
    expect(oneMore.reply).to.include({ message: 'an account on the plan paid has at most 1000 databases' });
    const free = create('x', { settings: settings({ plan: 'free' }) });
    expect(given(...INSTALLED).when(free).events).to.have.length(2);
    given(...INSTALLED, ...many(1, 'free'))
      .when(free)
      .refuses('TOO_MANY');
  });

  it('applies the maximum of the account’s plan, and keeps existing databases on a smaller plan', () => {
    const plans = Object.fromEntries(ACCOUNT_PLAN_NAMES.map((name) => [name, ACCOUNT_PLAN_TERMS[name].maxDatabases]));
    expect(plans).to.deep.equal({
      free: 100,
      paid: 1000,
      msgq_fixed_1m: 2000,
      msgq_fixed_10m: 10_000,
      msgq_fixed_100m: 50_000,
    });
    const planSet = (over: object): ControlEvent => ({
      type: 'AccountPlanSet',
      account: ACCOUNT,
      plan: { ...DEFAULT_ACCOUNT_PLAN, ...over },
      atMs,
    });
    const full = [...INSTALLED, ...many(MAX_PAID - 1)];
    const larger = [...full, planSet({ reserved: 'msgq_fixed_1m' })];
    expect(given(...larger).when(create('x')).events).to.have.length(2);
    const smaller = [...full, planSet({ type: 'free' })];
    given(...smaller)
      .when(create('x'))
      .refuses('TOO_MANY');
    expect(stateAfter(...smaller).databasesOf(ACCOUNT)).to.have.length(MAX_PAID);
  });

  it('lets an operator exceed that maximum', () => {
    const { events } = given(...INSTALLED, ...many(MAX_PAID)).when(createDatabase('x'));
    expect(events).to.have.length(1);
  });

  it('refuses invalid settings', () => {
    const refuses = (over: Parameters<typeof settings>[0]) =>
      given(...INSTALLED)
        .when(create('x', { settings: settings(over) }))
        .refuses('BAD_VALUE');
    refuses({ plan: 'huge' as never });
    refuses({ plan: 'toString' as never });
    refuses({ budgetDollars: -1 });
    refuses({ budgetDollars: MAX_BUDGET_DOLLARS + 1 });
    refuses({ budgetDollars: 1.5 });
    refuses({ primaryRegion: 'us-east-1', readRegions: ['us-east-1'] });
    refuses({ readRegions: ['eu-west-1', 'eu-west-1'] });
    refuses({ readRegions: Array.from({ length: 33 }, (_, i) => `r${i}`) });
    refuses({ region: 'r'.repeat(65) });
    refuses({ plan: 'free', readRegions: ['eu-west-1', 'eu-west-2'] });
    refuses({ plan: 'free', allowedIps: ['10.0.0.1'] });
    refuses({ allowedIps: ['10.0.0.256'] });
    refuses({ allowedIps: Array.from({ length: MAX_ALLOWED_IPS + 1 }, () => '10.0.0.1') });
  });

  it('refuses invalid limits, also the newer ones', () => {
    for (const over of [
      { maxDataBytes: -1 },
      { maxCommandsPerSecond: 1.5 },
      { maxCommandsPerSecond: MAX_COMMANDS_PER_SECOND + 1 },
      { maxBytesPerMonth: Number.MAX_SAFE_INTEGER + 1 },
      { maxConnections: 1_000_001 },
    ]) {
      given(...INSTALLED)
        .when(create('x', { limits: { ...LIMITS, ...over } }))
        .refuses('BAD_LIMITS');
    }
  });

  it('never uses the id of a search index', () => {
    given(...INSTALLED, indexCreated('books'))
      .when(create('books'))
      .refuses('ID_TAKEN');
  });
});

describe('control: the databases of an account', () => {
  it('are listed oldest first with their usage of today, without those of other accounts', () => {
    const { reply } = given(...PEOPLE, ...managed('theirs', {}, OTHER), metered(1, usedBy('a', 3))).when({
      type: 'ListOwnDatabases',
      account: ACCOUNT,
    });
    expect(
      reply.type === 'Databases' && reply.databases.map(({ database, today }) => [database.id, today.commands]),
    ).to.deep.equal([[db('first'), 3]]);
    given(...PEOPLE)
      .when({ type: 'ListOwnDatabases', account: 'ac-nobody' as never })
      .refuses('UNKNOWN_ACCOUNT');
  });

  it('of another account are answered as unknown', () => {
    expect(given(...PEOPLE).when(get('first')).reply.type).to.equal('OneDatabase');
    given(...PEOPLE)
      .when(get('first', OTHER))
      .refuses('UNKNOWN_DATABASE');
    given(...PEOPLE)
      .when(get('nobody'))
      .refuses('UNKNOWN_DATABASE');
    given(...PEOPLE)
      .when(change({ name: 'x' }, 'first', OTHER))
      .refuses('UNKNOWN_DATABASE');
    given(...PEOPLE)
      .when(move('first', TEAM, OTHER))
      .refuses('UNKNOWN_DATABASE');
    given(...PEOPLE, { type: 'DatabaseDeleted', database: db('first'), atMs })
      .when(get('first'))
      .refuses('UNKNOWN_DATABASE');
  });
});

describe('control: changing a database', () => {
  it('renames it, also to a name in use', () => {
    given(...INSTALLED, ...managed('second'))
      .when(change({ name: 'second' }))
      .then({ type: 'DatabaseRenamed', database: db('first'), name: 'second', atMs });
    given(...INSTALLED)
      .when(change({ name: '' }))
      .refuses('BAD_NAME');
  });

  it('changes the named settings and keeps the others', () => {
    given(...INSTALLED, settingsSet({ budgetDollars: 5 }))
      .when(change({ settings: { isEvicting: true } }))
      .then(settingsSet({ budgetDollars: 5, isEvicting: true }));
  });

  it('journals no event without a change', () => {
    const unchanged = change({ name: 'first', settings: { isEvicting: false, readRegions: [] }, limits: LIMITS });
    given(...INSTALLED)
      .when(unchanged)
      .then();
  });

  it('sets the limits of a new plan, and the time', () => {
    const { limits } = DATABASE_PLAN_TERMS.fixed_5gb;
    given(...INSTALLED)
      .when(change({ settings: { plan: 'fixed_5gb' } }))
      .then(settingsSet({ plan: 'fixed_5gb', lastPlanUpgradeAtMs: NOW_MS }), {
        type: 'LimitsUpdated',
        database: db('first'),
        limits: { ...LIMITS, ...limits },
        atMs,
      });
  });

  it('applies explicit limits before those of the plan', () => {
    const { events } = given(...INSTALLED).when(
      change({ settings: { plan: 'fixed_5gb' }, limits: { maxDataBytes: 77 } }),
    );
    const state = stateAfter(...INSTALLED, ...events);
    expect(state.live(db('first'))?.limits.maxDataBytes).to.equal(77);
  });

  it('refuses a second free database, and settings that the free plan does not have', () => {
    given(...INSTALLED, ...many(1, 'free'))
      .when(change({ settings: { plan: 'free' } }))
      .refuses('TOO_MANY');
    given(...INSTALLED, settingsSet({ allowedIps: ['10.0.0.0/8'] }))
      .when(change({ settings: { plan: 'free' } }))
      .refuses('BAD_VALUE');
    given(...INSTALLED)
      .when(change({ limits: { maxCommandBytes: 1 } }))
      .refuses('BAD_LIMITS');
  });

  it('sets, replaces and removes its scrape token; a token opens one database', () => {
    const on = settingsSet({ prometheusToken: secret('scrape') });
    given(...INSTALLED)
      .when(change({ settings: { prometheusToken: secret('scrape') } }))
      .then(on);
    expect(stateAfter(...INSTALLED, on).scrapeTokens.get('hash-scrape')).to.equal(db('first'));
    given(...INSTALLED, on)
      .when(change({ settings: { isEvicting: true } }))
      .then(settingsSet({ prometheusToken: secret('scrape'), isEvicting: true }));
    const { events } = given(...INSTALLED, on)
      .when(change({ settings: { prometheusToken: null } }))
      .then(settingsSet({}));
    expect(stateAfter(...INSTALLED, on, ...events).scrapeTokens.size).to.equal(0);
    given(...INSTALLED, on, ...managed('second'))
      .when(change({ settings: { prometheusToken: secret('scrape') } }, 'second'))
      .refuses('SECRET_TAKEN');
  });

  it('waits for a running backup, except for a suspension', () => {
    const running = [...INSTALLED, backupStarted('b')];
    given(...running)
      .when(change({ settings: { isEvicting: true } }))
      .refuses('CONFLICTS');
    given(...running)
      .when(change({ settings: { isSuspended: true } }))
      .then(settingsSet({ isSuspended: true }));
    expect(given(...running, backupEnded('b')).when(change({ name: 'x' })).events).to.have.length(1);
    expect(given(...running).when(change({ name: 'x' }), NOW_MS + 3_600_000).events).to.have.length(1);
  });
});

describe('control: moving a database', () => {
  it('gives it to a team, with its backups', () => {
    const before = [...PEOPLE, backupStarted('b'), backupEnded('b')];
    const { events } = given(...before)
      .when(move('first'))
      .then({ type: 'DatabaseMoved', database: db('first'), account: TEAM, atMs });
    const state = stateAfter(...before, ...events);
    expect(state.databasesOf(TEAM).map(({ id }) => id)).to.deep.equal([db('first')]);
    expect(state.databasesOf(ACCOUNT)).to.deep.equal([]);
    expect(state.backups.of(db('first')).map(({ account }) => account)).to.deep.equal([TEAM]);
    expect(state.tokens.get(secretsOf('first').standardToken.sha256)?.database).to.equal(db('first'));
  });

  it('refuses an unknown team, the same team, and a full team', () => {
    given(...PEOPLE)
      .when(move('first', OTHER))
      .refuses('UNKNOWN_TEAM');
    given(...PEOPLE)
      .when(move('first', 'ac-nobody' as never))
      .refuses('UNKNOWN_TEAM');
    given(...PEOPLE, { type: 'DatabaseMoved', database: db('first'), account: TEAM, atMs })
      .when(move('first', TEAM, TEAM))
      .refuses('CONFLICTS');
    const full = Array.from({ length: MAX_PAID }, (_, i) => managed(`n${i}`, {}, TEAM)).flat();
    given(...PEOPLE, ...full)
      .when(move('first'))
      .refuses('TOO_MANY');
    given(...PEOPLE, ...managed('free', { plan: 'free' }, TEAM), settingsSet({ plan: 'free' }))
      .when(move('first'))
      .refuses('TOO_MANY');
  });

  it('waits for a running backup', () => {
    given(...PEOPLE, backupStarted('b'))
      .when(move('first'))
      .refuses('CONFLICTS');
  });

  it('does not change the members of the team', () => {
    const state = stateAfter(...PEOPLE, teamSet([['x@y.example', 'owner']]));
    expect(state.people.teamsOf('x@y.example')).to.deep.equal(new Set([TEAM]));
  });
});

describe('control: a deleted database', () => {
  it('loses its settings, its scrape token and its backups', () => {
    const state = stateAfter(
      ...INSTALLED,
      settingsSet({ prometheusToken: secret('scrape'), allowedIps: ['10.0.0.1'] }),
      backupStarted('b'),
      { type: 'DatabaseDeleted', database: db('first'), atMs },
    );
    expect(state.scrapeTokens.size).to.equal(0);
    expect(state.backups.byId.size).to.equal(0);
    expect(state.databases.get(db('first'))).to.not.have.property('settings');
    expect(state.liveCount).to.equal(0);
    expect(state.databasesOf(ACCOUNT)).to.deep.equal([]);
  });
});

describe('plans of databases', () => {
  it('each allow more than the one before, up to a last one', () => {
    for (const plan of DATABASE_PLANS) {
      const seen = new Set<string>();
      for (let at: (typeof DATABASE_PLANS)[number] | undefined = plan; at !== undefined; ) {
        expect(seen.has(at)).to.equal(false);
        seen.add(at);
        const next: (typeof DATABASE_PLANS)[number] | undefined = DATABASE_PLAN_TERMS[at].next;
        if (next !== undefined) {
          const [less, more] = [DATABASE_PLAN_TERMS[at].limits, DATABASE_PLAN_TERMS[next].limits];
          expect(more.maxDataBytes).to.be.greaterThan(less.maxDataBytes);
        }
        at = next;
      }
    }
  });

  it('have valid limits for a database', () => {
    for (const plan of DATABASE_PLANS) {
      const { events } = given(...INSTALLED).when(change({ limits: DATABASE_PLAN_TERMS[plan].limits }));
      expect(events).to.have.length(1);
    }
  });

  it('are found by their names, and by those of older clients', () => {
    expect(databasePlanNamed('fixed_100gb')).to.equal('fixed_100gb');
    expect(databasePlanNamed('paid')).to.equal('fixed_250mb');
    expect(databasePlanNamed('pro')).to.equal('fixed_10gb');
    for (const none of ['', 'huge', 'constructor']) expect(databasePlanNamed(none)).to.equal(undefined);
  });
});

describe('the allowed networks of a database', () => {
  it('are IPv4 addresses and blocks', () => {
    for (const good of ['0.0.0.0/0', '10.1.2.3', '255.255.255.255/32']) expect(isIpv4Block(good), good).to.equal(true);
    for (const bad of ['', '10.1.2', '10.1.2.3/33', '256.1.1.1', '::1', '10.1.2.3/', ' 10.1.2.3', '10.1.2.3\n']) {
      expect(isIpv4Block(bad), bad).to.equal(false);
    }
  });

  it('have no leading zeros, which some programs read as octal', () => {
    for (const bad of ['010.0.0.1', '10.00.0.1', '10.0.0.01', '10.0.0.0/08', '10.0.0.0/00']) {
      expect(isIpv4Block(bad), bad).to.equal(false);
    }
  });
});
