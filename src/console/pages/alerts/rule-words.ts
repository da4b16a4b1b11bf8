/** Alert rules in words: kinds, units, and the sentence that a rule stands for. */
import type { Schemas } from '#api';
import { counted, duration } from '../../parts/format.js';

export type Rule = Schemas['AlertRuleAnswer'];
export type Alert = Schemas['AlertAnswer'];
export type Kind = Rule['kind'];

interface KindWords {
  readonly label: string;
  /** The unit of the threshold, after the number; undefined: the kind has no threshold. */
  readonly unit?: string;
  readonly threshold?: number;
  /** Seconds that are counted by default; undefined: the kind has no period. */
  readonly window?: number;
  /** The label of the target; undefined: the kind has none. */
  readonly target?: string;
  readonly isTargetRequired?: true;
  /** The rule exists already, and there is one. */
  readonly isBuiltIn?: true;
  /** The condition, without the period. */
  sentence(rule: Pick<Rule, 'target' | 'threshold'>): string;
}

const HOUR = 3_600;
const DAY = 86_400;

export const KINDS: Readonly<Record<Kind, KindWords>> = {
  'dead-letters': {
    label: 'Dead letters',
    unit: 'messages',
    threshold: 1,
    window: HOUR,
    sentence: ({ threshold }) => `${counted(threshold, 'message')} reached the DLQ`,
  },
  destination: {
    label: 'A destination fails',
    unit: 'failed attempts',
    threshold: 5,
    window: 300,
    target: 'Host',
    sentence: ({ threshold, target }) => `${counted(threshold, 'attempt')} at ${target || 'one host'} failed`,
  },
  'stopped-destination': {
    label: 'A destination is stopped',
    target: 'URL',
    sentence: ({ target }) => `The circuit breaker of ${target || 'a destination'} is open or disabled`,
  },
  'queue-age': {
    label: 'Age of a queue',
    unit: 'seconds',
    threshold: 300,
    target: 'Queue',
    isTargetRequired: true,
    sentence: ({ threshold, target }) => `The oldest message of the queue ${target} waits for ${time(threshold)}`,
  },
  'flow-age': {
    label: 'Age of a flow control key',
    unit: 'seconds',
    threshold: 300,
    target: 'Flow control key',
    isTargetRequired: true,
    sentence: ({ threshold, target }) => `The oldest message of the key ${target} waits for ${time(threshold)}`,
  },
  'failed-runs': {
    label: 'Runs fail',
    unit: 'runs',
    threshold: 1,
    window: HOUR,
    target: 'URL of the workflow',
    sentence: ({ threshold, target }) => `${counted(threshold, 'run')}${target && ` of ${target}`} failed`,
  },
  schedule: {
    label: 'A schedule is silent',
    unit: 'deliveries',
    threshold: 1,
    window: DAY,
    target: 'Id of the schedule',
    isTargetRequired: true,
    sentence: ({ threshold, target }) =>
      threshold === 1
        ? `The schedule ${target} had no successful delivery`
        : `The schedule ${target} had fewer than ${counted(threshold, 'successful delivery', 'successful deliveries')}`,
  },
  'trigger-lag': {
    label: 'Lag of triggers',
    unit: 'seconds',
    threshold: 300,
    target: 'Id of the trigger',
    sentence: ({ threshold, target }) =>
      `${target === '' ? 'A trigger' : `The trigger ${target}`} is ${time(threshold)} behind, or lost`,
  },
  'audit-export': {
    label: 'Export of the audit log',
    unit: 'seconds',
    threshold: 300,
    sentence: ({ threshold }) =>
      `A change of the audit log has not reached the address of the export for ${time(threshold)}`,
  },
  'backup-age': {
    label: 'Age of a backup',
    unit: 'hours',
    threshold: 30,
    target: 'Id of the database',
    sentence: ({ threshold, target }) =>
      `The last backup of ${target === '' ? 'a database with daily backups' : 'the database'} is ${counted(threshold, 'hour')} old`,
  },
  cluster: { label: 'Cluster', isBuiltIn: true, sentence: () => 'A process, NATS server or stream has a problem' },
  disk: {
    label: 'Disk',
    unit: '% used',
    isBuiltIn: true,
    sentence: ({ threshold }) => `The disk of the data directory is ${threshold} % full`,
  },
  memory: {
    label: 'Memory',
    unit: '% of a limit',
    isBuiltIn: true,
    sentence: ({ threshold }) => `Keys, messages or requests use ${threshold} % of their memory`,
  },
  'read-models': {
    label: 'Read models',
    unit: 'seconds behind',
    isBuiltIn: true,
    sentence: ({ threshold }) => `Lists, statistics or search are ${time(threshold)} behind`,
  },
  certificate: {
    label: 'Certificate',
    unit: 'days left',
    isBuiltIn: true,
    sentence: ({ threshold }) => `The certificate is valid for fewer than ${counted(threshold, 'day')}`,
  },
};

export const WINDOWS = [60, 300, 900, HOUR, 6 * HOUR, DAY, 7 * DAY] as const;

/** "5 attempts at pay.example failed within 5 min". */
export function sentenceOf(rule: Pick<Rule, 'kind' | 'target' | 'threshold' | 'window'>): string {
  const said = KINDS[rule.kind].sentence(rule);
  return rule.window === 0 ? said : `${said} within ${time(rule.window)}`;
}

export function time(seconds: number): string {
  return duration(seconds * 1_000);
}
