/**
 * A resumed or restarted run is delivered as the failed run was, with what the call names put over it.
 *
 *  REN1 what is named holds for all of the new run: for the header by which the endpoint sees the labels too, and for
 *       its failure function where that had been given the same as the run
 *  REN2 a delay is waited for once, before the first deliveries
 */
import { assert } from '../../../kernel/index.js';
import type { QueueReply } from '../commands.js';
import { type QueueContext, rejection } from '../decision.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList, RawSettings } from '../records.js';
import type { Run } from '../runs/run.js';
import { firstEnvelope, stepEnvelope } from '../runs/run-envelopes.js';
import { overrideSettings } from '../settings/publish-settings.js';

export interface ResumedEnvelope {
  readonly envelope: Envelope;
  readonly delaySeconds: number;
}

const LABEL_HEADER = 'Svc-Label';
const PROTOCOL = 'Svc-Workflow-';
const VERSION_HEADER = 'Svc-Workflow-Sdk-Version';
/** Alike with every message that an endpoint sends for a run. */
const OF_EVERY_STEP: ReadonlySet<string> = new Set([VERSION_HEADER, 'Svc-Workflow-Invoke-Count']);
/** An endpoint knows by these that its failure function is meant. */
const OF_FAILURES: HeaderList = [
  ['Svc-Workflow-Is-Failure', 'true'],
  ['Svc-Workflow-Failure-Callback', 'true'],
];

/** @returns the new run's, or why the call is refused */
export function resumedEnvelope(
  origin: Envelope,
  overrides: RawSettings,
  { account, nowMs }: QueueContext,
): ResumedEnvelope | QueueReply {
  if (overrides.headers.length === 0 && overrides.query.length === 0) return { envelope: origin, delaySeconds: 0 };
  const before = origin.settings;
  const outcome = overrideSettings(before, overrides, { limits: account.limits, nowMs, of: 'retry' });
  if (!outcome.isOk) return rejection('INVALID', outcome.message);
  const after = outcome.parsed.settings;
  const shown = after.labels === before.labels ? undefined : after.labels.join(',');
  const header = labelled(after.header, shown);
  const failureCallback =
    after.failureCallback && functionOf(after.failureCallback, before, { ...after, header }, shown);
  const { delaySeconds } = after;
  return { envelope: { ...origin, settings: { ...after, header, failureCallback, delaySeconds: 0 } }, delaySeconds };
}

/** It is the envelope of an entry that the new run begins with: 0 is the payload. */
export function openEnvelope(run: Run, index: number): Envelope {
  const { url, settings, workflow } = run.shared.envelope;
  if (index === 0) return firstEnvelope(run);
  assert(workflow !== undefined, 'a run whose envelope is not of a run', { runId: run.id });
  const header = settings.header.filter(([name]) => !name.startsWith(PROTOCOL) || OF_EVERY_STEP.has(name));
  const isVersioned = header.some(([name]) => name === VERSION_HEADER);
  const whole: HeaderList = isVersioned ? header : [...header, [VERSION_HEADER, '1']];
  // Only the first delivery tells whether the endpoint is recent enough.
  const mark = { ...workflow, needsRecentClient: false };
  return stepEnvelope(run, { url, settings: { ...settings, header: whole }, mark });
}

function functionOf(
  { url, settings }: CallbackSetting,
  before: DeliverySettings,
  after: DeliverySettings,
  shownLabels: string | undefined,
): CallbackSetting {
  const old = before.failureCallback;
  // The run had none: it is told as one that was there from the beginning.
  if (old === undefined) {
    const others = after.header.filter(([name]) => name !== 'Content-Type' && !name.startsWith(PROTOCOL));
    return { url, settings: { ...settings, header: [...settings.header, ...others, ...OF_FAILURES] } };
  }
  const following = <Name extends 'maxRetries' | 'retryDelay' | 'flowControl'>(name: Name): DeliverySettings[Name] =>
    isAlike(settings[name], before[name]) ? after[name] : settings[name];
  return {
    url,
    settings: {
      ...settings,
      header: labelled(settings.header, shownLabels),
      maxRetries: following('maxRetries'),
      retryDelay: following('retryDelay'),
      flowControl: following('flowControl'),
    },
  };
}

function labelled(header: HeaderList, labels: string | undefined): HeaderList {
  if (labels === undefined) return header;
  return [...header.filter(([name]) => name !== LABEL_HEADER), [LABEL_HEADER, labels]];
}

function isAlike(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
