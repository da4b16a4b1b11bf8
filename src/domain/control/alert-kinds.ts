/** The kinds of alert rules: unit and bounds of the threshold, period and target, and the rules that always exist. */
import type { AccountId, AlertRuleId } from '../../kernel/index.js';
import type { AlertKind, AlertRule } from './alerts.js';

interface AlertKindTerms {
  /** Thresholds; 0 and 0 for a kind without one. A certificate is reported below it, all others at or above it. */
  readonly least: number;
  readonly most: number;
  /** The default threshold. */
  readonly usual: number;
  /** The default period in seconds; 0: the kind has none. */
  readonly windowSeconds: number;
  readonly target: 'none' | 'optional' | 'required';
  /** About the whole installation: only the first account has such rules, and each exists from the beginning. */
  readonly isBuiltIn?: true;
  /** The name of the built-in rule. */
  readonly name?: string;
}

const DAY_SECONDS = 86_400;

export const ALERT_KIND_TERMS: Readonly<Record<AlertKind, AlertKindTerms>> = {
  cluster: builtIn('Cluster', { least: 0, most: 0, usual: 0 }),
  /** Percent of the file system, and of the storage limit of a NATS server. */
  disk: builtIn('Disk', { least: 1, most: 100, usual: 90 }),
  /** Percent of a memory limit. */
  memory: builtIn('Memory', { least: 1, most: 100, usual: 90 }),
  /** Seconds. */
  'read-models': builtIn('Read models', { least: 1, most: DAY_SECONDS, usual: 60 }),
  /** Days that are left. */
  certificate: builtIn('Certificate', { least: 1, most: 365, usual: 14 }),
  /** Messages that reached the DLQ. */
  'dead-letters': { least: 1, most: 1_000_000, usual: 1, windowSeconds: 3600, target: 'none' },
  /** Failed attempts at one host, of at most the newest 500. */
  destination: { least: 1, most: 500, usual: 5, windowSeconds: 300, target: 'optional' },
  /** Seconds that the oldest due message has waited. */
  'queue-age': { least: 1, most: 30 * DAY_SECONDS, usual: 300, windowSeconds: 0, target: 'required' },
  'flow-age': { least: 1, most: 30 * DAY_SECONDS, usual: 300, windowSeconds: 0, target: 'required' },
  /** Failed runs; the target is the URL of a workflow. */
  'failed-runs': { least: 1, most: 1_000_000, usual: 1, windowSeconds: 3600, target: 'optional' },
  /** Hours since the last completed backup of a database. */
  'backup-age': { least: 1, most: 24 * 365, usual: 30, windowSeconds: 0, target: 'optional' },
  /** Deliveries of a schedule within the period: fewer raise the alert. */
  schedule: { least: 1, most: 1_000_000, usual: 1, windowSeconds: DAY_SECONDS, target: 'required' },
  /** Seconds; positions are stored every five. */
  'trigger-lag': { least: 10, most: 30 * DAY_SECONDS, usual: 300, windowSeconds: 0, target: 'optional' },
  /** A destination with an open or disabled breaker; the target is its URL. From BREAKERS_FORMAT_LEVEL on. */
  'stopped-destination': { least: 0, most: 0, usual: 0, windowSeconds: 0, target: 'optional' },
  /** Seconds for which the oldest exported change has waited. From AUDIT_EXPORT_FORMAT_LEVEL on. */
  'audit-export': { least: 10, most: 30 * DAY_SECONDS, usual: 300, windowSeconds: 0, target: 'none' },
};

/** Rules that exist from the beginning, and cannot be deleted. */
export function builtInRules(account: AccountId): AlertRule[] {
  return Object.entries(ALERT_KIND_TERMS).flatMap(([kind, { isBuiltIn, name = kind, usual, windowSeconds }]) =>
    isBuiltIn === true
      ? {
          id: builtInRuleId(kind as AlertKind),
          account,
          name,
          kind: kind as AlertKind,
          target: '',
          threshold: usual,
          windowSeconds,
          channels: [],
          isEnabled: true,
          silentUntilMs: 0,
        }
      : [],
  );
}

export function builtInRuleId(kind: AlertKind): AlertRuleId {
  return `al-${kind}` as AlertRuleId;
}

function builtIn(name: string, bounds: Pick<AlertKindTerms, 'least' | 'most' | 'usual'>): AlertKindTerms {
  return { ...bounds, windowSeconds: 0, target: 'none', isBuiltIn: true, name };
}
