/** What lists, hashes, sets and sorted sets have in common: members, a page at a time. */
import { CallError } from '../../../../api/call.js';
import { pipeline, type Reply, transaction, type Word, type Words } from '../../../../api/kv.js';

export interface CollectionMember {
  /** Tells the members of a page apart. */
  readonly id: string;
  /** The rest by the type. Names and values are binary strings. */
  readonly index?: number;
  readonly name?: string;
  readonly value?: string;
  readonly score?: string;
  /** Null: it stays. */
  readonly ttlMs?: number | null;
}

export interface Place {
  readonly id: string;
  readonly key: Word;
}

export interface PageAsk extends Place {
  /** A pattern of names, or the index that a list is shown from; '' for none. */
  readonly filter: string;
  /** '' for the first page. */
  readonly cursor: string;
  readonly isReversed: boolean;
}

export interface MemberPage {
  readonly members: readonly CollectionMember[];
  /** Undefined: it was the last one. */
  readonly next: string | undefined;
}

/** What a form of a member says; empty where the type has no such part. */
export interface Edited {
  readonly name: string;
  readonly value: string;
  readonly score: string;
  /** Seconds, or '' for none. */
  readonly ttl: string;
  readonly isAtHead: boolean;
}

export type Part = 'index' | 'name' | 'value' | 'score' | 'ttl';

export interface CollectionKind {
  readonly parts: readonly Part[];
  readonly nameLabel: string;
  readonly filterLabel: string;
  /** Its members can be shown from the other end. */
  readonly hasOrder: boolean;
  /** What an existing member keeps in any case. */
  readonly isNameFixed: boolean;
  load(ask: PageAsk): Promise<MemberPage>;
  /** @param before undefined: a new one. @throws CallError */
  save(place: Place, before: CollectionMember | undefined, next: Edited): Promise<void>;
  /** @throws CallError */
  remove(place: Place, member: CollectionMember): Promise<void>;
}

export const PAGE_MEMBERS = 100;

/** All of them, or none. @throws CallError with the first error */
export async function done(id: string, commands: readonly Words[]): Promise<readonly Reply[]> {
  const results = commands.length === 1 ? await pipeline(id, commands) : await transaction(id, commands);
  return results.map((result) => {
    if ('error' in result) throw new CallError(400, result.error);
    return result.result;
  });
}

/** Answers without a member, one after the other, before somebody is asked whether to look on. */
const MAX_EMPTY_ANSWERS = 50;

/** A page of `HSCAN` and its like. A pattern may meet nothing of many answers: they are passed over. */
export async function scanned(
  name: 'HSCAN' | 'SSCAN' | 'ZSCAN',
  { id, key, cursor, filter }: PageAsk,
): Promise<{ readonly items: readonly string[]; readonly next: string | undefined }> {
  const match = filter === '' ? [] : ['MATCH', filter];
  let at = cursor || '0';
  for (let asked = 0; asked < MAX_EMPTY_ANSWERS; asked += 1) {
    const [reply] = await done(id, [[name, key, at, 'COUNT', PAGE_MEMBERS, ...match]]);
    const [next, items] = reply as readonly [string, readonly string[]];
    if (next === '0') return { items, next: undefined };
    if (items.length > 0) return { items, next };
    at = next;
  }
  return { items: [], next: at };
}

/** Every two of a flat list. */
export function pairs(items: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: items.length / 2 }, (_, at) => [items[2 * at] ?? '', items[2 * at + 1] ?? ''] as const);
}
