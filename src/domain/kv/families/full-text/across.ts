/**
 * How a command about an index is answered in a database of several partitions. The key of the index is in the
 * partition of its name; every partition has the part with its own documents, made from the definition that comes with
 * each question. The steps are questions to partitions; the edge asks them (`portions-of-several.ts`).
 *
 * Partitions are asked at about the same time, so an answer may have a part of the changes made during it.
 *
 *  ACI1 the documents, counts and scores are those of one index over all keys
 */
import type { ByteString } from '../../../../kernel/index.js';
import { Args } from '../../args.js';
import { DoubleReply, ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { createWordsOf } from './create.js';
import { listWordsOf } from './manage.js';

type Words = readonly ByteString[];

/** A question to one partition or to all. */
export interface IndexQuestion {
  /** The partition of this key is asked; undefined: all partitions. */
  readonly key: ByteString | undefined;
  /** The commands for a partition; none: it is not asked. */
  commandsFor(partition: number): readonly Words[];
}

/** Takes the replies of the partitions asked, in their order, to each of their commands. */
export type IndexSteps = Generator<IndexQuestion, Reply, readonly (readonly Reply[])[]>;
type Answers<T> = Generator<IndexQuestion, T, readonly (readonly Reply[])[]>;

/** The steps for a client's command with `acrossPartitions: 'index'` in its row. */
export function* acrossIndex(words: Words): IndexSteps {
  try {
    return yield* stepsOf(words);
  } catch (refusal) {
    if (refusal instanceof ErrorReply) return refusal;
    throw refusal;
  }
}

function stepsOf(words: Words): IndexSteps {
  switch ((words[0] as ByteString).toUpperCase()) {
    case 'SEARCH.QUERY':
      return query(words);
    case 'SEARCH.COUNT':
      return count(words);
    case 'SEARCH.AGGREGATE':
      return aggregate(words);
    case 'SEARCH.DESCRIBE':
      return describe(words);
    case 'SEARCH.WAITINDEXING':
      return onAll(words, 'SEARCH.AWAIT');
    case 'SEARCH.REINDEX':
      return onAll(words, 'SEARCH.REBUILD');
    case 'SEARCH.CREATE':
      return create(words);
    case 'SEARCH.DROP':
      return drop(words);
    case 'SEARCH.LISTINDEXES':
      return listIndexes(words);
    case 'SEARCH.LISTALIASES':
      return listAliases(words);
    default:
      // Aliases are in the partition of their name.
      return ofKey(words);
  }
}

/** The answer of SEARCH.PLAN for an index that exists. */
interface Plan {
  readonly name: ByteString;
  readonly text: ByteString;
  readonly isScored: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly hasContent: boolean;
  readonly direction: ByteString;
}

/** @returns undefined: there is no such index */
function* planned(words: Words): Answers<Plan | undefined> {
  let name = words[1] as ByteString;
  let [reply] = yield* askOf(name, ['SEARCH.PLAN', ...words]);
  let [kind, text] = reply as Words;
  if (kind === 'alias') {
    name = text as ByteString;
    [reply] = yield* askOf(name, ['SEARCH.PLAN', ...words.with(1, name)]);
    [kind, text] = reply as Words;
  }
  if (kind !== 'index') return undefined;
  return planOf(name, reply as readonly Reply[]);
}

function planOf(name: ByteString, reply: readonly Reply[]): Plan {
  const [, text, isScored, offset, limit, hasContent, direction] = reply;
  return {
    name,
    text: text as ByteString,
    isScored: isScored === 1,
    offset: Number(offset ?? 0),
    limit: Number(limit ?? 0),
    hasContent: hasContent === 1,
    direction: (direction ?? '') as ByteString,
  };
}

function* query(words: Words): IndexSteps {
  const plan = yield* planned(words);
  if (plan === undefined) return null;
  const { offset, limit, hasContent, direction } = plan;
  const totals = plan.isScored ? (yield* statistics(plan, words)).join(',') : '';
  const partWords = (from: number, most: number, withContent: boolean) => [
    ...['SEARCH.PART', plan.text, plan.name, totals, String(from), String(most), withContent ? '1' : '0'],
    ...words,
  ];
  // Contents are fetched only for the page, so the first question of a later page is for the order alone.
  const isOneStep = !hasContent || offset === 0;
  const most = offset + limit;
  const first = yield* askParts(plan, () => partWords(0, most, hasContent && isOneStep));
  const parts = first as readonly (readonly Document[])[];
  const order = pageOf(parts, compareOf(direction), offset, limit);
  if (isOneStep) return order.map(({ partition, place }) => parts[partition]?.[place] as Document);
  // The documents of the page are neighbours in the list of each partition.
  const froms = parts.map((_, partition) => order.find((one) => one.partition === partition)?.place ?? 0);
  const counts = parts.map((_, partition) => order.filter((one) => one.partition === partition).length);
  const pages = (yield* askParts(plan, (partition) => {
    const wanted = counts[partition] as number;
    return wanted === 0 ? undefined : partWords(froms[partition] as number, wanted, true);
  })) as readonly (readonly Document[])[];
  return order.flatMap(({ partition, place }) => {
    const document = pages[partition]?.[place - (froms[partition] as number)];
    return document === undefined ? [] : [document];
  });
}

/** The sums of all partitions. */
function* statistics(plan: Plan, words: Words): Answers<number[]> {
  const parts = (yield* askParts(plan, () => [
    ...['SEARCH.STATISTICS', plan.text, plan.name],
    ...words,
  ])) as readonly (readonly number[])[];
  const [first = []] = parts;
  return first.map((_, place) => parts.reduce((sum, numbers) => sum + Number(numbers[place] ?? 0), 0));
}

type Document = readonly [key: ByteString, score: Reply, ...rest: Reply[]];

interface Placed {
  readonly partition: number;
  readonly place: number;
}

/** Merges lists that are in order; equal documents are in the order of their partitions. */
function pageOf(
  parts: readonly (readonly Document[])[],
  compare: (a: Reply, b: Reply) => number,
  offset: number,
  limit: number,
): Placed[] {
  const places = parts.map(() => 0);
  const page: Placed[] = [];
  for (let rank = 0; rank < offset + limit; rank += 1) {
    let best: number | undefined;
    for (const [partition, documents] of parts.entries()) {
      const own = documents[places[partition] as number];
      if (own === undefined) continue;
      const leader = best === undefined ? undefined : parts[best]?.[places[best] as number];
      if (leader === undefined || compare(own[1], leader[1]) < 0) best = partition;
    }
    if (best === undefined) break;
    const place = places[best] as number;
    if (rank >= offset) page.push({ partition: best, place });
    places[best] = place + 1;
  }
  return page;
}

/** Scores, best first; or values of a field, of which missing ones are last. */
function compareOf(direction: ByteString): (a: Reply, b: Reply) => number {
  const isAscending = direction === 'ASC';
  return (a, b) => {
    const [left, right] = [plainOf(a), plainOf(b)];
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    const compared = left < right ? -1 : left > right ? 1 : 0;
    return isAscending ? compared : -compared;
  };
}

function plainOf(reply: Reply): ByteString | number | bigint | null {
  if (reply instanceof DoubleReply) return reply.value;
  return typeof reply === 'object' ? null : reply;
}

function* count(words: Words): IndexSteps {
  const plan = yield* planned(words);
  if (plan === undefined) return -1;
  const counts = yield* askParts(plan, () => ['SEARCH.COUNTED', plan.text, plan.name, ...words]);
  return counts.reduce<number>((sum, one) => sum + Number(one), 0);
}

function* aggregate(words: Words): IndexSteps {
  const plan = yield* planned(words);
  if (plan === undefined) return null;
  const { text, name } = plan;
  const states = (yield* askParts(plan, () => ['SEARCH.STATES', text, name, ...words])) as readonly ByteString[];
  const joined = yield* askOf(name, ['SEARCH.JOIN', text, name, String(states.length), ...states, ...words]);
  return joined[0] as Reply;
}

function* describe(words: Words): IndexSteps {
  const plan = yield* planned(words);
  if (plan === undefined) return null;
  const [described] = yield* askOf(plan.name, words.with(1, plan.name));
  const parts = (yield* askParts(plan, () => ['SEARCH.SIZES', plan.text, plan.name])) as readonly (readonly Reply[])[];
  const shown = [...(described as readonly Reply[])];
  for (const [place, name] of ['indexSize', 'pendingUpdates'].entries()) {
    const at = shown.indexOf(name) + 1;
    shown[at] = parts.reduce<number>((sum, part) => sum + Number(part[place]), 0);
  }
  return shown;
}

/** Waits for, or rebuilds, all parts. */
function* onAll(words: Words, command: 'SEARCH.AWAIT' | 'SEARCH.REBUILD'): IndexSteps {
  const plan = yield* planned(words);
  if (plan === undefined) return 0;
  yield* askParts(plan, () => [command, plan.text, plan.name]);
  return 1;
}

/** The parts are begun after the key is stored. A part that cannot be reached is made with the first question. */
function* create(words: Words): IndexSteps {
  const name = words[1] as ByteString;
  const [replies = []] = yield { key: name, commandsFor: () => [words, ['SEARCH.PLAN', ...words]] };
  const [created, reply] = replies;
  if (created instanceof ErrorReply || !Array.isArray(reply) || reply[0] !== 'index') return created as Reply;
  const { text } = planOf(name, reply as readonly Reply[]);
  const { skipsExisting } = createWordsOf(new Args(words));
  const isNew = created === 1;
  yield { key: undefined, commandsFor: () => [followWords(text, name, isNew, isNew && skipsExisting)] };
  return created as Reply;
}

function* drop(words: Words): IndexSteps {
  const name = words[1] as ByteString;
  const [replies = []] = yield { key: name, commandsFor: () => [['SEARCH.PLAN', ...words], words] };
  const [reply, dropped] = replies;
  if (dropped === 1 && Array.isArray(reply) && reply[0] === 'index') {
    const { text } = planOf(name, reply as readonly Reply[]);
    yield { key: undefined, commandsFor: () => [['SEARCH.UNFOLLOW', text, name]] };
  }
  return dropped as Reply;
}

function* listIndexes(words: Words): IndexSteps {
  const { limit, offset } = listWordsOf(new Args(words));
  const pattern = words.findIndex((word, at) => at % 2 === 1 && word.toUpperCase() === 'MATCH');
  const own = pattern < 0 ? [] : words.slice(pattern, pattern + 2);
  const listed = yield* listOf(['SEARCH.LISTINDEXES', ...own], (item) => item[1] as ByteString);
  return listed.slice(offset, offset + limit);
}

function listAliases(words: Words): IndexSteps {
  return listOf(words, ([alias]) => alias as ByteString);
}

function* listOf(words: Words, nameOf: (item: readonly Reply[]) => ByteString): Answers<Reply[]> {
  const replies = refused(yield { key: undefined, commandsFor: () => [words] });
  const items = replies.flatMap(([own]) => own as readonly (readonly Reply[])[]);
  return items.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function* ofKey(words: Words): IndexSteps {
  const [reply] = yield* askOf(words[1] as ByteString, words);
  return reply as Reply;
}

/** @throws ErrorReply when it is the answer */
function* askOf(key: ByteString, words: Words): Answers<readonly Reply[]> {
  const [replies = []] = refused(yield { key, commandsFor: () => [words] });
  return replies;
}

/**
 * Asks every partition's part, which is made if it does not exist. @param wordsFor undefined: the partition is not
 * asked, and its reply is an empty list @throws ErrorReply
 */
function* askParts(
  { text, name }: Plan,
  wordsFor: (partition: number) => Words | undefined,
): Answers<readonly Reply[]> {
  const commandsFor = (partition: number) => {
    const words = wordsFor(partition);
    return words === undefined ? [] : [followWords(text, name, false, false), words];
  };
  const replies = refused(yield { key: undefined, commandsFor });
  return replies.map((own) => own[1] ?? []);
}

function followWords(text: ByteString, name: ByteString, isNew: boolean, skipsExisting: boolean): Words {
  return ['SEARCH.FOLLOW', text, name, isNew ? '1' : '0', skipsExisting ? '1' : '0'];
}

/** @throws ErrorReply the first one */
function refused(replies: readonly (readonly Reply[])[]): readonly (readonly Reply[])[] {
  for (const reply of replies.flat()) if (reply instanceof ErrorReply) throw reply;
  if (replies.length === 0) throw ERRORS.syntax;
  return replies;
}
