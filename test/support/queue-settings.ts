/** Requests with delivery settings, in the form in which the queue endpoint passes them on. */
import type { AccountLimits, HeaderList, RawSettings } from '../../src/domain/queue/index.js';
import {
  type ParsedSettings,
  parseSettings,
  type SettingsContext,
  type SettingsOutcome,
} from '../../src/domain/queue/index.js';

export const LIMITS: AccountLimits = {
  maxMessageBytes: 1_048_576,
  maxMessagesPerDay: 0,
  maxMessagesPerDayHard: 0,
  maxRequestsPerSecond: 0,
  maxEndpointsPerGroup: 100,
  maxDlqEntries: 1000,
  maxRetries: 20,
  maxGroups: 10,
  maxSchedules: 10,
  maxEvents: 1000,
  dlqRetentionMs: 604_800_000,
  maxDelaySeconds: 604_800,
  maxParallelism: 10,
  maxGlobalParallelism: 100,
  maxQueues: 10,
  timeoutSeconds: 900,
  budgetCents: 0,
};
export const NOW_MS = Date.UTC(2026, 0, 1);

type Headers = Readonly<Record<string, string>> | HeaderList;

function listOf(headers: Headers): HeaderList {
  return Array.isArray(headers) ? (headers as HeaderList) : Object.entries(headers as Record<string, string>);
}

export function raw(headers: Headers, query: Headers = {}): RawSettings {
  return { headers: listOf(headers), query: listOf(query) };
}

export function settingsContext(changes: Partial<SettingsContext> = {}): SettingsContext {
  return { limits: LIMITS, nowMs: NOW_MS, of: 'publish', ...changes };
}

export function parse(headers: Headers, query: Headers = {}, changes: Partial<SettingsContext> = {}): ParsedSettings {
  return accepted(parseSettings(raw(headers, query), settingsContext(changes)));
}

export function accepted(outcome: SettingsOutcome): ParsedSettings {
  if (!outcome.isOk) throw new Error(`refused: ${outcome.message}`);
  return outcome.parsed;
}

/** The text of the refusal; empty if the request is accepted. */
export function refusal(headers: Headers, query: Headers = {}, changes: Partial<SettingsContext> = {}): string {
  const outcome = parseSettings(raw(headers, query), settingsContext(changes));
  return outcome.isOk ? '' : outcome.message;
}
