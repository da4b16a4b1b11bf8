/** Proves CP1, CP2, CV1–CV3, OW1–OW3. */
import { expect } from 'chai';
import type { ControlCommand, DatabaseSecrets } from '../../../../src/domain/control/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import { hashSecret } from '../../../../src/protocol/index.js';
import { ACCOUNT_SECRETS_OF, createDatabase, db, LIMITS, lease, session } from '../../../spec/control/given.js';
import { Installation, runReadyTasks } from './installation.js';

const ACCOUNT = 'ac-first' as AccountId;

const realSecrets = (name: string): DatabaseSecrets => ({
  standardToken: { sha256: hashSecret(`${name}-token`), sealed: 'x' },
  readOnlyToken: { sha256: hashSecret(`${name}-ro`), sealed: 'x' },
  password: { sha256: hashSecret(`${name}-password`), sealed: 'x' },
});

const FIRST_START: ControlCommand = {
  type: 'FirstStart',
  account: { id: ACCOUNT, name: 'default', email: 'a@b.example', secrets: ACCOUNT_SECRETS_OF('x') },
  database: {
    id: db('first'),
    name: 'first',
    account: ACCOUNT,
    partitions: 2,
    limits: LIMITS,
    secrets: realSecrets('first'),
  },
};
const RESET: ControlCommand = { type: 'ResetPassword', database: db('first'), secrets: realSecrets('new') };

async function installed(): Promise<Installation> {
  const installation = new Installation();
  await installation.activate();
  await installation.ask(FIRST_START);
  return installation;
}

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof MillraceError ? error.code : String(error);
  }
}

describe('control actor', () => {
  it('answers after the entry is stored, in the order of the commands', async () => {
    const installation = await installed();
    const [created, listed] = await Promise.all([
      installation.ask(createDatabase('second', { secrets: realSecrets('second') })),
      installation.ask({ type: 'ListDatabases' }),
    ]);
    expect(created.type).to.equal('OneDatabase');
    expect(listed.type === 'Databases' && listed.databases.map(({ database }) => database.name)).to.deep.equal([
      'first',
      'second',
    ]);
  });

  it('checks commands of one turn against each other', async () => {
    const installation = await installed();
    const replies = await Promise.all([
      installation.ask(createDatabase('a', { name: 'same', secrets: realSecrets('a') })),
      installation.ask(createDatabase('b', { name: 'same', secrets: realSecrets('b') })),
    ]);
    expect(replies.map(({ type }) => type)).to.deep.equal(['OneDatabase', 'Rejected']);
  });

  it('restores its state after a kill, from the journal and from a snapshot', async () => {
    const installation = await installed();
    await installation.ask(lease('a', 10));
    await installation.ask(createDatabase('gone', { secrets: realSecrets('gone') }));
    await installation.ask({ type: 'DeleteDatabase', database: db('gone') });
    const rows = [{ database: db('first'), commands: 3, writes: 1, errors: 0, bytesIn: 1, bytesOut: 2 }];
    const day = Math.floor(installation.time.nowMs() / 86_400_000);
    const records = [{ position: 1, session: session('a'), number: 1, day, rows }];
    await installation.ask({ type: 'FoldMeter', after: 0, position: 1, records });
    const before = installation.plane.state;
    await installation.activate();
    expect(installation.plane.state).to.deep.equal(before);
    await installation.compact();
    await installation.ask(RESET);
    const after = installation.plane.state;
    await installation.activate();
    expect(installation.plane.state).to.deep.equal(after);
  });
});

describe('control view', () => {
  it('does not answer before it has caught up', async () => {
    const installation = await installed();
    const view = installation.newView('edge');
    expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
    const ready = view.start();
    expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
    await installation.time.advance(200);
    await ready;
    expect(view.grantFor('first-token')).to.deep.equal({
      database: db('first'),
      partitions: ['kv:db-first:0', 'kv:db-first:1'],
      role: 'standard',
      user: 'default',
      permissions: undefined,
      rules: undefined,
      limits: LIMITS,
      networks: undefined,
      isSuspended: undefined,
      isCluster: undefined,
      firstPartition: undefined,
    });
    expect(view.grantFor('first-ro')).to.include({ role: 'read-only', user: 'default_ro' });
    expect(view.grantFor('nonsense')).to.equal(undefined);
    view.stop();
  });

  it('does not answer once the journal was silent for too long, and answers again after a message of it', async () => {
    const installation = await installed();
    const silence: number[] = [];
    const view = installation.newView('edge', (silentForMs) => silence.push(silentForMs));
    void view.start();
    await installation.time.advance(200);
    expect(view.grantFor('first-token')).to.not.equal(undefined);
    const { time } = installation;
    // The process was stopped for a while: no update arrived, and no timer could notice that.
    const monotonicMs = time.monotonicMs.bind(time);
    time.monotonicMs = () => monotonicMs() + 501;
    expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
    let isWaitedFor = true;
    void view.untilFresh(60_000).then(() => {
      isWaitedFor = false;
    });
    await time.advance(100);
    expect(view.grantFor('first-token')).to.not.equal(undefined);
    expect(isWaitedFor).to.equal(false);
    expect(silence).to.have.length(1);
    expect(silence[0]).to.be.above(500);
    view.stop();
  });

  describe('while its stream is silent', () => {
    /** A copy that was up to date, and receives no further messages of its stream. */
    async function cutOff() {
      const installation = await installed();
      const view = installation.newView('edge', undefined, 'is-asked');
      void view.start();
      await installation.time.advance(200);
      installation.silence();
      return { installation, view };
    }

    it('keeps answering when the owner reports that no grant has changed', async () => {
      const { installation, view } = await cutOff();
      for (let second = 0; second < 10; second += 1) {
        await installation.time.advance(1000);
        expect(view.grantFor('first-token')).to.not.equal(undefined);
      }
      // A change that leaves all permissions unchanged is not waited for.
      await installation.ask(lease('a', 10));
      await installation.time.advance(1000);
      expect(view.grantFor('first-token')).to.not.equal(undefined);
      view.stop();
    });

    it('does not answer once the owner has stored a change that it has not received', async () => {
      const { installation, view } = await cutOff();
      const reset = installation.ask(RESET);
      await installation.time.advance(501);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      installation.silence(false);
      await installation.time.advance(1000);
      expect(view.grantFor('first-token')).to.equal(undefined);
      expect(view.grantFor('new-token')).to.not.equal(undefined);
      await reset;
      view.stop();
    });

    it('does not answer once the owner may have been replaced', async () => {
      const { installation, view } = await cutOff();
      installation.holdsLease = false;
      await installation.time.advance(501);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      installation.holdsLease = true;
      await installation.time.advance(300);
      expect(view.grantFor('first-token')).to.not.equal(undefined);
      view.stop();
    });

    it('accepts no report of a new owner before it has received the claim of that owner', async () => {
      const { installation, view } = await cutOff();
      await installation.activate();
      await installation.time.advance(501);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      view.stop();
    });
  });

  describe('control view next to the only possible owner, while its stream is silent', () => {
    async function cutOff() {
      const installation = await installed();
      const silence: number[] = [];
      const view = installation.newView('edge', (silentForMs) => silence.push(silentForMs), 'is-here');
      void view.start();
      await installation.time.advance(200);
      installation.silence();
      return { installation, view, silence };
    }

    it('keeps answering for three seconds while the owner has stored only changes that the view has', async () => {
      const { installation, view, silence } = await cutOff();
      await installation.ask(lease('a', 10));
      await installation.time.advance(2800);
      expect(view.grantFor('first-token')).to.not.equal(undefined);
      await installation.time.advance(201);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      installation.silence(false);
      await installation.time.advance(200);
      expect(view.grantFor('first-token')).to.not.equal(undefined);
      expect(silence).to.have.length(1);
      view.stop();
    });

    it('is up to date again as soon as a message of the journal arrives within that time', async () => {
      const { installation, view, silence } = await cutOff();
      await installation.time.advance(2000);
      installation.silence(false);
      await installation.time.advance(100);
      expect(view.isFresh).to.equal(true);
      expect(silence).to.deep.equal([]);
      view.stop();
    });

    it('does not answer half a second after the owner has stored a change', async () => {
      const { installation, view } = await cutOff();
      const reset = installation.ask(RESET);
      await installation.time.advance(501);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      installation.silence(false);
      await installation.time.advance(1000);
      expect(view.grantFor('first-token')).to.equal(undefined);
      await reset;
      view.stop();
    });

    it('does not answer half a second after the owner has ended', async () => {
      const { installation, view } = await cutOff();
      installation.actor.end(new MillraceError('SHUTTING_DOWN', 'ended by the test'));
      await installation.time.advance(501);
      expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
      view.stop();
    });
  });

  it('has applied all missed changes before it answers again', async () => {
    const installation = await installed();
    const view = installation.newView('edge');
    void view.start();
    await installation.time.advance(200);
    const { time, journal } = installation;
    const monotonicMs = time.monotonicMs.bind(time);
    time.monotonicMs = () => monotonicMs() + 10_000;
    // The end of the journal is unknown here, so the first received message is not the last one.
    const tail = journal.tail.bind(journal);
    const held: (() => void)[] = [];
    journal.tail = (shard) => new Promise((resolve) => held.push(() => resolve(tail(shard))));
    const reset = installation.ask(RESET);
    await runReadyTasks();
    expect(codeOf(() => view.grantFor('first-token'))).to.equal('CONTROL_STALE');
    for (const go of held) go();
    await runReadyTasks();
    expect(view.grantFor('first-token')).to.equal(undefined);
    expect(view.grantFor('new-token')).to.not.equal(undefined);
    await reset;
    view.stop();
  });

  it('starts from a snapshot when the front of the journal was truncated', async () => {
    const installation = await installed();
    await installation.compact();
    await installation.ask(createDatabase('second', { secrets: realSecrets('second') }));
    await installation.journal.truncateFront(installation.actor.shard, 3);
    const view = installation.newView('edge');
    void view.start();
    await installation.time.advance(200);
    expect(view.grantFor('first-token')).to.not.equal(undefined);
    expect(view.grantFor('second-token')).to.not.equal(undefined);
    view.stop();
  });
});

describe('control: a revocation', () => {
  it('is answered when every live edge has it, and no edge accepts the old tokens after that', async () => {
    const installation = await installed();
    const views = [installation.newView('one'), installation.newView('two')];
    for (const view of views) void view.start();
    await installation.time.advance(200);
    for (const view of views) expect(view.grantFor('first-token')).to.not.equal(undefined);
    const before = installation.time.monotonicMs();
    const reply = await installation.ask(RESET);
    expect(reply.type).to.equal('OneDatabase');
    expect(installation.time.monotonicMs()).to.equal(before);
    for (const view of views) {
      expect(view.grantFor('first-token')).to.equal(undefined);
      expect(view.grantFor('first-ro')).to.equal(undefined);
      expect(view.grantFor('new-token')).to.not.equal(undefined);
      view.stop();
    }
  });

  it('waits at most a second for an edge that is silent', async () => {
    const installation = await installed();
    installation.edges.push(session('silent'));
    let isAnswered = false;
    const asked = installation.ask(RESET).then(() => {
      isAnswered = true;
    });
    await installation.time.advance(999);
    expect(isAnswered).to.equal(false);
    await installation.time.advance(1);
    await asked;
    expect(isAnswered).to.equal(true);
  });

  it('keeps looked-up grants when quota is leased', async () => {
    const installation = await installed();
    const view = installation.newView('edge');
    void view.start();
    await installation.time.advance(200);
    const grant = view.grantFor('first-token');
    await installation.ask(lease('a', 10));
    await runReadyTasks();
    expect(view.grantFor('first-token')).to.equal(grant);
    view.stop();
  });
});
