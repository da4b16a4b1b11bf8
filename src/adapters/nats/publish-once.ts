/**
 * One try of an append to a log, and the meaning of its answer. A code that the table here does not have is `unknown`,
 * because a wrong "not stored" loses a write. Appends are requests of the link (docs/decisions/dependencies.md).
 *
 *  PO1 `conflict` and `rejected` mean that this try has not stored the message and never will
 *  PO2 no de-duplication id and no expectation of a message id is ever sent: the latter can stop a
 *      stream for good on 2.14 and later
 */
import { type Msg, type MsgHdrs, headers as newHeaders } from 'nats';
import { assert, MillraceError } from '../../kernel/index.js';
import type { AppendOutcome } from '../../ports/index.js';
import type { NatsLink } from './link.js';
import { LinkFailure } from './link-failure.js';

export interface Publication {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** The stream that must store it: a guard against overlapping subjects. */
  readonly stream: string;
  /** Position of the stream's last message, 0 for an empty one. */
  readonly expectedLast?: number;
  readonly timeoutMs: number;
}

interface PublishAnswer {
  readonly stream?: string;
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly code: number; readonly err_code?: number; readonly description?: string };
}

/** Never throws. */
export function publishOnce(link: NatsLink, publication: Publication): Promise<AppendOutcome> {
  const { subject, bytes, timeoutMs } = publication;
  return new Promise((resolve) =>
    link.send(subject, bytes, { timeoutMs, headers: expectations(publication) }, (answer) =>
      resolve(answer instanceof LinkFailure ? outcomeOfFailure(answer) : outcomeOf(answer, publication)),
    ),
  );
}

function expectations({ stream, expectedLast }: Publication): MsgHdrs {
  const headers = newHeaders();
  headers.append('Nats-Expected-Stream', stream);
  if (expectedLast !== undefined) headers.append('Nats-Expected-Last-Sequence', `${expectedLast}`);
  return headers;
}

function outcomeOf({ data }: Msg, publication: Publication): AppendOutcome {
  const { stream, expectedLast } = publication;
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString();
  // Nearly always the expected answer, which is recognized by its bytes.
  const due = expectedLast === undefined ? 0 : expectedLast + 1;
  if (due > 0 && text === `{"stream":"${stream}","seq":${due}}`) return { kind: 'stored', position: due };
  try {
    return outcomeOfAnswer(JSON.parse(text) as PublishAnswer, publication);
  } catch (cause) {
    return { kind: 'unknown', cause };
  }
}

function outcomeOfAnswer(answer: PublishAnswer, { stream, expectedLast }: Publication): AppendOutcome {
  if (answer.error !== undefined) {
    return outcomeOfRefusal(answer.error.err_code ?? 0, answer.error.description ?? '');
  }
  const { seq } = answer;
  assert(answer.stream === stream && typeof seq === 'number' && seq > 0, 'an answer of another stream', { ...answer });
  if (answer.duplicate === true || (expectedLast !== undefined && seq !== expectedLast + 1)) {
    const message = 'the server stored an append at another position than the one it was asked to follow';
    return { kind: 'unknown', cause: new MillraceError('JOURNAL_DAMAGED', message, { stream, seq, expectedLast }) };
  }
  return { kind: 'stored', position: seq };
}

/** The outcome of a publish without an answer. */
export function outcomeOfFailure(cause: LinkFailure): AppendOutcome {
  switch (cause.kind) {
    case 'not-sent':
    case 'no-responders':
      return { kind: 'rejected', reason: cause.message, retryable: true };
    case 'refused':
      return { kind: 'rejected', reason: cause.message, retryable: false };
    default:
      return { kind: 'unknown', cause };
  }
}

/** Limits of a stream, an account or a node; space may become free again. */
const FULL = [10002, 10023, 10028, 10047, 10167];
/** Another conditional publish to this subject is in flight; its writer is unknown. */
const ANOTHER_IN_FLIGHT = 10164;
const NOT_NOW = new Set([...FULL, ANOTHER_IN_FLIGHT]);
/** Mistakes of this program: wrong expectation, wrong stream, sealed, too large, misused options. */
const MISTAKES = new Set([
  10070, 10060, 10109, 10054, 10097, 10165, 10166, 10188, 10189, 10190, 10191, 10192, 10193, 10199, 10210,
]);
const WRONG_LAST_SEQUENCE = 10071;
const STORE_FAILED = 10077;
/** The store's texts for its limits; after any other failure of the store, bytes may be stored. */
const STORE_LIMIT = /^(maximum (messages|bytes)|message size exceeds|maximum messages per subject)/i;

/** The outcome for an error code in the answer to a publish. Source: the server's JetStream error codes, and tests of their effects on the stream. */
export function outcomeOfRefusal(errorCode: number, description: string): AppendOutcome {
  const reason = `${description} (${errorCode})`;
  if (errorCode === WRONG_LAST_SEQUENCE) return { kind: 'conflict', last: numberAtEnd(description) };
  if (NOT_NOW.has(errorCode)) return { kind: 'rejected', reason, retryable: true };
  if (MISTAKES.has(errorCode)) return { kind: 'rejected', reason, retryable: false };
  if (errorCode === STORE_FAILED && STORE_LIMIT.test(description)) return { kind: 'rejected', reason, retryable: true };
  return { kind: 'unknown', cause: new MillraceError('JOURNAL_UNAVAILABLE', reason, { errorCode }) };
}

function numberAtEnd(description: string): number | undefined {
  const match = /(\d+)\s*$/.exec(description);
  return match === null ? undefined : Number(match[1]);
}
