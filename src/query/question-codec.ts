/**
 * Codec of questions to the read models and of their answers, between threads and processes. Envelopes and bodies
 * that several events of a page share are sent once.
 *
 * Only the frame `[version, value]` has a declared shape: its content are the records of src/ports, with their
 * property names. These bytes are not stored, and an older release ignores properties that it does not know. A shape
 * for each record would only repeat its type.
 */
import type { DlqSelector, Envelope, MessageFilter } from '../domain/queue/index.js';
import { type AccountId, type DatabaseId, MillraceError } from '../kernel/index.js';
import { bothWays, opaque, versioned } from '../kernel/schema/index.js';
import type {
  BacklogQuery,
  LogQuery,
  MaybeBehind,
  MessageState,
  Period,
  RunEntriesQuery,
  RunEventQuery,
  RunLogFilter,
  RunQuery,
} from '../ports/index.js';

export type StatisticsQuestion =
  | { readonly of: 'database'; readonly id: DatabaseId; readonly period: Period; readonly nowMs: number }
  | { readonly of: 'databases'; readonly ids: readonly DatabaseId[]; readonly period: Period; readonly nowMs: number }
  | { readonly of: 'account'; readonly id: AccountId; readonly period: Period; readonly nowMs: number }
  | { readonly of: 'search'; readonly id: DatabaseId; readonly period: Period; readonly nowMs: number }
  | { readonly of: 'search-totals'; readonly ids: readonly DatabaseId[]; readonly nowMs: number };

export type Question =
  | { readonly kind: 'events'; readonly account: AccountId; readonly query: LogQuery; readonly seen: number }
  | {
      readonly kind: 'dlq';
      readonly account: AccountId;
      readonly selector: DlqSelector;
      readonly seen: number;
      readonly trimBytes?: number | undefined;
    }
  | {
      readonly kind: 'dlq-counts';
      readonly account: AccountId;
      readonly filter: MessageFilter;
      readonly seen: number;
    }
  | {
      readonly kind: 'event-counts';
      readonly account: AccountId;
      readonly filter: MessageFilter;
      readonly states: readonly MessageState[];
      readonly seen: number;
    }
  | { readonly kind: 'backlog'; readonly account: AccountId; readonly query: BacklogQuery; readonly seen: number }
  | { readonly kind: 'run-counts'; readonly account: AccountId; readonly filter: RunLogFilter; readonly seen: number }
  | { readonly kind: 'runs'; readonly account: AccountId; readonly query: RunQuery; readonly seen: number }
  | { readonly kind: 'run-events'; readonly account: AccountId; readonly query: RunEventQuery; readonly seen: number }
  | {
      readonly kind: 'run-entries';
      readonly account: AccountId;
      readonly query: RunEntriesQuery;
      readonly seen: number;
    }
  | { readonly kind: 'statistics'; readonly question: StatisticsQuestion };

const KINDS: ReadonlySet<string> = new Set<Question['kind']>([
  'events',
  'dlq',
  'dlq-counts',
  'event-counts',
  'backlog',
  'runs',
  'run-counts',
  'run-events',
  'run-entries',
  'statistics',
]);

/** Missing properties stay missing; optional members read as undefined. */
const [encodeFrame, decodeFrame] = bothWays(
  versioned(1, opaque<unknown>()),
  'a question to the read models, or its answer,',
  'INVALID',
);

/** Items of a page, and the cursor of the next one. */
export interface Page<Item> extends MaybeBehind {
  readonly items: readonly Item[];
  readonly next?: string | undefined;
}

/** An item with an envelope and a body, which several items of a page may share. */
interface Parcel {
  readonly envelope: Envelope;
  readonly body: Uint8Array;
}

type Shared<Item> = Omit<Item, keyof Parcel> & { readonly envelope: number; readonly body: number };

interface SharedPage<Item extends Parcel> extends Page<Shared<Item>> {
  readonly envelopes: readonly Envelope[];
  readonly bodies: readonly Uint8Array[];
}

export function encodeQuestion(question: Question): Uint8Array {
  return encodePlain(question);
}

/** @throws INVALID */
export function decodeQuestion(bytes: Uint8Array): Question {
  const question = decodePlain<Question>(bytes);
  if (!KINDS.has(question.kind)) throw unknownForm();
  return question;
}

/** Encodes a page of items with envelopes and bodies. */
export function encodeSharedPage<Item extends Parcel>({ items, next, behind }: Page<Item>): Uint8Array {
  const envelopes = new Map<Envelope, number>();
  const bodies = new Map<Uint8Array, number>();
  const rows = items.map((item) => ({
    ...item,
    envelope: numberOf(envelopes, item.envelope),
    body: numberOf(bodies, item.body),
  }));
  return encodePlain({ items: rows, envelopes: [...envelopes.keys()], bodies: [...bodies.keys()], next, behind });
}

/** @throws INVALID */
export function decodeSharedPage<Item extends Parcel>(bytes: Uint8Array): Page<Item> {
  const { items, envelopes, bodies, next, behind } = decodePlain<SharedPage<Item>>(bytes);
  const unshared = items.map((item) => ({ ...item, envelope: envelopes[item.envelope], body: bodies[item.body] }));
  return { items: unshared as Item[], next, ...(behind && { behind }) };
}

/** An answer without shared parts. */
export function encodePlain(value: object): Uint8Array {
  return encodeFrame(value);
}

/** @throws INVALID */
export function decodePlain<T>(bytes: Uint8Array): T {
  const value = decodeFrame(bytes);
  if (typeof value !== 'object' || value === null) throw unknownForm();
  return value as T;
}

function numberOf<T>(numbers: Map<T, number>, value: T): number {
  const known = numbers.get(value);
  if (known !== undefined) return known;
  numbers.set(value, numbers.size);
  return numbers.size - 1;
}

function unknownForm(): MillraceError {
  return new MillraceError('INVALID', 'a question to the read models, or its answer, has a form that is not known');
}
