/** Exports of the audit log of accounts to a URL. */
import { integer, looseText, type RecordType } from '../../kernel/schema/index.js';
import { accountId } from './ids.js';

export const auditExportFields = {
  account: accountId,
  /** Empty: no export. */
  url: looseText(),
  /** In the control journal; notes of later entries are exported. */
  position: integer,
};
export type AuditExport = RecordType<typeof auditExportFields>;
