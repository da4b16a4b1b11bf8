/** A backup as a file: its contents and its end. */
import { expect } from 'chai';
import { ADMIN_DOWNLOADS, DOWNLOAD_STALL_MS } from '../../../src/edge/admin/admin-limits.js';
import type { BackupId } from '../../../src/kernel/index.js';
import { uuidOf } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { standOfEachTest } from '../../support/stand-hooks.js';
import { AdminStand } from './admin-stand.js';
import type { ReadStream } from './read-stream.js';

const PIECE = 'x'.repeat(1024 * 1024);

describe('GET /v2/admin/databases/:id/backups/:id as a file', () => {
  const stand = standOfEachTest(() => new AdminStand().start());
  let database: string;
  let backup: string;

  beforeEach(async () => {
    database = await stand.newDatabase({ database_name: 'kept' });
    await stand.call('POST', `/v2/kv/create-backup/${database}`, { as: stand.owner, body: { name: 'a moment' } });
    backup = uuidOf(stand.backups.started[0]?.backup as BackupId);
  });

  const path = (of = backup, where = database) => `/v2/admin/databases/${where}/backup?backup_id=${of}`;
  const completed = () =>
    stand.control.send({
      type: 'EndBackup',
      backup: stand.backups.started[0]?.backup as BackupId,
      state: 'completed',
      bytes: 3,
      manifests: ['backup/a/0/manifest'],
      reason: '',
    });

  it('contains the commands of the backup in order', async () => {
    await completed();
    stand.backups.pieces = ['*1\r\n$4\r\nPING\r\n', '*2\r\n$4\r\nECHO\r\n$1\r\n\u00ff\r\n'];
    const stream = await stand.open(path());
    await eventually(() => expect(stream.isEnded).to.equal(true));
    expect(stream.response.statusCode).to.equal(200);
    expect(stream.response.headers).to.include({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${backup}.aof"`,
      'cache-control': 'no-store',
    });
    expect(stream.text).to.match(/^\*1\r\n\$4\r\nPING\r\n\*2\r\n\$4\r\nECHO/);
    expect(stream.response.complete).to.equal(true);
  });

  it('is refused when the backup is unknown or pending, and without the right to see data', async () => {
    const other = await stand.newDatabase({ database_name: 'other' });
    const refused = async (at: string) => {
      const { status, json } = await stand.call('GET', at, { as: stand.owner });
      return [status, (json as { error: string }).error];
    };
    expect(await refused(path())).to.deep.equal([400, 'backup_id: the backup is pending']);
    await completed();
    expect(await refused(path('nonsense'))).to.deep.equal([404, 'backup not found']);
    expect(await refused(path(backup, other))).to.deep.equal([404, 'backup not found']);
    expect(await refused(path(backup, 'nonsense'))).to.deep.equal([404, 'database not found']);
    const anonymous = await stand.call('GET', path(), { as: null });
    expect(anonymous.status).to.equal(401);
  });

  it(`serves ${ADMIN_DOWNLOADS.ofAccount} downloads of an account in parallel, and answers 503 to another`, async () => {
    await completed();
    let open: (piece: string) => void = () => {};
    stand.backups.pieces = [
      'begun',
      new Promise<string>((resolve) => {
        open = resolve;
      }),
    ];
    const streams: ReadStream[] = [];
    for (let at = 0; at < ADMIN_DOWNLOADS.ofAccount; at += 1) streams.push(await stand.open(path()));
    expect((await stand.open(path())).response.statusCode).to.equal(503);
    open('the end');
    await eventually(() => expect(streams.map(({ text }) => text)).to.deep.equal(['begunthe end', 'begunthe end']));
    await eventually(async () => expect((await stand.open(path())).response.statusCode).to.equal(200));
  });

  it('is cut off when its client has read no byte for a minute, or has lost its right', async () => {
    await completed();
    stand.backups.pieces = Array.from({ length: 64 }, () => PIECE);
    const stalled = await stand.open(path());
    stalled.response.pause();
    await eventually(() => {
      stand.time.advance(DOWNLOAD_STALL_MS);
      return stand.allAnswered();
    });
    stalled.response.resume();
    await eventually(() => expect(stalled.isEnded).to.equal(true));
    expect(stalled.response.complete).to.equal(false);
    let open: (piece: string) => void = () => {};
    stand.backups.pieces = [
      'begun',
      new Promise<string>((resolve) => {
        open = resolve;
      }),
    ];
    const stream = await stand.open(path());
    stand.isControlStale = true;
    open('never sent');
    await eventually(() => expect(stream.isEnded).to.equal(true));
    expect([stream.text, stream.response.complete]).to.deep.equal(['begun', false]);
    stand.isControlStale = false;
  });
});
