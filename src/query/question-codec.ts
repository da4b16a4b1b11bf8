/**
 * Questions to the read models and their answers, as they travel between threads and processes. What many events of
 * a page share, envelopes and bodies, is sent once.
 */
import { decode, encode } from '@msgpack/msgpack';
import type { DlqSelector, Envelope } from '../domain/queue/index.js';
import { type AccountId, type DatabaseId, MillraceError } from '../kernel/index.js';
import type {
  DlqPage,
  DlqRow,
  LogEvent,
  LogPage,
  LogQuery,
  MaybeBehind,
  Period,
  RunEventPage,
  RunEventQuery,
  RunPage,
  RunQuery,
} from '../ports/index.js';

export type StatisticsQuestion =
  | { readonly of: 'database'; readonly id: DatabaseId; readonly period: Period; readonly nowMs: number }
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
  | { readonly kind: 'runs'; readonly account: AccountId; readonly query: RunQuery; readonly seen: number }
  | { readonly kind: 'run-events'; readonly account: AccountId; readonly query: RunEventQuery; readonly seen: number }
  | { readonly kind: 'statistics'; readonly question: StatisticsQuestion };

const KINDS: ReadonlySet<string> = new Set<Question['kind']>(['events', 'dlq', 'runs', 'run-events', 'statistics']);

/** Of this form; a process of another version that does not know it says so. */
const VERSION = 1;
/** What is absent stays absent: the members of these records that are optional read as undefined. */
const OPTIONS = { ignoreUndefined: true };

type Shared<Item extends { readonly envelope: Envelope; readonly body: Uint8Array }> = Omit<
  Item,
  'envelope' | 'body'
> & { readonly envelope: number; readonly body: number };

interface SharedPage<Item extends { readonly envelope: Envelope; readonly body: Uint8Array }> extends MaybeBehind {
  readonly items: readonly Shared<Item>[];
  readonly envelopes: readonly Envelope[];
  readonly bodies: readonly Uint8Array[];
  readonly next?: string | undefined;
}

export function encodeQuestion(question: Question): Uint8Array {
  return encode([VERSION, question], OPTIONS);
}

/** @throws INVALID */
export function decodeQuestion(bytes: Uint8Array): Question {
  const question = opened<Question>(bytes);
  if (!KINDS.has(question.kind)) throw unknownForm();
  return question;
}

export function encodeLogPage({ events, cursor, behind }: LogPage): Uint8Array {
  return encode([VERSION, { ...shared(events, cursor), behind }], OPTIONS);
}

/** @throws INVALID */
export function decodeLogPage(bytes: Uint8Array): LogPage {
  const page = opened<SharedPage<LogEvent>>(bytes);
  return { events: unshared(page), cursor: page.next, ...behindOf(page) };
}

export function encodeDlqPage({ entries, after, behind }: DlqPage): Uint8Array {
  return encode([VERSION, { ...shared(entries, after), behind }], OPTIONS);
}

/** @throws INVALID */
export function decodeDlqPage(bytes: Uint8Array): DlqPage {
  const page = opened<SharedPage<DlqRow>>(bytes);
  return { entries: unshared(page), after: page.next as DlqPage['after'], ...behindOf(page) };
}

export function encodeRunPage({ runs, cursor, behind }: RunPage): Uint8Array {
  return encode([VERSION, { items: runs, next: cursor, behind }], OPTIONS);
}

/** @throws INVALID */
export function decodeRunPage(bytes: Uint8Array): RunPage {
  const page = opened<{ items: RunPage['runs']; next?: string } & MaybeBehind>(bytes);
  return { runs: page.items, cursor: page.next, ...behindOf(page) };
}

export function encodeRunEventPage({ events, cursor, behind }: RunEventPage): Uint8Array {
  return encode([VERSION, { items: events, next: cursor, behind }], OPTIONS);
}

/** @throws INVALID */
export function decodeRunEventPage(bytes: Uint8Array): RunEventPage {
  const page = opened<{ items: RunEventPage['events']; next?: string } & MaybeBehind>(bytes);
  return { events: page.items, cursor: page.next, ...behindOf(page) };
}

/** An answer that shares nothing. */
export function encodePlain(value: object): Uint8Array {
  return encode([VERSION, value], OPTIONS);
}

/** @throws INVALID */
export function decodePlain<T>(bytes: Uint8Array): T {
  return opened<T>(bytes);
}

function shared<Item extends { readonly envelope: Envelope; readonly body: Uint8Array }>(
  items: readonly Item[],
  next: string | undefined,
): SharedPage<Item> {
  const envelopes = new Map<Envelope, number>();
  const bodies = new Map<Uint8Array, number>();
  const rows = items.map((item) => ({
    ...item,
    envelope: numberOf(envelopes, item.envelope),
    body: numberOf(bodies, item.body),
  }));
  return { items: rows, envelopes: [...envelopes.keys()], bodies: [...bodies.keys()], next };
}

function unshared<Item extends { readonly envelope: Envelope; readonly body: Uint8Array }>({
  items,
  envelopes,
  bodies,
}: SharedPage<Item>): Item[] {
  return items.map(
    (item) => ({ ...item, envelope: envelopes[item.envelope], body: bodies[item.body] }) as unknown as Item,
  );
}

function behindOf({ behind }: MaybeBehind): MaybeBehind {
  return behind === undefined ? {} : { behind };
}

function numberOf<T>(numbers: Map<T, number>, value: T): number {
  const known = numbers.get(value);
  if (known !== undefined) return known;
  numbers.set(value, numbers.size);
  return numbers.size - 1;
}

function opened<T>(bytes: Uint8Array): T {
  let value: unknown;
  try {
    value = decode(bytes);
  } catch (cause) {
    throw new MillraceError('INVALID', 'a question to the read models, or its answer, cannot be read', {}, cause);
  }
  if (!Array.isArray(value) || value[0] !== VERSION || typeof value[1] !== 'object' || value[1] === null) {
    throw unknownForm();
  }
  return value[1] as T;
}

function unknownForm(): MillraceError {
  return new MillraceError('INVALID', 'a question to the read models, or its answer, has a form that is not known');
}
