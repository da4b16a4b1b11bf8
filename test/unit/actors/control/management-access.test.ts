/** Access to the management API and to search indexes in the control view of an edge, and when it changes. */
import { expect } from 'chai';
import {
  Accounts,
  type ControlView,
  ControlWork,
  ManagementGrants,
  MeterFolder,
  SearchGrants,
} from '../../../../src/actors/control/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import { encodeMeterRecord } from '../../../../src/codec/control/index.js';
import {
  BUILT_IN_ROLES,
  type ControlCommand,
  DEFAULT_ACCOUNT_LIMITS,
  DEFAULT_SEARCH_LIMITS,
  searchReranks,
  utcDayOf,
} from '../../../../src/domain/control/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import { hashSecret } from '../../../../src/protocol/index.js';
import { ACCOUNT, db, LIMITS, secretsOf, session } from '../../../spec/control/given.js';
import {
  ANNA,
  ac,
  apiKey,
  BERT,
  change,
  keyId,
  NOTE,
  newAccount,
  newIndex,
  settings,
  TEAM,
} from '../../../spec/control/management-given.js';
import { MemoryMeterLog } from '../../../support/memory/index.js';
import { namedSealing } from '../../../support/memory-control.js';
import { silentLog } from '../../../support/silent-log.js';
import { Installation, runReadyTasks } from './installation.js';

const real = (text: string) => ({ sha256: hashSecret(text), sealed: `sealed ${text}` });
const person = (name: string, email: string) => {
  const account = newAccount(ac(name), email);
  return { ...account, secrets: { ...account.secrets, mgmtKey: real(`${name}-key`) } };
};
const key = (name: string, over: Record<string, unknown> = {}): ControlCommand => ({
  type: 'CreateApiKey',
  key: apiKey(name, { sha256: hashSecret(`secret ${name}`), ...over }),
});
const createIndex: ControlCommand = {
  type: 'CreateSearchIndex',
  index: newIndex('books', { tokens: { token: real('full'), readOnlyToken: real('look') } }),
};

describe('management access', () => {
  let installation: Installation;
  let view: ControlView;
  let management: ManagementGrants;
  let search: SearchGrants;

  beforeEach(async () => {
    installation = new Installation();
    await installation.activate();
    await installation.ask({ type: 'CreateAccount', account: person('first', 'Anna@B.example') });
    await installation.ask({ type: 'CreateAccount', account: person('other', BERT) });
    view = installation.newView('edge');
    await view.start();
    management = new ManagementGrants(view);
    search = new SearchGrants(view);
  });

  afterEach(() => view.stop());

  const ask = async (command: ControlCommand) => {
    const reply = await installation.ask(command);
    expect(reply.type, JSON.stringify(reply)).to.not.equal('Rejected');
    return reply;
  };
  const team = async () => {
    await ask({ type: 'CreateTeam', account: newAccount(TEAM, BERT), copiesCard: false });
    await ask({ type: 'AddMember', team: TEAM, member: { email: 'anna@b.example', role: 'finance' } });
  };

  const shown = (email: string, secret: string) => {
    const grant = management.grantForKey(email, secret);
    return { ...grant, rights: grant?.rights.whole() };
  };

  it('is granted to a person by a key of the own account; the case of the e-mail does not matter', () => {
    const expected = {
      rights: [...BUILT_IN_ROLES.owner],
      email: 'anna@b.example',
      account: ACCOUNT,
      isTeam: false,
      role: 'owner',
      isReadOnly: false,
      keyName: 'default',
    };
    expect(shown('anna@b.example', 'first-key')).to.deep.equal(expected);
    expect(shown('ANNA@b.example', 'first-key')).to.deep.equal(expected);
  });

  it('is not granted with a key of another person, an unknown key, or no key', () => {
    for (const [email, secret] of [
      [BERT, 'first-key'],
      ['anna@b.example', 'other-key'],
      ['anna@b.example', 'first-ke'],
      ['anna@b.example', ''],
      ['', ''],
      ['', 'first-key'],
      ['x@y.example', 'nothing'],
    ] as const) {
      expect(management.grantForKey(email, secret), `${email} ${secret}`).to.equal(undefined);
    }
  });

  it('acts for the account that the key was made for, with the role of its person, until the membership or the key ends', async () => {
    await team();
    await ask(key('books', { email: 'anna@b.example', account: TEAM, isReadOnly: true }));
    // The answer arrives after the edge has received the change.
    expect(shown('anna@b.example', 'secret books')).to.deep.equal({
      rights: [...BUILT_IN_ROLES.finance],
      email: 'anna@b.example',
      account: TEAM,
      isTeam: true,
      role: 'finance',
      isReadOnly: true,
      keyName: 'books',
    });
    await ask({ type: 'RemoveMember', team: TEAM, email: 'anna@b.example' });
    expect(management.grantForKey('anna@b.example', 'secret books')).to.equal(undefined);
    await ask(key('own', { email: BERT, account: TEAM }));
    expect(management.grantForKey(BERT, 'secret own')?.role).to.equal('owner');
    await ask({ type: 'DeleteApiKey', email: BERT, id: keyId('own') });
    expect(management.grantForKey(BERT, 'secret own')).to.equal(undefined);
  });

  it('is not granted by the key that a team is created with, which is never shown', async () => {
    const account = { ...newAccount(TEAM, BERT), secrets: person('team', BERT).secrets };
    await ask({ type: 'CreateTeam', account, copiesCard: false });
    expect(management.grantForKey(BERT, 'team-key')).to.equal(undefined);
  });

  it('ends with the team', async () => {
    await team();
    await ask(key('own', { email: BERT, account: TEAM }));
    await ask({ type: 'DeleteTeam', team: TEAM });
    expect(management.grantForKey(BERT, 'secret own')).to.equal(undefined);
  });

  it('is refused while the copy of the control state may be stale', () => {
    view.stop();
    for (const look of [() => management.grantForKey('', ''), () => search.grantForSearch(db('books'), 'full')]) {
      expect(look)
        .to.throw()
        .and.satisfy((error: unknown) => isMillraceError(error, 'CONTROL_STALE'));
    }
  });

  it('opens a search index with its two tokens, each with its role, as soon as it is created', async () => {
    await ask(createIndex);
    const grant = { index: db('books'), account: ACCOUNT, limits: DEFAULT_SEARCH_LIMITS.payg, vectors: undefined };
    expect(search.grantForSearch(db('books'), 'full')).to.deep.equal({ ...grant, role: 'standard' });
    expect(search.grantForSearch(db('books'), 'look')).to.deep.equal({ ...grant, role: 'read-only' });
    expect(search.grantForSearch(db('books'), 'other')).to.equal(undefined);
    expect(search.grantForSearch(db('more'), 'full')).to.equal(undefined);
    expect([...search.searchIndexes()].map(({ name }) => name)).to.deep.equal(['books']);
  });

  it('reports changes of search indexes, and opens no deleted one', async () => {
    let changes = 0;
    search.whenSearchIndexesChange(() => {
      changes += 1;
    });
    await ask(createIndex);
    expect(changes).to.equal(1);
    const index = db('books');
    await ask({ type: 'ChangeSearchIndex', account: ACCOUNT, index, limits: { maxDailyQueries: 7 } });
    expect(search.grantForSearch(index, 'full')?.limits.maxDailyQueries).to.equal(7);
    await ask({ type: 'DeleteSearchIndex', account: ACCOUNT, index });
    expect(search.grantForSearch(index, 'full')).to.equal(undefined);
    expect([...search.searchIndexes()]).to.deep.equal([]);
    expect(changes).to.equal(3);
  });

  it('includes a new database, and a suspended one as such, by the time of the answer', async () => {
    const secrets = { ...secretsOf('shop'), standardToken: real('shop-token') };
    await ask({
      type: 'CreateDatabase',
      database: {
        id: db('shop'),
        name: 'shop',
        account: ACCOUNT,
        partitions: 1,
        limits: LIMITS,
        secrets,
        settings: settings(),
      },
    });
    expect(view.grantFor('shop-token')?.database).to.equal(db('shop'));
    await ask(change({ settings: { isSuspended: true } }, 'shop'));
    expect(view.grantFor('shop-token')?.isSuspended).to.equal(true);
  });

  it('stops the queue of a deleted team', async () => {
    await team();
    const sealing = namedSealing();
    const ports = { view, client: installation.client, random: new NodeRandom(), sealing: () => sealing };
    const accounts = new Accounts(ports, { centsPer100kMessages: 1 });
    expect(accounts.termsOf(TEAM)?.state).to.equal('active');
    await ask({ type: 'DeleteTeam', team: TEAM });
    expect(accounts.termsOf(TEAM)).to.deep.include({ state: 'passive', limits: DEFAULT_ACCOUNT_LIMITS });
    expect(accounts.termsOf(ac('nobody'))).to.equal(undefined);
  });

  it('keeps the audit log at its owner, through a snapshot, and in no copy', async () => {
    await ask({ type: 'Audited', account: ACCOUNT, note: NOTE, command: createIndex as never });
    await installation.compact();
    await installation.activate();
    const reply = await installation.ask({ type: 'ListAudit', account: ACCOUNT, count: 10 });
    expect(reply.type === 'AuditEntries' && reply.entries.map(({ actor }) => actor)).to.deep.equal([ANNA]);
    await runReadyTasks();
    expect(view.state.audit.size).to.equal(0);
  });

  it('counts the monthly use of search indexes', async () => {
    await ask(createIndex);
    const meterLog = new MemoryMeterLog(installation.journal);
    const day = utcDayOf(installation.time.nowMs());
    const work = { micros: 1, latencies: [] };
    const used = { index: db('books'), queries: 2, updates: 3, reranks: 4, bytesIn: 5, bytesOut: 6 };
    await meterLog.append(
      encodeMeterRecord({
        session: session('a'),
        number: 1,
        day,
        atMs: 1,
        connections: 0,
        rows: [],
        searches: [{ ...used, query: work, update: work, embedding: work, rerank: work }],
      }),
    );
    const { client, time: timers } = installation;
    const folder = new MeterFolder({ meterLog, timers, log: silentLog, client });
    folder.start(0);
    await timers.advance(1);
    await folder.fold();
    folder.stop();
    const { state } = installation.plane;
    const nowMs = installation.time.nowMs();
    expect(state.bytesThisMonth(db('books'), nowMs)).to.equal(11);
    expect(state.commandsThisMonth(db('books'), nowMs)).to.equal(5);
    expect(state.commandsThisMonth(searchReranks(db('books')), nowMs)).to.equal(4);
  });
});

describe('a command on its way to the control actor', () => {
  const work = (command: ControlCommand) =>
    new ControlWork(
      command,
      () => undefined,
      () => undefined,
    );

  it('waits in the mailbox under its own account', () => {
    expect(work({ type: 'GetAccount', account: TEAM }).tenant).to.equal(TEAM);
    expect(work({ type: 'ListDatabases' }).tenant).to.equal('control');
    expect(work({ type: 'CreateAccount', account: newAccount(TEAM, BERT) }).tenant).to.equal('control');
  });

  it('counts the size of its lists in the mailbox', () => {
    const plain = work({ type: 'ListDatabases' }).bytes;
    const allowedIps = ['10.0.0.1', '10.0.0.2'];
    const lists: ControlCommand[] = [
      change({ settings: { allowedIps } }),
      {
        type: 'EndBackup',
        backup: 'bk-x' as never,
        state: 'completed',
        bytes: 1,
        manifests: ['a', 'b'],
        reason: '',
      },
    ];
    for (const command of lists) {
      expect(work(command).bytes).to.equal(plain + 128);
      const audited: ControlCommand = { type: 'Audited', account: TEAM, note: NOTE, command: command as never };
      expect(work(audited).bytes).to.equal(2 * plain + 128);
    }
  });
});
