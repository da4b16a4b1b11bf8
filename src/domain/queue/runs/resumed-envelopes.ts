/**
 * Envelopes of resumed and restarted runs: those of the failed run, with the settings of the call over them.
 *
 *  REN1 a setting of the call holds for the whole new run: also for the header that shows the labels to the endpoint,
 *       and for the failure function where that had the same setting as the run
 *  REN2 a delay applies once, before the first deliveries
 */
import { assert } from '../../../kernel/index.js';
import type { QueueReply } from '../model/commands.js';
import { type QueueContext, rejection } from '../model/decision.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList, RawSettings } from '../model/records.js';
import type { Run } from '../model/runs/run.js';
import { overrideSettings } from '../model/settings/publish-settings.js';
import { firstEnvelope, type OfRun, stepEnvelope } from './run-envelopes.js';

export interface ResumedEnvelope {
  readonly envelope: Envelope;
  readonly delaySeconds: number;
}

const LABEL_HEADER = 'Svc-Label';
const PROTOCOL = 'Svc-Workflow-';
const VERSION_HEADER = 'Svc-Workflow-Sdk-Version';
/** Headers that every message of an endpoint for a run carries. */
const OF_EVERY_STEP: ReadonlySet<string> = new Set([VERSION_HEADER, 'Svc-Workflow-Invoke-Count']);
/** Headers by which an endpoint recognises a call of its failure function. */
const OF_FAILURES: HeaderList = [
  ['Svc-Workflow-Is-Failure', 'true'],
  ['Svc-Workflow-Failure-Callback', 'true'],
];

/** @returns the new envelope, or the refusal of the call */
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

/** The envelope for delivering an entry of the new run; index 0 is the payload. */
export function openEnvelope(run: Run, index: number): Envelope {
  return index === 0 ? firstEnvelope(run) : recordedEnvelope(run);
}

/** The envelope for delivering a recorded step again. */
export function recordedEnvelope(run: OfRun): Envelope {
  const { url, settings, workflow } = run.shared.envelope;
  assert(workflow !== undefined, 'a run whose envelope is not of a run', { url });
  const header = settings.header.filter(([name]) => !name.startsWith(PROTOCOL) || OF_EVERY_STEP.has(name));
  const isVersioned = header.some(([name]) => name === VERSION_HEADER);
  const whole: HeaderList = isVersioned ? header : [...header, [VERSION_HEADER, '1']];
  // Only the first delivery checks whether the endpoint is recent enough.
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
  // The run had no failure function: the new one gets the run's headers, as if it had been given at the start.
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
