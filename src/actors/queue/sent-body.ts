/**
 * Makes the body that an attempt sends: the message's own bytes; for a step, the list of its run's entries, made when
 * it is sent so that no bytes are stored twice; for a failure message, its JSON with the run's payload.
 *
 *  SB1 a list begins with the payload and ends with the delivered entry
 *  SB2 a list that is too long for one request is left out where the endpoint can fetch it
 *  SB3 bytes are joined in slices, and other work runs in between
 */
import { createHash } from 'node:crypto';
import { type BodyRef, carriesBody } from '../../domain/queue/index.js';
import type { RunEntry } from '../../domain/queue/runs/index.js';
import { assert, bufferOver, unreachable } from '../../kernel/index.js';
import type { PartitionBodies, StartedAttempt } from './account-queue.js';
import type { SentList, SentLists } from './sent-lists.js';

/** The longest list for an endpoint that cannot fetch it; a longer one would take too much memory. */
export const MAX_SENT_LIST_BYTES = 64 * 1024 * 1024;

const NOTHING = new Uint8Array(0);
const BEFORE_ID = '{"messageId":"';
const BEFORE_BODY = '","body":"';
const AFTER_BODY = '","callType":"step"}';
const FRAME_BYTES = BEFORE_ID.length + BEFORE_BODY.length + AFTER_BODY.length;
/** Where the payload goes into a failure message; the text after it is short. */
const PAYLOAD_PLACE = '"sourceBody":""';
/** Bytes encoded between two pauses, about half a millisecond; whole groups of base64. */
const SLICE_BYTES = 384 * 1024;
/** Longer bodies are hashed in slices, because a megabyte takes nearly a millisecond. */
const HASHED_AT_ONCE_BYTES = 512 * 1024;
/** The fixed cost of a piece, in bytes that take the same time. */
const PIECE_COST_BYTES = 512;
/** Bodies read in parallel when they are not in memory. */
const LOADED_AT_ONCE = 32;

/** The facts from which the body is made. */
export interface BodyPlan {
  readonly refs: readonly BodyRef[];
  /** `list-left-out`: the body is empty and the endpoint fetches the list. `too-long`: it cannot be sent. */
  readonly kind: 'own' | 'list' | 'list-left-out' | 'too-long' | 'failure';
  readonly entries: readonly RunEntry[];
  /** The known beginning of the list; `refs` belong to the later entries. */
  readonly begun?: SentList | undefined;
  /** The length of the list as it is sent. */
  readonly bytes: number;
}

/** @param inlineBytes  the longest list that is sent to an endpoint that could fetch it */
export function planOf(
  { envelope, body, run }: StartedAttempt,
  inlineBytes: number,
  lists?: Pick<SentLists, 'beginningOf'>,
): BodyPlan {
  const own = { refs: [body], kind: 'own', entries: [], bytes: body.bytes } as const;
  if (run === undefined) return own;
  const { part, entries } = run;
  if (part.role === 'failure') return { ...own, refs: [body, part.payload], kind: 'failure' };
  if (part.role !== 'step') return own;
  const bytes = listBytes(entries);
  if (bytes > inlineBytes && envelope.workflow?.canFetch === true) {
    return { refs: [], kind: 'list-left-out', entries: [], bytes: 0 };
  }
  if (bytes > MAX_SENT_LIST_BYTES) return { refs: [], kind: 'too-long', entries: [], bytes };
  const begun = lists?.beginningOf(entries);
  const added = begun === undefined ? entries : entries.slice(begun.entries.length);
  return { refs: added.map((entry) => entry.body), kind: 'list', entries, begun, bytes };
}

/** A call by a method without a body is sent without one, except to a workflow endpoint. */
export function isSentWithoutBody({ envelope, run }: StartedAttempt): boolean {
  return !carriesBody(envelope.settings.method) && (run === undefined || run.part.role === 'call');
}

/** True when the callback contains the sent body. A run's failure message contains the run's payload instead. */
export function tellsOfSent(attempt: StartedAttempt): boolean {
  return attempt.run === undefined ? hasCallback(attempt) : attempt.run.part.role === 'call';
}

/** True when the callback, or a run's failure function, receives the whole answer of the destination. */
export function tellsOfAnswer(attempt: StartedAttempt): boolean {
  return attempt.run !== undefined || hasCallback(attempt);
}

function hasCallback({ envelope }: StartedAttempt): boolean {
  const { callback, failureCallback } = envelope.settings;
  return callback !== undefined || failureCallback !== undefined;
}

export interface SentBody {
  readonly body: Uint8Array;
  /** The SHA-256 of a large body, as base64url; the signer hashes others. */
  readonly hash: string | undefined;
}

/** Undefined: not all of them are in memory. */
export function keptContents(
  refs: readonly BodyRef[],
  bodies: Pick<PartitionBodies, 'get'>,
): readonly Uint8Array[] | undefined {
  const contents: Uint8Array[] = [];
  for (const { number } of refs) {
    const content = number === 0 ? NOTHING : bodies.get(number);
    if (content === undefined) return undefined;
    contents.push(content);
  }
  return contents;
}

/** @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED */
export async function loadedContents(
  refs: readonly BodyRef[],
  bodies: Pick<PartitionBodies, 'get' | 'load'>,
): Promise<readonly Uint8Array[]> {
  const contents: Uint8Array[] = [];
  for (let from = 0; from < refs.length; from += LOADED_AT_ONCE) {
    const some = refs.slice(from, from + LOADED_AT_ONCE);
    const loads = some.map(({ number }) => (number === 0 ? NOTHING : (bodies.get(number) ?? bodies.load(number))));
    contents.push(...(await Promise.all(loads)));
  }
  return contents;
}

/**
 * Joins the body in slices (SB3).
 * @param contents  of the plan's `refs`, in their order
 * @param lists     keeps the list as the beginning of later ones
 * @returns the body, last
 */
export function* putTogether(
  plan: BodyPlan,
  contents: readonly Uint8Array[],
  lists?: Pick<SentLists, 'keep'>,
): Generator<void, Uint8Array> {
  switch (plan.kind) {
    case 'own':
      return contents[0] ?? NOTHING;
    case 'list':
      return yield* listOf(plan, contents, lists);
    case 'failure':
      return yield* withPayload(contents[0] ?? NOTHING, contents[1] ?? NOTHING);
    case 'list-left-out':
    case 'too-long':
      return NOTHING;
    default:
      return unreachable(plan.kind);
  }
}

function* listOf(
  { entries, begun, bytes }: BodyPlan,
  contents: readonly Uint8Array[],
  lists: Pick<SentLists, 'keep'> | undefined,
): Generator<void, Uint8Array> {
  const list = new Writing(bytes);
  // All bytes except the closing bracket.
  if (begun !== undefined) list.bytes(begun.body.subarray(0, begun.body.byteLength - 1));
  const from = begun?.entries.length ?? 0;
  for (let at = from; at < entries.length; at += 1) {
    const { messageId } = entries[at] as RunEntry;
    const before = `${at === 0 ? '[' : ','}${BEFORE_ID}${messageId}${BEFORE_BODY}`;
    yield* list.base64(contents[at - from] ?? NOTHING, before, AFTER_BODY);
  }
  list.text(']');
  const body = list.done();
  lists?.keep({ entries, body });
  return body;
}

function* withPayload(json: Uint8Array, payload: Uint8Array): Generator<void, Uint8Array> {
  const written = bufferOver(json);
  const found = written.lastIndexOf(PAYLOAD_PLACE);
  if (found < 0 || payload.byteLength === 0) return json;
  const place = found + PAYLOAD_PLACE.length - 1;
  const message = new Writing(written.byteLength + base64Length(payload.byteLength));
  message.bytes(written.subarray(0, place));
  yield* message.base64(payload, '', '');
  message.bytes(written.subarray(place));
  return message.done();
}

/** Hashes a body in slices (SB3). @returns the body and its hash, last */
export function* hashed(steps: Iterable<void, Uint8Array>): Generator<void, SentBody> {
  const body = yield* steps;
  if (body.byteLength <= HASHED_AT_ONCE_BYTES) return { body, hash: undefined };
  const hash = createHash('sha256');
  for (let from = 0; from < body.byteLength; from += HASHED_AT_ONCE_BYTES) {
    yield;
    hash.update(body.subarray(from, from + HASHED_AT_ONCE_BYTES));
  }
  return { body, hash: hash.digest('base64url') };
}

const NO_PAUSES: Iterable<void> = [];

/** A buffer that is filled from the start to the end. */
class Writing {
  readonly #buffer: Buffer;
  #at = 0;
  #sincePause = 0;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(bytes);
  }

  /** ASCII. */
  text(text: string): void {
    this.#at += this.#buffer.write(text, this.#at, 'latin1');
  }

  bytes(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.byteLength;
  }

  /** @returns its pauses, usually none */
  base64(content: Uint8Array, before: string, after: string): Iterable<void> {
    const cost = content.byteLength + PIECE_COST_BYTES;
    if (this.#sincePause + cost > SLICE_BYTES) return this.#base64InSlices(bufferOver(content), before, after);
    this.#sincePause += cost;
    this.text(before + bufferOver(content).toString('base64') + after);
    return NO_PAUSES;
  }

  *#base64InSlices(source: Buffer, before: string, after: string): Iterable<void> {
    this.text(before);
    for (let from = 0; from === 0 || from < source.byteLength; from += SLICE_BYTES) {
      yield;
      const to = Math.min(source.byteLength, from + SLICE_BYTES);
      this.text(source.toString('base64', from, to));
      this.#sincePause = to - from + PIECE_COST_BYTES;
    }
    this.text(after);
  }

  done(): Uint8Array {
    assert(this.#at === this.#buffer.byteLength, 'an assembled body does not have its planned length', {
      written: this.#at,
      planned: this.#buffer.byteLength,
    });
    return this.#buffer;
  }
}

function listBytes(entries: readonly RunEntry[]): number {
  // One comma fewer than entries, and two brackets.
  let bytes = entries.length * (FRAME_BYTES + 1) + 1;
  for (const { messageId, body } of entries) bytes += messageId.length + base64Length(body.bytes);
  return bytes;
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
