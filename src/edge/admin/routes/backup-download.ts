/** A backup of a database as a file, to be kept elsewhere or loaded into another server. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describeError, isMillraceError } from '../../../kernel/index.js';
import { backupIdOfUuid } from '../../../messages/index.js';
import { MANAGEMENT_REFUSALS, notFound } from '../../error-map.js';
import { queryParameter } from '../../http/openapi/parts.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { type AdminCall, type AdminRoute, adminRoute } from '../admin-call.js';
import { DOWNLOAD_STALL_MS } from '../admin-limits.js';

const FILE_TYPE = 'application/octet-stream';

export const BACKUP_DOWNLOAD_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET /v2/admin/databases/:id/backup', {
    summary: 'Fetches a backup, as the commands that an empty database needs to hold the same.',
    description:
      'The form of the native protocol, as `redis-cli --pipe` and append-only files have it. Parameters are left out.',
    permission: 'databases',
    parameters: [{ ...queryParameter('backup_id', 'Which one of the list of backups.'), required: true }],
    answer: { kind: 'other', type: FILE_TYPE, description: 'Commands of the native protocol.' },
    handle: download,
  }),
];

/** @throws Refused 400, 404, 503 before anything is answered; what fails later cuts the answer off */
async function download(call: AdminCall): Promise<void> {
  const { face, grant, response } = call;
  const { backups } = face.parts;
  if (backups === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noBackups);
  const { account } = grant;
  const { database } = await call.database();
  const id = backupIdOfUuid(call.query.get('backup_id') ?? '');
  if (id === undefined) throw new RefusedRequest(notFound('backup'));
  const { backup } = await call.ask({ type: 'GetBackup', account, backup: id }, 'OneBackup');
  if (backup.database !== database) throw new RefusedRequest(notFound('backup'));
  if (backup.state !== 'completed') throw invalid(`backup_id: the backup is ${backup.state}`);
  const giveBack = face.downloads.take(account);
  try {
    const pieces = backups.commandsOf(backup.manifests)[Symbol.asyncIterator]();
    // Whatever is missing shows with the first piece, while it can still be said.
    const first = await pieces.next();
    response.writeHead(200, {
      'Content-Type': FILE_TYPE,
      'Content-Disposition': `attachment; filename="${call.query.get('backup_id')}.aof"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    await pour(call, first, pieces);
  } finally {
    giveBack();
  }
}

/** Ends early where the reader stands still, has gone, or may not read any more. */
async function pour(
  call: AdminCall,
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): Promise<void> {
  const { face, response } = call;
  const stop = new AbortController();
  const asTaken = async function* () {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) {
      if (face.isDraining || !call.isStillGranted()) return stop.abort();
      const stalled = face.parts.timers.after(DOWNLOAD_STALL_MS, () => stop.abort());
      yield piece.value;
      stalled.cancel();
    }
  };
  try {
    await pipeline(Readable.from(asTaken(), { objectMode: true, highWaterMark: 1 }), response, { signal: stop.signal });
  } catch (failure) {
    // The answer is cut off: that it is not whole is all that can be told.
    if (!isMillraceError(failure)) return;
    face.parts.log.error('admin.stream.failed', { error: describeError(failure) });
  }
}
