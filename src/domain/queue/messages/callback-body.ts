/**
 * The body of a callback or failure callback: one attempt's outcome and its message, as JSON.
 *
 *  CBO1 both bodies are cut at the account's largest message, and a cut one is marked; all other fields are whole
 *  CBO2 without an answer, `error` gives the reason in the words of the DLQ and the logs
 */
import { type DlqId, type MessageId, textOfHeader } from '../../../kernel/index.js';
import type { AttemptOutcome } from '../model/commands.js';
import type { Envelope, HeaderList } from '../model/records.js';
import { spelledHeader } from '../model/settings/header-names.js';

/** The message of the ended attempt. */
export interface CallbackSource {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** The delivered body. */
  readonly body: Uint8Array;
  readonly createdAtMs: number;
  readonly notBeforeMs: number;
  /** Retries made before the attempt. */
  readonly retried: number;
}

const EMPTY = new Uint8Array(0);

export interface CallbackForm {
  /** The limit of each of the two bodies. Undefined: both are whole. */
  readonly maxBodyBytes?: number;
  /** Prefixes of the spellings of deliveries. */
  readonly headerWords: readonly string[];
}

/**
 * @param dlqId for a failure callback
 * @param more members added at the end
 */
export function callbackBody(
  source: CallbackSource,
  outcome: AttemptOutcome,
  dlqId: DlqId | undefined,
  { maxBodyBytes = Number.MAX_SAFE_INTEGER, headerWords }: CallbackForm,
  more?: Readonly<Record<string, string | number>>,
): Uint8Array {
  const response = outcome.kind === 'response' ? outcome.body : EMPTY;
  const isAnswerCut = outcome.kind === 'response' && outcome.isCut;
  const frame = frameOf(source, outcome, dlqId, headerWords, {
    bodyTruncated: isAnswerCut || response.byteLength > maxBodyBytes || undefined,
    sourceBodyTruncated: source.body.byteLength > maxBodyBytes || undefined,
    ...more,
  });
  const bodyText = base64Of(response, maxBodyBytes);
  const sourceText = base64Of(source.body, maxBodyBytes);
  // Bodies may be megabytes: they are written directly into the buffer instead of being joined as text.
  const content = Buffer.allocUnsafe(frame.bytes + bodyText.length + sourceText.length);
  let at = content.write(frame.before, 'utf8');
  at += content.write(bodyText, at, 'latin1');
  at += content.write(frame.between, at, 'utf8');
  at += content.write(sourceText, at, 'latin1');
  content.write(frame.after, at, 'utf8');
  return content;
}

/** The JSON around the two bodies. */
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
  headerWords: readonly string[],
  more: Readonly<Record<string, string | number | boolean | undefined>>,
): Frame {
  const { envelope } = source;
  const first = JSON.stringify({
    status: outcome.kind === 'response' ? outcome.status : 0,
    header: valuesByName(outcome.kind === 'response' ? outcome.header : []),
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
    // Headers as the destination received them.
    sourceHeader: valueByName(spelledHeader(envelope.settings.header, headerWords)),
  });
  const last = JSON.stringify({
    notBefore: String(source.notBeforeMs),
    createdAt: String(source.createdAtMs),
    scheduleId: envelope.scheduleId,
    callerIP: envelope.callerIp === '' ? undefined : envelope.callerIp,
    error: outcome.kind === 'response' ? undefined : outcome.error,
    ...more,
  });
  const before = `${first.slice(0, -1)},"body":"`;
  const between = `",${middle.slice(1, -1)},"sourceBody":"`;
  const after = `",${last.slice(1)}`;
  return { before, between, after, bytes: Buffer.byteLength(before + between + after) };
}

/** No prototype: the destination chooses the header names. */
function valuesByName(header: HeaderList): Record<string, string[]> {
  const byName: Record<string, string[]> = Object.create(null);
  for (const [name, bytes] of header) {
    const value = textOfHeader(bytes);
    const values = byName[name];
    if (values === undefined) byName[name] = [value];
    else values.push(value);
  }
  return byName;
}

function valueByName(header: HeaderList): Record<string, string> {
  const byName: Record<string, string> = Object.create(null);
  for (const [name, bytes] of header) {
    const value = textOfHeader(bytes);
    const earlier = byName[name];
    byName[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return byName;
}

function base64Of(body: Uint8Array, maxBytes: number): string {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxBytes)).toString('base64');
}
