/** The audit log, exported continuously. */
export { AuditExporter } from './audit-exports.js';
export { AuditFileWriter } from './audit-file-writer.js';
