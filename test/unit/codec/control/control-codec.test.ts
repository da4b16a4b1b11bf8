/** Recorded bytes decode in every release: the files in test/fixtures/journals are added to, never edited. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeControlApplied,
  decodeControlCommand,
  decodeControlEvents,
  decodeControlReply,
  encodeControlApplied,
  encodeControlCommand,
  encodeControlEvent,
  encodeControlReply,
} from '../../../../src/codec/control/index.js';
import {
  type ControlCommand,
  type ControlReply,
  type Database,
  DEFAULT_ACCOUNT_LIMITS,
} from '../../../../src/domain/control/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import {
  ACCOUNT_SECRETS_OF,
  createDatabase,
  db,
  LIMITS,
  lease,
  secret,
  secretsOf,
  session,
} from '../../../spec/control/given.js';
import { repetitions } from '../../../support/depth.js';
import {
  GOLDEN_BRANCH,
  GOLDEN_CLUSTER_DATABASE,
  GOLDEN_EVENTS,
  GOLDEN_LATER_LIMITS,
  GOLDEN_SWITCHED,
  GOLDEN_VECTOR_INDEX,
} from './golden-values.js';

const fixture = (name: string) =>
  JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/journals/${name}.json`, 'utf8')) as Record<string, string>;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('control events', () => {
  const golden = fixture('control-events');

  for (const [type, event] of Object.entries(GOLDEN_EVENTS)) {
    it(`keep the bytes of ${type}`, () => {
      expect(hex(encodeControlEvent(event))).to.equal(golden[type]);
      expect([...decodeControlEvents(Buffer.from(golden[type] as string, 'hex'))]).to.deep.equal([event]);
    });
  }

  it('keep the bytes of newer limits, and of events without them', () => {
    expect(hex(encodeControlEvent(GOLDEN_LATER_LIMITS))).to.equal(golden['LimitsUpdated later']);
    expect([...decodeControlEvents(Buffer.from(golden['LimitsUpdated later'] as string, 'hex'))]).to.deep.equal([
      GOLDEN_LATER_LIMITS,
    ]);
  });

  it('keep the bytes of a database in cluster mode', () => {
    const bytes = golden['DatabaseCreated later'] as string;
    expect(hex(encodeControlEvent(GOLDEN_CLUSTER_DATABASE))).to.equal(bytes);
    expect([...decodeControlEvents(Buffer.from(bytes, 'hex'))]).to.deep.equal([GOLDEN_CLUSTER_DATABASE]);
  });

  it('keep the bytes of a branch', () => {
    const bytes = golden['DatabaseCreated branch'] as string;
    expect(hex(encodeControlEvent(GOLDEN_BRANCH))).to.equal(bytes);
    expect([...decodeControlEvents(Buffer.from(bytes, 'hex'))]).to.deep.equal([GOLDEN_BRANCH]);
  });

  for (const [name, event] of Object.entries({ ...GOLDEN_VECTOR_INDEX, ...GOLDEN_SWITCHED })) {
    it(`keep the bytes of ${name}`, () => {
      expect(hex(encodeControlEvent(event))).to.equal(golden[name]);
      expect([...decodeControlEvents(Buffer.from(golden[name] as string, 'hex'))]).to.deep.equal([event]);
    });
  }

  it('follow each other in a section', () => {
    const all = Object.values(GOLDEN_EVENTS);
    const section = Buffer.concat(all.map(encodeControlEvent));
    expect([...decodeControlEvents(section)]).to.deep.equal(all);
  });

  it('of a newer version or type are refused with both numbers', () => {
    const refusal = (bytes: readonly number[]) => {
      try {
        return [...decodeControlEvents(Buffer.from(bytes))];
      } catch (error) {
        return error;
      }
    };
    const version = refusal([0x92, 2, 0xc0]);
    expect(version).to.be.instanceOf(MillraceError).with.property('code', 'NEWER_FORMAT');
    expect(String(version)).to.match(
      /a control event was written by a newer release \(version 2, this program reads up to 1\): install/,
    );
    expect(String(refusal([0x92, 1, 0x92, 99, 0x90]))).to.match(
      /newer release \(kind 99, this program reads up to \d+\): install/,
    );
  });

  it('that are damaged are refused', () => {
    const bytes = Buffer.from(golden.PasswordReset as string, 'hex');
    const refuses = (damaged: Uint8Array) =>
      expect(() => [...decodeControlEvents(damaged)])
        .to.throw(MillraceError)
        .with.property('code', 'JOURNAL_DAMAGED');
    refuses(bytes.subarray(0, -3));
    refuses(Buffer.concat([bytes, Buffer.from([0x92, 2])]));
    refuses(Buffer.from([0x92, 0, 0xc0]));
    refuses(Buffer.from([0x92, 1, 0x92, 6, 0x90]));
  });

  it('of any bytes are read or refused, without another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          for (const _ of decodeControlEvents(bytes));
        } catch (error) {
          expect(error).to.be.instanceOf(MillraceError);
        }
      }),
      { numRuns: repetitions(500) },
    );
  });
});

describe('control commands and answers', () => {
  const account = 'ac-x' as AccountId;
  const newDatabase = (createDatabase('x') as Extract<ControlCommand, { type: 'CreateDatabase' }>).database;
  const database: Database = {
    id: db('x'),
    name: 'x',
    account,
    partitions: 3,
    limits: LIMITS,
    secrets: undefined,
    createdAtMs: 1,
    deletedAtMs: 2,
  };
  const usage = { commands: 1, writes: 2, errors: 3, bytesIn: 4, bytesOut: 5 };
  const id = { session: session('a'), database: db('x'), day: 3 };

  it('cross the bus unchanged', () => {
    const newAccount = {
      id: account,
      name: 'n',
      email: 'e',
      secrets: ACCOUNT_SECRETS_OF('x'),
      readOnlyToken: secret('ro'),
      limits: DEFAULT_ACCOUNT_LIMITS,
    };
    const commands: ControlCommand[] = [
      { type: 'FirstStart', account: newAccount, database: newDatabase },
      { type: 'CreateDatabase', database: newDatabase },
      { type: 'ResetPassword', database: db('x'), secrets: secretsOf('x') },
      { type: 'UpdateLimits', database: db('x'), maxCommandBytes: undefined, maxRequestsPerDay: 0 },
      { type: 'DeleteDatabase', database: db('x') },
      { type: 'CreateAccount', account: newAccount },
      { type: 'SetAccountLimits', account, limits: { maxRetries: 0 } },
      { type: 'SetAccountState', account, state: 'passive' },
      {
        type: 'ResetQueueTokens',
        account,
        tokens: { queueToken: secret('1'), readOnlyToken: secret('2') },
      },
      { type: 'RotateSigningKeys', account, next: secret('n') },
      { type: 'ListAccounts' },
      { type: 'ListDatabases' },
      {
        type: 'SetUser',
        database: db('x'),
        seenRevision: 0,
        name: 'alice',
        rules: 'on\n+get',
        passwords: ['a'],
        salt: 's',
      },
      { type: 'DeleteUser', database: db('x'), name: 'alice' },
      { type: 'IssueUserToken', token: { database: db('x'), user: 'alice', password: 'p', sha256: 't' } },
      lease('a', 10),
      { type: 'ReturnQuota', ...id, known: 5, unused: 2 },
      { type: 'EndSession', session: session('a') },
      {
        type: 'FoldMeter',
        after: 1,
        position: 2,
        records: [{ position: 2, session: session('a'), number: 1, day: 3, rows: [{ database: db('x'), ...usage }] }],
      },
    ];
    for (const command of commands) {
      expect(decodeControlCommand(encodeControlCommand(command))).to.deep.equal(command);
    }
    const createdAccount = { ...newAccount, createdAtMs: 5, state: 'active' as const };
    const replies: ControlReply[] = [
      { type: 'OneAccount', account: createdAccount },
      { type: 'Accounts', accounts: [createdAccount] },
      { type: 'Rejected', reason: 'NAME_TAKEN', message: 'm' },
      {
        type: 'FirstStarted',
        isNew: true,
        account: createdAccount,
        database: { ...database, secrets: secretsOf('x') },
      },
      { type: 'OneDatabase', database },
      { type: 'Databases', databases: [{ database, today: usage }] },
      { type: 'QuotaLeased', granted: 1 },
      { type: 'QuotaReturned', reserved: 1 },
      { type: 'SessionIsOver' },
      { type: 'MeterIsFolded', position: 9 },
      { type: 'UserIs', isSet: false, user: undefined },
      { type: 'UserIs', isSet: true, user: { name: 'a', rules: 'on', passwords: [], salt: 's', revision: 1 } },
      { type: 'UserIsGone', wasThere: true },
      { type: 'UserTokenIsIssued' },
    ];
    for (const reply of replies) expect(decodeControlReply(encodeControlReply(reply))).to.deep.equal(reply);
  });

  it('of another release are refused as such', () => {
    const bytes = Buffer.from(encodeControlCommand({ type: 'ListDatabases' }));
    bytes[1] = 2;
    expect(() => decodeControlCommand(bytes))
      .to.throw(MillraceError)
      .with.property('code', 'INVALID');
  });

  it('ignore notices of another release', () => {
    const applied = { session: session('a'), position: 7 };
    expect(decodeControlApplied(encodeControlApplied(applied))).to.deep.equal(applied);
    for (const bytes of [[], [0x91, 2], [0x93, 1, 1, 1]]) {
      expect(decodeControlApplied(Uint8Array.from(bytes))).to.equal(undefined);
    }
  });
});
