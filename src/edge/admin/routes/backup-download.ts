/** Downloads a backup of a database as a file, for archiving or another server. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describeError, isMillraceError } from '../../../kernel/index.js';
import { backupIdOfUuid } from '../../../protocol/index.js';
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
    permission: 'databases:use',
    parameters: [{ ...queryParameter('backup_id', 'Which one of the list of backups.'), required: true }],
    answer: { kind: 'other', type: FILE_TYPE, description: 'Commands of the native protocol.' },
    handle: download,
  }),
];

/** @throws Refused 400, 404, 503 before the first byte; a later failure closes the connection */
async function download(call: AdminCall): Promise<void> {
  const { endpoint, grant } = call;
  const { backups } = endpoint.parts;
  if (backups === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noBackups);
  const { account } = grant;
  const { database } = await call.database();
  const id = backupIdOfUuid(call.query.get('backup_id') ?? '');
  if (id === undefined) throw new RefusedRequest(notFound('backup'));
  const { backup } = await call.ask({ type: 'GetBackup', account, backup: id }, 'OneBackup');
  if (backup.database !== database) throw new RefusedRequest(notFound('backup'));
  if (backup.state !== 'completed') throw invalid(`backup_id: the backup is ${backup.state}`);
  const giveBack = endpoint.downloads.take(account);
  try {
    const pieces = backups.commandsOf(backup.manifests)[Symbol.asyncIterator]();
    // Missing objects show with the first piece, when a refusal is still possible.
    const first = await pieces.next();
    const response = call.takeOver();
    response.writeHead(200, {
      'Content-Type': FILE_TYPE,
      'Content-Disposition': `attachment; filename="${call.query.get('backup_id')}.aof"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    await pour(call, response, first, pieces);
  } finally {
    giveBack();
  }
}

/** Ends early if the client is too slow, has disconnected, or has lost its permission. */
async function pour(
  call: AdminCall,
  response: ServerResponse,
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): Promise<void> {
  const { endpoint } = call;
  const stop = new AbortController();
  const asTaken = async function* () {
    for (let piece = first; piece.done !== true; piece = await pieces.next()) {
      if (endpoint.isDraining || !call.isStillGranted()) return stop.abort();
      const stalled = endpoint.parts.timers.after(DOWNLOAD_STALL_MS, () => stop.abort());
      yield piece.value;
      stalled.cancel();
    }
  };
  try {
    await pipeline(Readable.from(asTaken(), { objectMode: true, highWaterMark: 1 }), response, { signal: stop.signal });
  } catch (failure) {
    // The answer has started, so closing the connection is the only way to report the failure.
    if (!isMillraceError(failure)) return;
    endpoint.parts.log.error('admin.stream.failed', { error: describeError(failure) });
  }
}
