/** The common interface of lists, hashes, sets and sorted sets: members, page by page. */
import { CallError } from '../../../../api/call.js';
import { pipeline, type Reply, transaction } from '../../../../api/kv.js';
import type { Word, Words } from '../../../../api/kv-bytes.js';

export interface CollectionMember {
  /** Unique among the members of a page. */
  readonly id: string;
  /** The other fields depend on the type. Names and values are binary strings. */
  readonly index?: number;
  readonly name?: string;
  readonly value?: string;
  readonly score?: string;
  /** Null: no expiry. */
  readonly ttlMs?: number | null;
}

export interface Place {
  readonly id: string;
  readonly key: Word;
}

export interface PageAsk extends Place {
  /** A pattern of names, or the first index of a list; '' for none. */
  readonly filter: string;
  /** '' for the first page. */
  readonly cursor: string;
  readonly isReversed: boolean;
}

export interface MemberPage {
  readonly members: readonly CollectionMember[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

/** The values of a member's form; empty for parts that the type does not have. */
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
  /** Its members can also be shown in reverse order. */
  readonly hasOrder: boolean;
  /** The name of an existing member cannot be edited. */
  readonly isNameFixed: boolean;
  load(ask: PageAsk): Promise<MemberPage>;
  /** @param before undefined: a new member. @throws CallError */
  save(place: Place, before: CollectionMember | undefined, next: Edited): Promise<void>;
  /** @throws CallError */
  remove(place: Place, member: CollectionMember): Promise<void>;
}

export const PAGE_MEMBERS = 100;

/** Runs all commands or none. @throws CallError with the first error */
export async function done(id: string, commands: readonly Words[]): Promise<readonly Reply[]> {
  const results = commands.length === 1 ? await pipeline(id, commands) : await transaction(id, commands);
  return results.map((result) => {
    if ('error' in result) throw new CallError(400, result.error);
    return result.result;
  });
}

/** Consecutive empty answers before the user is asked whether to continue. */
const MAX_EMPTY_ANSWERS = 50;

/** A page of `HSCAN` and similar commands. Many answers may have no match for a pattern; they are skipped. */
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

/** The pairs of a flat list. */
export function pairs(items: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: items.length / 2 }, (_, at) => [items[2 * at] ?? '', items[2 * at + 1] ?? ''] as const);
}
