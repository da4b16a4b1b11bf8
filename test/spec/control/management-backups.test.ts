import { expect } from 'chai';
import {
  BACKUP_TIMEOUT_MS,
  type ControlCommand,
  MAX_BACKUP_TEXT,
  MAX_DATABASE_BACKUPS,
} from '../../../src/domain/control/index.js';
import { ACCOUNT, db, given, NOW_MS, stateAfter } from './given.js';
import { atMs, backupEnded, backupStarted, bk, managed, OTHER, PEOPLE } from './management-given.js';

const start = (name: string, over: Record<string, unknown> = {}): ControlCommand =>
  ({
    type: 'StartBackup',
    account: ACCOUNT,
    database: db('first'),
    backup: bk(name),
    name,
    isDaily: false,
    ...over,
  }) as ControlCommand;
const end = (name: string, over: Record<string, unknown> = {}): ControlCommand =>
  ({
    type: 'EndBackup',
    backup: bk(name),
    state: 'completed',
    bytes: 7,
    manifests: ['m'],
    reason: '',
    ...over,
  }) as ControlCommand;
const remove = (name: string, over: Record<string, unknown> = {}): ControlCommand =>
  ({ type: 'DeleteBackup', account: ACCOUNT, database: db('first'), backup: bk(name), ...over }) as ControlCommand;
const list = (account = ACCOUNT): ControlCommand => ({ type: 'ListBackups', account, database: db('first') });
const get = (name: string, account = ACCOUNT): ControlCommand => ({ type: 'GetBackup', account, backup: bk(name) });

describe('control: backups', () => {
  it('start as pending, once each, and end once', () => {
    const { reply } = given(...PEOPLE)
      .when(start('b'))
      .then(backupStarted('b'));
    expect(reply.type === 'OneBackup' && reply.backup).to.include({ state: 'pending', bytes: 0 });
    given(...PEOPLE, backupStarted('b'))
      .when(start('b'))
      .then()
      .answers(reply);
    given(...PEOPLE, backupStarted('b'))
      .when(end('b'))
      .then(backupEnded('b'));
    const again = given(...PEOPLE, backupStarted('b'), backupEnded('b'))
      .when(end('b', { state: 'failed', manifests: [], reason: 'late' }))
      .then();
    expect(again.reply.type === 'OneBackup' && again.reply.backup.state).to.equal('completed');
  });

  it('that failed store a short reason', () => {
    const { events } = given(...PEOPLE, backupStarted('b')).when(
      end('b', { state: 'failed', bytes: 0, manifests: [], reason: 'x'.repeat(5000) }),
    );
    const backup = stateAfter(...PEOPLE, backupStarted('b'), ...events).backups.byId.get(bk('b'));
    expect(backup).to.include({ state: 'failed' });
    expect(backup?.reason).to.have.length(MAX_BACKUP_TEXT);
  });

  it('are completed only with all their parts, and failed only without parts', () => {
    for (const over of [
      { manifests: [] },
      { manifests: ['m', 'n'] },
      { manifests: ['m'.repeat(MAX_BACKUP_TEXT + 1)] },
      { state: 'failed' },
      { bytes: -1 },
    ]) {
      given(...PEOPLE, backupStarted('b'))
        .when(end('b', over))
        .refuses('BAD_VALUE');
    }
  });

  it('of one database run one after the other, and of two databases in parallel', () => {
    given(...PEOPLE, backupStarted('b'))
      .when(start('c'))
      .refuses('CONFLICTS');
    expect(given(...PEOPLE, backupStarted('b'), backupEnded('b')).when(start('c')).events).to.have.length(1);
    const { events } = given(...PEOPLE, ...managed('second'), backupStarted('b')).when(
      start('c', { database: db('second') }),
    );
    expect(events).to.have.length(1);
  });

  it('without an end are over after the timeout', () => {
    given(...PEOPLE, backupStarted('b'))
      .when(start('c'), NOW_MS + BACKUP_TIMEOUT_MS - 1)
      .refuses('CONFLICTS');
    const { events } = given(...PEOPLE, backupStarted('b')).when(remove('b'), NOW_MS + BACKUP_TIMEOUT_MS);
    expect(events).to.have.length(1);
  });

  it('are limited in number', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => [backupStarted(`b${i}`), backupEnded(`b${i}`)]).flat();
    expect(given(...PEOPLE, ...many(MAX_DATABASE_BACKUPS - 1)).when(start('x')).events).to.have.length(1);
    given(...PEOPLE, ...many(MAX_DATABASE_BACKUPS))
      .when(start('x'))
      .refuses('TOO_MANY');
  });

  it('are refused with invalid names, ids in use and foreign databases', () => {
    given(...PEOPLE)
      .when(start('b', { name: '' }))
      .refuses('BAD_NAME');
    given(...PEOPLE, ...managed('second'), backupStarted('b', 'second'))
      .when(start('b'))
      .refuses('ID_TAKEN');
    for (const command of [start('b', { account: OTHER }), list(OTHER), remove('b', { account: OTHER })]) {
      given(...PEOPLE, backupStarted('b'))
        .when(command)
        .refuses('UNKNOWN_DATABASE');
    }
    for (const command of [end('x'), remove('x'), get('x'), get('b', OTHER)]) {
      given(...PEOPLE, backupStarted('b'), backupEnded('b'))
        .when(command)
        .refuses('UNKNOWN_BACKUP');
    }
    given(...PEOPLE, ...managed('second'), backupStarted('b', 'second'))
      .when(remove('b'))
      .refuses('UNKNOWN_BACKUP');
  });

  it('are deleted when they are not running, and the answer has their record', () => {
    given(...PEOPLE, backupStarted('b'))
      .when(remove('b'))
      .refuses('CONFLICTS');
    const { reply } = given(...PEOPLE, backupStarted('b'), backupEnded('b'))
      .when(remove('b'))
      .then({ type: 'BackupDeleted', backup: bk('b'), atMs });
    expect(reply.type === 'OneBackup' && reply.backup.manifests).to.deep.equal(['m']);
  });

  it('are listed newest first, and found by their id in the account', () => {
    const two = [...PEOPLE, backupStarted('b'), backupEnded('b'), backupStarted('c', 'first', NOW_MS + 1)];
    const { reply } = given(...two).when(list());
    expect(reply.type === 'Backups' && reply.backups.map(({ name }) => name)).to.deep.equal(['c', 'b']);
    expect(given(...two).when(get('b')).reply.type).to.equal('OneBackup');
  });
});
