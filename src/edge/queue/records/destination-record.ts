/** Destinations with failures and the rules of their breakers, as the API shows them, with their schemas. */
import { BREAKER_BOUNDS, BREAKER_STATES, type BreakerRules, type BreakerView } from '../../../domain/queue/index.js';
import {
  FLAG,
  INSTANT,
  type JsonSchema,
  listOf,
  record,
  schemaNamed,
  TEXT,
  WHOLE,
  wordOf,
} from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';

export function destinationRecord(view: BreakerView) {
  const { url, state, reason, failures, failingSinceMs, changedAtMs, nextProbeAtMs, probes, status, error } = view;
  return {
    url,
    state,
    reason: state === 'disabled' ? reason : undefined,
    failures,
    failingSince: failures === 0 ? undefined : failingSinceMs,
    changedAt: changedAtMs,
    nextProbe: state === 'open' ? nextProbeAtMs : undefined,
    probing: (state === 'open' && view.probe !== undefined) || undefined,
    failedProbes: probes,
    responseStatus: status,
    error: error === '' ? undefined : error,
    waiting: view.waiting,
  };
}

export const RULE_MEMBERS = {
  failures: bounded('failures', 'Consecutive failures that stop a destination. Left out: 10.'),
  seconds: bounded('seconds', 'The time over which they stretch, at least. Left out: 60.'),
  probeSeconds: bounded('probeSeconds', 'The wait before the first probe; it doubles up to an hour. Left out: 60.'),
  disableAfterSeconds: bounded('disableAfterSeconds', 'The time of failures that disables. Left out: 432000.'),
  messages: { ...wordOf(['wait', 'dlq']), description: 'Of a stopped destination. Left out: wait.' },
  notifyUrl: { ...TEXT, description: 'Gets a message when a destination is stopped, disabled or working again.' },
} satisfies Readonly<Record<keyof BreakerRules, JsonSchema>>;

const { notifyUrl: _, ...RULES_SET } = RULE_MEMBERS;

export const DESTINATION_SCHEMAS = {
  BreakerRules: record(RULES_SET, { notifyUrl: RULE_MEMBERS.notifyUrl }),
  Destination: recordSchema<ReturnType<typeof destinationRecord>>(
    {
      url: { ...TEXT, description: 'Without its query.' },
      state: wordOf(BREAKER_STATES),
      failures: { ...WHOLE, description: 'In a row.' },
      changedAt: { ...INSTANT, description: 'When the state began.' },
      failedProbes: WHOLE,
      responseStatus: { ...WHOLE, description: 'Of the last failure; 0: no response.' },
      waiting: { ...WHOLE, description: 'Due messages that wait for it.' },
    },
    {
      reason: { ...wordOf(['failures', 'gone', 'request']), description: 'Why it is disabled.' },
      failingSince: INSTANT,
      nextProbe: INSTANT,
      probing: { ...FLAG, description: 'An attempt is under way that decides.' },
      error: TEXT,
    },
  ),
  DestinationList: record(
    { destinations: listOf(schemaNamed('Destination')) },
    { rules: { ...schemaNamed('BreakerRules'), description: 'Left out: the account has no breakers.' } },
  ),
  DestinationEnabled: record({ retried: { ...WHOLE, description: 'DLQ entries that are sent again.' } }),
};

function bounded(name: keyof typeof BREAKER_BOUNDS, description: string): JsonSchema {
  const [minimum, maximum] = BREAKER_BOUNDS[name];
  return { ...WHOLE, minimum, maximum, description };
}
