/** The export of the account's audit log to a URL. */
import { MANAGEMENT_REFUSALS, notFound } from '../../error-map.js';
import { OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { AuditExportAnswer } from '../answers/people-answers.js';
import { type ManagementCall, type ManagementRoute, managementRoute } from '../management-call.js';
import { UsageReportRequest } from '../requests/usage-requests.js';

export const AUDIT_EXPORT_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/auditlogs/export', {
    summary: 'Shows the address that gets the audit log, how far the export is behind, and its last error.',
    permission: 'account:read',
    answer: one(AuditExportAnswer),
    async handle(call) {
      const { type: _, ...found } = await exportOf(call);
      if (found.url === '') return { url: '', lag_seconds: 0, undelivered_seconds: 0 };
      const { lagMs, position, undeliveredMs, problem } = await exportsOf(call).lagOf(found);
      return {
        url: found.url,
        lag_seconds: Math.floor(lagMs / 1000),
        position,
        undelivered_seconds: Math.floor(undeliveredMs / 1000),
        ...(problem !== undefined && { problem }),
      };
    },
  }),

  managementRoute('POST /v2/auditlogs/export', {
    summary: 'Sends each change from now on to an address, as signed messages of the queue with JSON lines.',
    permission: 'members:change',
    body: UsageReportRequest,
    example: { url: 'https://example.com/audit' },
    answer: one(AuditExportAnswer),
    async handle(call, { body: { url } }) {
      const exports = exportsOf(call);
      const refusal = exports.refusalOf(call.account, url);
      if (refusal !== undefined) throw invalid(`url: ${refusal}`);
      const position = await exports.endPosition();
      await setExport(call, url, position);
      return { url, lag_seconds: 0, position, undelivered_seconds: 0 };
    },
  }),

  managementRoute('DELETE /v2/auditlogs/export', {
    summary: 'Ends the export of the audit log.',
    permission: 'members:change',
    answer: OK_ANSWER,
    async handle(call) {
      const { url } = await exportOf(call);
      if (url === '') throw new RefusedRequest(notFound('export'));
      await setExport(call, '', 0);
      return OK_TEXT;
    },
  }),
];

function exportOf(call: ManagementCall) {
  return call.ask({ type: 'GetAuditExport', account: call.account }, 'AuditExportIs');
}

async function setExport(call: ManagementCall, url: string, position: number): Promise<void> {
  const about = { action: url === '' ? 'deleteAuditExport' : 'setAuditExport', entity: url } as const;
  await call.change({ type: 'SetAuditExport', account: call.account, url, position }, 'AuditExportIs', about);
}

/** @throws Refused 503 if this server has no queue */
function exportsOf({ endpoint }: ManagementCall) {
  const { auditExports } = endpoint.parts;
  if (auditExports === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.noStatistics);
  return auditExports;
}
