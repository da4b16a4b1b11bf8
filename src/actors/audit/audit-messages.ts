/**
 * Messages with the notes of an account.
 *
 *  AXM1 the messages of an entry and their sequences follow from the entry alone, so a repetition is recognised
 */
import { auditLine } from '../../domain/control/index.js';
import { type AccountTerms, askedCall, derivedMessageId, type SequencedCall } from '../../domain/queue/index.js';
import { type AccountId, bytesOfText, MillraceError } from '../../kernel/index.js';
import type { HttpOut, Random } from '../../ports/index.js';
import { sequenceAfter } from '../triggers/index.js';
import type { PlacedNote } from './audit-notes.js';

/** One message in flight at a time keeps the order. */
export const EXPORT_QUEUE = 'audit-export';
export const EXPORT_LABEL = 'millrace-audit';
/** Most lines have half a kilobyte, the longest a few. */
const MAX_BODY_BYTES = 64 * 1024;

export interface ExportTerms {
  readonly account: AccountId;
  readonly url: string;
  /** Of the queue. */
  readonly terms: AccountTerms;
}

export interface ExportedAccounts {
  /** The first queue of the account. @throws SHARD_UNAVAILABLE when it is not known here yet */
  queueOf(account: AccountId): { readonly id: AccountId; readonly terms: AccountTerms };
}

export interface ExportPorts {
  readonly random: Random;
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
}

/** @param notes of one account, by entry, in order. @throws INVALID with the queue's text */
export function* messagesOf(
  ports: ExportPorts,
  terms: ExportTerms,
  notes: readonly PlacedNote[],
): Iterable<SequencedCall> {
  for (let from = 0; from < notes.length; ) {
    const { position } = notes[from] as PlacedNote;
    let to = from;
    while (notes[to]?.position === position) to += 1;
    const bodies = bodiesOf(notes.slice(from, to));
    for (const [part, body] of bodies.entries()) {
      const isLast = part === bodies.length - 1;
      const sequence = isLast ? sequenceAfter(position) : sequenceAfter(position - 1) + 1 + part;
      yield {
        sequence,
        call: callOf(ports, terms, `audit ${terms.account} ${sequence}`, { body, atMs: noteTime(notes[from]) }),
      };
    }
    from = to;
  }
}

/** Why the account's queue does not accept messages to the URL. */
export function refusedExport(ports: ExportPorts, terms: ExportTerms, nowMs: number): string | undefined {
  try {
    callOf(ports, terms, 'audit', { body: '', atMs: nowMs });
    return undefined;
  } catch (error) {
    if (error instanceof MillraceError) return error.message;
    throw error;
  }
}

function noteTime(placed: PlacedNote | undefined): number {
  return placed?.note.atMs ?? 0;
}

function bodiesOf(notes: readonly PlacedNote[]): readonly string[] {
  const bodies: string[] = [];
  let body = '';
  for (const { note } of notes) {
    const line = `${JSON.stringify(auditLine(note))}\n`;
    if (body !== '' && Buffer.byteLength(body) + Buffer.byteLength(line) > MAX_BODY_BYTES) {
      bodies.push(body);
      body = '';
    }
    body += line;
  }
  return [...bodies, body];
}

function callOf(
  { random, destinations }: ExportPorts,
  { url, terms }: ExportTerms,
  identity: string,
  { body, atMs }: { readonly body: string; readonly atMs: number },
): SequencedCall['call'] {
  const options = ['HEADER', 'Content-Type', 'application/x-ndjson', 'LABEL', EXPORT_LABEL, 'QUEUE', EXPORT_QUEUE];
  const words = [url, body, ...options].map(bytesOfText);
  const refusalOf = (target: string) => destinations.refusalOf(target);
  const asked = askedCall('publish', words, { account: terms, nowMs: atMs, random, refusalOf });
  if (!asked.isOk) throw new MillraceError('INVALID', asked.message);
  if (asked.call.kind !== 'publish') throw new MillraceError('DEFECT', 'an export publishes');
  return { kind: 'publish', item: { ...asked.call.item, id: derivedMessageId(identity) } };
}
