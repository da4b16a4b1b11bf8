/**
 * Filters of lists and bulk calls, from the query and, where a call has one, from its JSON body.
 *
 * Invariants
 *  CFI1 a parameter that is not known is refused: a typing error must not act on everything
 *  CFI2 an empty value or an empty list is refused too, for the same reason
 *  CFI3 with a list of ids all other filters are left out of account
 */
import { type MessageFilter, nameProblem, parseWholeNumber } from '../../domain/queue/index.js';
import { calledUrl } from '../../kernel/index.js';
import type { MessageState } from '../../ports/index.js';
import { membersOf } from '../http/checked.js';
import { parseJson } from '../http/json-items.js';
import { invalid } from '../http/refused.js';
import type { QueueCall } from './queue-call.js';
import { MAX_CALL_FILTER_VALUES } from './queue-limits.js';

/** Texts by parameter, in order. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

/** Once a filter, and still sent by clients. */
const LEFT_OUT = 'api';

/** What pages end with. */
export const CURSOR = /^\d{1,16}-\d{1,16}$/;

/** Parameter → where it goes, for filters that take several texts. */
const TEXT_FILTERS = {
  messageId: 'messageId',
  messageIds: 'messageId',
  url: 'url',
  host: 'host',
  path: 'path',
  topicName: 'topicName',
  queueName: 'queueName',
  scheduleId: 'scheduleId',
  label: 'label',
  flowControlKey: 'flowControlKey',
  callerIp: 'callerIp',
  callerIP: 'callerIp',
} as const satisfies Record<string, keyof MessageFilter>;

/** A URL may have commas: a list of URLs is split where the next one begins. */
export const URL_SEPARATOR = /,(?=https?:\/\/)/i;
const SEPARATORS: Readonly<Record<string, RegExp>> = {
  url: URL_SEPARATOR,
  workflowUrl: URL_SEPARATOR,
  path: /,(?=\/)/,
};

/** @throws Refused 400: CFI1, CFI2 */
export function queryParameters(query: string, known: ReadonlySet<string>): Parameters {
  return grouped(new URLSearchParams(query), known);
}

/**
 * The parameters of a call about many things: those of its query, and the members of its body, which may be texts,
 * numbers, flags or lists of them.
 * @param one what a longer path names one of
 * @throws Refused 400
 */
export function bulkParameters(
  { path, words: { rest }, body }: QueueCall,
  known: ReadonlySet<string>,
  one: string,
): Parameters {
  refuseLostId(path, one);
  const pairs = [...new URLSearchParams(rest)] as [string, string][];
  if (body.length === 0) return grouped(pairs, known);
  for (const [name, given] of membersOf(parseJson(body))) {
    const values = Array.isArray(given) ? given : [given];
    if (values.length === 0) throw invalid(`${name} is empty`);
    for (const value of values) {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
        throw invalid(`${name} must be text or a list of texts`);
      pairs.push([name, String(value)]);
    }
  }
  return grouped(pairs, known);
}

/** A call about one thing whose id a client has lost would be about all of them. @throws Refused 400 */
export function refuseLostId(path: string, one: string): void {
  if (path.endsWith('/')) throw invalid(`the ${one} id is missing`);
}

function grouped(pairs: Iterable<readonly [string, string]>, known: ReadonlySet<string>): Parameters {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    if (name === LEFT_OUT) continue;
    if (!known.has(name)) throw invalid(`unknown parameter ${name}`);
    if (value === '') throw invalid(`${name} is empty`);
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

/** @throws Refused 400 */
export function filterOf(parameters: Parameters): MessageFilter {
  const texts: { [Name in (typeof TEXT_FILTERS)[keyof typeof TEXT_FILTERS]]?: string[] } = {};
  for (const [parameter, member] of Object.entries(TEXT_FILTERS)) {
    const values = textsOf(parameters, parameter) ?? [];
    const wanted = member === 'url' ? urlsWanted(values) : values;
    if (wanted.length > 0) texts[member] = [...(texts[member] ?? []), ...wanted];
  }
  const responseStatus = numbersOf(parameters, 'responseStatus');
  return given({ ...texts, responseStatus, ...periodOf(parameters) });
}

/** @throws Refused 400 */
export function periodOf(parameters: Parameters): { fromMs: number | undefined; toMs: number | undefined } {
  return { fromMs: instantOf(parameters, 'fromDate'), toMs: instantOf(parameters, 'toDate') };
}

/** @returns undefined when it was not given. @throws Refused 400 */
export function textsOf(parameters: Parameters, name: string): string[] | undefined {
  return unlessNone(valuesOf(parameters, name, MAX_CALL_FILTER_VALUES));
}

/** @returns undefined when it was not given. @throws Refused 400 */
export function numbersOf(parameters: Parameters, name: string): number[] | undefined {
  return textsOf(parameters, name)?.map((text) => wholeNumber(name, text));
}

export function unlessNone<T>(values: T[]): T[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** A filter without those members that were not given. */
export function given<Filter extends object>(asked: { readonly [Name in keyof Filter]: Filter[Name] | undefined }) {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Filter;
}

/** URLs as they were given, which is how earlier releases kept them, and as they are called, which records show. */
export function urlsWanted(given: readonly string[]): string[] {
  return [...new Set([...given, ...given.map(calledUrl)])];
}

/**
 * States by the words for them, in any case of letters.
 * @returns none when it was not given. @throws Refused 400 for a word that no state has
 */
export function statesIn<State>(parameters: Parameters, statesByWord: ReadonlyMap<string, readonly State[]>): State[] {
  const states = valuesOf(parameters, 'state', MAX_CALL_FILTER_VALUES).flatMap((word) => {
    const named = statesByWord.get(word.toUpperCase());
    if (named === undefined) throw invalid(`unknown state ${word}`);
    return named;
  });
  return [...new Set(states)];
}

/** The words for states: the states themselves, and words that clients use for one or several of them. */
export function wordsForStates<State extends string>(
  states: readonly State[],
): ReadonlyMap<string, readonly (State | MessageState)[]> {
  return new Map<string, readonly (State | MessageState)[]>([
    ...states.map((state): [string, State[]] => [state, [state]]),
    ['CANCELLED', ['CANCELED']],
    ['IN_PROGRESS', ['ACTIVE', 'RETRY', 'ERROR']],
  ]);
}

/** Several parameters of a name, values with commas in them, or both. @throws Refused 400 */
export function valuesOf(parameters: Parameters, name: string, most: number): string[] {
  const separator = SEPARATORS[name] ?? ',';
  const values = (parameters.get(name) ?? []).flatMap((text) => text.split(separator).map((part) => part.trim()));
  if (values.includes('')) throw invalid(`${name} is empty`);
  if (values.length > most) throw invalid(`${name} has more than ${most} values`);
  return values;
}

/** @returns undefined when it was not given. @throws Refused 400 */
export function countOf(parameters: Parameters, most: number): number | undefined {
  const text = single(parameters, 'count');
  if (text === undefined) return undefined;
  const count = parseWholeNumber(text);
  if (count === undefined || count < 1 || count > most) throw invalid(`count must be a whole number from 1 to ${most}`);
  return count;
}

/** @throws Refused 400 */
export function orderOf(
  parameters: Parameters,
  otherwise: 'earliestFirst' | 'latestFirst',
): 'earliestFirst' | 'latestFirst' {
  const text = single(parameters, 'order') ?? otherwise;
  if (text !== 'earliestFirst' && text !== 'latestFirst') throw invalid('order must be earliestFirst or latestFirst');
  return text;
}

/** Where a page of a list goes on: the end of the one before. @throws Refused 400 */
export function cursorOf(parameters: Parameters): string | undefined {
  const cursor = single(parameters, 'cursor');
  if (cursor !== undefined && !CURSOR.test(cursor)) throw invalid('cursor is not one of ours');
  return cursor;
}

/** @throws Refused 400 when it came more than once */
export function single(parameters: Parameters, name: string): string | undefined {
  const values = parameters.get(name);
  if (values !== undefined && values.length > 1) throw invalid(`${name} was given more than once`);
  return values?.[0];
}

/** Is the list to be grouped? There is one way to group each. @throws Refused 400 for another */
export function isGrouped(parameters: Parameters, by: string): boolean {
  const groupBy = single(parameters, 'groupBy');
  if (groupBy !== undefined && groupBy !== by) throw invalid(`groupBy must be ${by}`);
  return groupBy !== undefined;
}

/** Bytes of each body that are shown; -1: none; undefined: all. @throws Refused 400 */
export function trimOf(parameters: Parameters): number | undefined {
  const text = single(parameters, 'trimBody');
  if (text === undefined || text === '-1') return text === undefined ? undefined : -1;
  return wholeNumber('trimBody', text);
}

/** @returns false when it was not given. @throws Refused 400 */
export function flagOf(parameters: Parameters, name: string): boolean {
  const text = single(parameters, name)?.toLowerCase() ?? 'false';
  if (text !== 'true' && text !== 'false') throw invalid(`${name} must be true or false`);
  return text === 'true';
}

/** @returns undefined when it was not given. @throws Refused 400 */
export function instantOf(parameters: Parameters, name: string): number | undefined {
  const text = single(parameters, name);
  return text === undefined ? undefined : wholeNumber(name, text);
}

/** A name in the path. @param what it is the name of. @throws Refused 400 */
export function checkedName(what: string, name = ''): string {
  const problem = nameProblem(what, name);
  if (problem !== undefined) throw invalid(problem);
  return name;
}

/** @throws Refused 400 */
export function wholeNumber(name: string, text: string): number {
  const number = parseWholeNumber(text);
  if (number === undefined) throw invalid(`${name} must be a whole number`);
  return number;
}
