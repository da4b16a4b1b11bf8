/** All declared routes of the management API. */
import type { ManagementRoute } from '../management-call.js';
import { ALERT_ROUTES } from './alerts.js';
import { AUDIT_EXPORT_ROUTES } from './audit-export.js';
import { BACKUP_ROUTES } from './backups.js';
import { BRANCH_ROUTES } from './branches.js';
import { DATABASE_SETTING_ROUTES } from './database-settings.js';
import { DATABASE_ROUTES } from './databases.js';
import { KEY_AND_AUDIT_ROUTES } from './keys-and-audit.js';
import { MONITORING_SWITCH_ROUTES } from './monitoring.js';
import { PEOPLE_SESSION_ROUTES } from './people-sessions.js';
import { QUEUE_ACCOUNT_ROUTES } from './queue-accounts.js';
import { ROLE_ROUTES } from './roles.js';
import { SEARCH_INDEX_ROUTES } from './search-indexes.js';
import { TEAM_ROUTES } from './teams.js';
import { USAGE_ROUTES } from './usage.js';
import { VECTOR_INDEX_ROUTES } from './vector-indexes.js';

export const MANAGEMENT_ROUTES: readonly ManagementRoute[] = [
  ...DATABASE_ROUTES,
  ...DATABASE_SETTING_ROUTES,
  ...BACKUP_ROUTES,
  ...BRANCH_ROUTES,
  ...MONITORING_SWITCH_ROUTES,
  ...SEARCH_INDEX_ROUTES,
  ...VECTOR_INDEX_ROUTES,
  ...QUEUE_ACCOUNT_ROUTES,
  ...TEAM_ROUTES,
  ...KEY_AND_AUDIT_ROUTES,
  ...PEOPLE_SESSION_ROUTES,
  ...ROLE_ROUTES,
  ...ALERT_ROUTES,
  ...USAGE_ROUTES,
  ...AUDIT_EXPORT_ROUTES,
];
