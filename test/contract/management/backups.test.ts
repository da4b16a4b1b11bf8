/**
 * Backups by the management API: they are listed immediately, made later, and restored in place of a database's data.
 */
import { expect } from 'chai';
import { MillraceError } from '../../../src/kernel/index.js';
import { backupIdOfUuid, databaseIdOfUuid } from '../../../src/protocol/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

interface ShownBackup {
  readonly backup_id: string;
  readonly state: string;
}

describe('management API: backups of databases', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());
  let database: string;

  beforeEach(async () => {
    database = await face.newDatabase();
  });

  const listed = async (id = database) => (await face.ok('GET', `/v2/kv/list-backup/${id}`)).json as ShownBackup[];

  async function ended(state: 'completed' | 'failed', manifests: readonly string[] = []): Promise<string> {
    await face.ok('POST', `/v2/kv/create-backup/${database}`, { body: { name: 'nightly' } });
    const { backup } = face.backups.started.at(-1) as { backup: ReturnType<typeof backupIdOfUuid> };
    const reason = state === 'failed' ? 'no room' : '';
    await face.control.send({ type: 'EndBackup', backup: backup as never, state, bytes: 1234, manifests, reason });
    return (await listed())[0]?.backup_id as string;
  }

  it('POST create-backup lists the backup as pending, and starts it', async () => {
    const { text } = await face.ok('POST', `/v2/kv/create-backup/${database}`, { body: { name: 'before the move' } });
    expect(text).to.equal('"OK"');
    const [backup] = await listed();
    expect(backup).to.include({
      name: 'before the move',
      state: 'pending',
      backup_size: 0,
      database_id: database,
      customer_id: 'owner@example.com',
      daily_backup: 'false',
      hourly_backup: 'false',
      internal_backup_tag: '',
    });
    expect(face.backups.started).to.deep.equal([
      { database: databaseIdOfUuid(database), backup: backupIdOfUuid(backup?.backup_id as string) },
    ]);
  });

  it('GET list-backup shows the end of a backup', async () => {
    await ended('completed', ['m1']);
    expect((await listed())[0]).to.include({ state: 'completed', backup_size: 1234 });
  });

  it('POST restore-backup restores into the same or another database of the account', async () => {
    const backup_id = await ended('completed', ['m1']);
    const other = await face.newDatabase({ database_name: 'other' });
    for (const target of [database, other]) {
      await face.ok('POST', `/v2/kv/restore-backup/${target}`, { body: { backup_id } });
    }
    expect(face.backups.restored).to.deep.equal([
      { database: databaseIdOfUuid(database), manifests: ['m1'] },
      { database: databaseIdOfUuid(other), manifests: ['m1'] },
    ]);
  });

  it('POST restore-backup refuses a failed backup', async () => {
    const backup_id = await ended('failed');
    const answer = await face.call('POST', `/v2/kv/restore-backup/${database}`, { body: { backup_id } });
    expect([answer.status, answer.json]).to.deep.equal([400, { error: 'backup_id: the backup is failed' }]);
    expect(face.backups.restored).to.deep.equal([]);
  });

  it('POST restore-backup answers 400 when the restore fails', async () => {
    const backup_id = await ended('completed', ['m1']);
    face.backups.failure = new MillraceError('CONFLICT', 'three partitions do not fit one');
    const { status } = await face.call('POST', `/v2/kv/restore-backup/${database}`, { body: { backup_id } });
    expect(status).to.equal(400);
  });

  it('other changes and another backup are refused while one is pending', async () => {
    await face.ok('POST', `/v2/kv/create-backup/${database}`, { body: { name: 'first' } });
    for (const [method, path, body] of [
      ['POST', `/v2/kv/create-backup/${database}`, { name: 'second' }],
      ['POST', `/v2/kv/rename/${database}`, { name: 'renamed' }],
      ['POST', `/v2/kv/${database}/change-plan`, { plan_name: 'fixed_1gb' }],
      ['POST', `/v2/kv/update-regions/${database}`, { read_regions: ['us-west-1'] }],
    ] as const) {
      const { status, json } = await face.call(method, path, { body });
      expect(status, path).to.equal(400);
      expect((json as { error: string }).error, path).to.include('under way');
    }
  });

  it('PATCH and POST enable-dailybackup and disable-dailybackup are accepted while one is pending', async () => {
    await face.ok('POST', `/v2/kv/create-backup/${database}`, { body: { name: 'first' } });
    for (const [method, verb, isEnabled] of [
      ['PATCH', 'enable', true],
      ['PATCH', 'disable', false],
      ['POST', 'enable', true],
    ] as const) {
      await face.ok(method, `/v2/kv/${verb}-dailybackup/${database}`);
      const { json } = await face.ok('GET', `/v2/kv/database/${database}`);
      expect(json).to.have.property('daily_backup_enabled', isEnabled);
    }
    expect((await listed())[0]).to.include({ state: 'pending' });
  });

  it('DELETE delete-backup removes a backup with its objects', async () => {
    const id = await ended('completed', ['m1']);
    await face.ok('DELETE', `/v2/kv/delete-backup/${database}/${id}`);
    expect(await listed()).to.deep.equal([]);
    expect(face.backups.deleted).to.deep.equal(['m1']);
    expect((await face.call('DELETE', `/v2/kv/delete-backup/${database}/${id}`)).status).to.equal(404);
  });

  it('a backup is accessible through its own database and account only', async () => {
    const backup_id = await ended('completed', ['m1']);
    const other = await face.newDatabase({ database_name: 'other' });
    expect((await face.call('DELETE', `/v2/kv/delete-backup/${other}/${backup_id}`)).status).to.equal(404);
    const { caller: stranger } = await face.newPerson('stranger@example.com');
    const theirs = await face.newDatabase({}, stranger);
    const body = { backup_id };
    expect((await face.call('POST', `/v2/kv/restore-backup/${theirs}`, { as: stranger, body })).status).to.equal(404);
    expect(face.backups.deleted).to.deep.equal([]);
  });

  it('POST create-backup answers 503 when the server makes no backups', async () => {
    const without = await new ManagementHarness({ backups: undefined }).start();
    try {
      const id = await without.newDatabase();
      const answer = await without.call('POST', `/v2/kv/create-backup/${id}`, { body: { name: 'a' } });
      expect(answer.status).to.equal(503);
      expect(answer.json).to.deep.equal({ error: 'backups are not available on this server' });
      expect((await without.ok('GET', `/v2/kv/list-backup/${id}`)).json).to.deep.equal([]);
    } finally {
      await without.stop();
    }
  });
});
