/** A note of the audit log as clients and exports see it. */
import { auditActionText } from './audit-actions.js';
import type { AuditEntry } from './management.js';

export function auditLine(entry: AuditEntry) {
  const action = auditActionText(entry.action);
  const about = [entry.entity, entry.secondaryEntity, entry.thirdEntity].filter((text) => text !== '');
  return {
    log_id: LOG_ID_START + entry.number.toString(16).padStart(12, '0'),
    actor: entry.actor,
    timestamp: Math.floor(entry.atMs / 1000),
    action: entry.action,
    action_string: action,
    source: entry.source,
    entity: entry.entity,
    secondary_entity: entry.secondaryEntity,
    third_entity: entry.thirdEntity,
    readable_format: `${entry.actor}: ${[action, ...about].join(', ')}`,
    ip: entry.ip,
    reason: entry.reason,
  };
}

/** The number of the entry with this `log_id`; undefined for another text. */
export function auditNumberIn(logId: unknown): number | undefined {
  if (typeof logId !== 'string' || !logId.startsWith(LOG_ID_START)) return undefined;
  const digits = logId.slice(LOG_ID_START.length);
  return /^[0-9a-f]{12}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** The number is a part of the UUID, so there is no table of ids. */
const LOG_ID_START = '00000000-0000-8000-8a0d-';
