/** The audit log, exported continuously. */
export { AuditFileWriter } from './audit-file-writer.js';
