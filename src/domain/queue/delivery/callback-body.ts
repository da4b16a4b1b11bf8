/**
 * What a callback or failure callback carries: one attempt's outcome beside the message that it was made for, as
 * JSON. It is a message's body itself, so it keeps within the account's largest message.
 *
 * Invariants
 *  CBO1 the JSON is valid and whole, whatever is cut: `body` first; of a source that leaves no room by itself, both
 *       bodies share what there is; headers last
 *  CBO2 base64 is cut between groups, so that what is left decodes
 */
import type { DlqId, MessageId } from '../../../kernel/index.js';
import type { AttemptOutcome } from '../commands.js';
import type { Envelope, HeaderList } from '../records.js';
import { spelledHeader } from '../settings/header-names.js';

/** The message whose attempt came to an end. */
export interface CallbackSource {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** It is what was sent. */
  readonly body: Uint8Array;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** Retries made before the attempt. */
  readonly retried: number;
}

const EMPTY = new Uint8Array(0);

/**
 * @param dlqId of a failure callback
 * @param maxBytes of the whole JSON; kept unless it is smaller than the fields that name the message
 * @param headerWords of the spellings that deliveries are in
 * @param more members behind all others
 */
export function callbackBody(
  source: CallbackSource,
  outcome: AttemptOutcome,
  dlqId: DlqId | undefined,
  maxBytes: number,
  headerWords: readonly string[],
  more?: Readonly<Record<string, string | number>>,
): Uint8Array {
  const responseHeader = outcome.kind === 'response' ? outcome.header : [];
  // They are what the destination was sent.
  const sourceHeader = spelledHeader(source.envelope.settings.header, headerWords);
  let frame = frameOf(source, outcome, dlqId, responseHeader, sourceHeader, more);
  if (frame.bytes > maxBytes) frame = frameOf(source, outcome, dlqId, [], sourceHeader, more);
  if (frame.bytes > maxBytes) frame = frameOf(source, outcome, dlqId, [], [], more);

  const body = outcome.kind === 'response' ? outcome.body : EMPTY;
  const room = Math.max(0, maxBytes - frame.bytes);
  const needed = base64Length(source.body.byteLength);
  const bodyText = base64Within(body, needed <= room ? room - needed : room / 2);
  const sourceText = base64Within(source.body, room - bodyText.length);
  // Bodies may be megabytes: they are written where they go, not joined as text first.
  const content = Buffer.allocUnsafe(frame.bytes + bodyText.length + sourceText.length);
  let at = content.write(frame.before, 'utf8');
  at += content.write(bodyText, at, 'latin1');
  at += content.write(frame.between, at, 'utf8');
  at += content.write(sourceText, at, 'latin1');
  content.write(frame.after, at, 'utf8');
  return content;
}

/** The JSON without its two bodies. */
interface Frame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  readonly bytes: number;
}

function frameOf(
  source: CallbackSource,
  outcome: AttemptOutcome,
  dlqId: DlqId | undefined,
  responseHeader: HeaderList,
  sourceHeader: HeaderList,
  more: Readonly<Record<string, string | number>> | undefined,
): Frame {
  const { envelope } = source;
  const first = JSON.stringify({
    status: outcome.kind === 'response' ? outcome.status : 0,
    header: valuesByName(responseHeader),
  });
  const middle = JSON.stringify({
    retried: source.retried,
    maxRetries: envelope.settings.maxRetries,
    dlqId,
    sourceMessageId: source.id,
    topicName: envelope.topicName,
    endpointName: envelope.endpointName,
    url: envelope.url,
    method: envelope.settings.method,
    sourceHeader: valueByName(sourceHeader),
  });
  const last = JSON.stringify({
    notBefore: String(source.notBeforeMs),
    createdAt: String(source.createdAtMs),
    scheduleId: envelope.scheduleId,
    callerIP: envelope.callerIp === '' ? undefined : envelope.callerIp,
    ...more,
  });
  const before = `${first.slice(0, -1)},"body":"`;
  const between = `",${middle.slice(1, -1)},"sourceBody":"`;
  const after = `",${last.slice(1)}`;
  return { before, between, after, bytes: Buffer.byteLength(before + between + after) };
}

/** Without a prototype: a destination may call a header whatever it likes. */
function valuesByName(header: HeaderList): Record<string, string[]> {
  const byName: Record<string, string[]> = Object.create(null);
  for (const [name, value] of header) {
    const values = byName[name];
    if (values === undefined) byName[name] = [value];
    else values.push(value);
  }
  return byName;
}

function valueByName(header: HeaderList): Record<string, string> {
  const byName: Record<string, string> = Object.create(null);
  for (const [name, value] of header) {
    const earlier = byName[name];
    byName[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return byName;
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** It takes as much as fits, in whole groups (CBO2). */
function base64Within(bytes: Uint8Array, room: number): string {
  const kept = Math.min(bytes.byteLength, Math.floor(room / 4) * 3);
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.max(0, kept)).toString('base64');
}
