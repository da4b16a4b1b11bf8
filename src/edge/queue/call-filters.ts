/**
 * Filters of lists and bulk calls, from the query and, if the call has one, from its JSON body.
 *
 *  CFI1 an unknown parameter is refused: a typing error must not apply the call to everything
 *  CFI2 an empty value or list is refused for the same reason
 *  CFI3 with a list of ids all other filters are ignored
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

/** A former filter that clients still send. */
const LEFT_OUT = 'api';

/** The format of a page's cursor. */
export const CURSOR = /^\d{1,16}-\d{1,16}$/;

/** The filter member for each parameter that takes several texts. */
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
  priority: 'priority',
} as const satisfies Record<string, keyof MessageFilter>;

/** URLs may contain commas: a list of URLs is split only where the next URL begins. */
export const URL_SEPARATOR = /,(?=https?:\/\/)/i;
const SEPARATORS: Readonly<Record<string, RegExp>> = {
  url: URL_SEPARATOR,
  workflowUrl: URL_SEPARATOR,
  path: /,(?=\/)/,
};

/** @throws Refused 400: CFI1 (unknown parameters), CFI2 (empty values) */
export function queryParameters(query: string, known: ReadonlySet<string>): Parameters {
  return grouped(new URLSearchParams(query), known);
}

/**
 * The parameters of a bulk call: those of its query, and the members of its body, which may be texts, numbers, flags
 * or lists.
 * @param one the noun for the id in a longer path
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
  return grouped([...pairs, ...memberPairs(membersOf(parseJson(body)))], known);
}

/** The parameters among the members of a body. @throws Refused 400 */
export function memberParameters(members: Iterable<[string, unknown]>, known: ReadonlySet<string>): Parameters {
  return grouped(memberPairs(members), known);
}

function* memberPairs(members: Iterable<[string, unknown]>): Iterable<[string, string]> {
  for (const [name, given] of members) {
    const values = Array.isArray(given) ? given : [given];
    if (values.length === 0) throw invalid(`${name} is empty`);
    for (const value of values) {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
        throw invalid(`${name} must be text or a list of texts`);
      yield [name, String(value)];
    }
  }
}

/** Refuses a path with an empty id, which would otherwise apply to all. @throws Refused 400 */
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

/** @returns undefined if it is missing. @throws Refused 400 */
export function textsOf(parameters: Parameters, name: string): string[] | undefined {
  return unlessNone(valuesOf(parameters, name, MAX_CALL_FILTER_VALUES));
}

/** @returns undefined if it is missing. @throws Refused 400 */
export function numbersOf(parameters: Parameters, name: string): number[] | undefined {
  return textsOf(parameters, name)?.map((text) => wholeNumber(name, text));
}

export function unlessNone<T>(values: T[]): T[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** The filter without its undefined members. */
export function given<Filter extends object>(asked: { readonly [Name in keyof Filter]: Filter[Name] | undefined }) {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Filter;
}

/** URLs as given, as earlier releases stored them, and in the normalised form that records show. */
export function urlsWanted(given: readonly string[]): string[] {
  return [...new Set([...given, ...given.map(calledUrl)])];
}

/**
 * States by their names, in any case of letters.
 * @returns an empty list if missing. @throws Refused 400 for an unknown name
 */
export function statesIn<State>(parameters: Parameters, statesByWord: ReadonlyMap<string, readonly State[]>): State[] {
  const states = valuesOf(parameters, 'state', MAX_CALL_FILTER_VALUES).flatMap((word) => {
    const named = statesByWord.get(word.toUpperCase());
    if (named === undefined) throw invalid(`unknown state ${word}`);
    return named;
  });
  return [...new Set(states)];
}

/** Names of states: the states themselves, and clients' names for one or several of them. */
export function wordsForStates<State extends string>(
  states: readonly State[],
): ReadonlyMap<string, readonly (State | MessageState)[]> {
  return new Map<string, readonly (State | MessageState)[]>([
    ...states.map((state): [string, State[]] => [state, [state]]),
    ['CANCELLED', ['CANCELED']],
    ['IN_PROGRESS', ['ACTIVE', 'RETRY', 'ERROR']],
  ]);
}

/** The values of a parameter, which may be repeated, comma-separated, or both. @throws Refused 400 */
export function valuesOf(parameters: Parameters, name: string, most: number): string[] {
  const separator = SEPARATORS[name] ?? ',';
  const values = (parameters.get(name) ?? []).flatMap((text) => text.split(separator).map((part) => part.trim()));
  if (values.includes('')) throw invalid(`${name} is empty`);
  if (values.length > most) throw invalid(`${name} has more than ${most} values`);
  return values;
}

/** @returns undefined if it is missing. @throws Refused 400 */
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

/** The cursor from the end of the previous page. @throws Refused 400 */
export function cursorOf(parameters: Parameters): string | undefined {
  const cursor = single(parameters, 'cursor');
  if (cursor !== undefined && !CURSOR.test(cursor))
    throw invalid('cursor is invalid: give the cursor of an earlier response');
  return cursor;
}

/** @throws Refused 400 if it is repeated */
export function single(parameters: Parameters, name: string): string | undefined {
  const values = parameters.get(name);
  if (values !== undefined && values.length > 1) throw invalid(`${name} was given more than once`);
  return values?.[0];
}

/** Is the list grouped? Each list has one grouping. @throws Refused 400 for another */
export function isGrouped(parameters: Parameters, by: string): boolean {
  const groupBy = single(parameters, 'groupBy');
  if (groupBy !== undefined && groupBy !== by) throw invalid(`groupBy must be ${by}`);
  return groupBy !== undefined;
}

/** Bytes of each body to show; -1: none; undefined: all. @throws Refused 400 */
export function trimOf(parameters: Parameters): number | undefined {
  const text = single(parameters, 'trimBody');
  if (text === undefined || text === '-1') return text === undefined ? undefined : -1;
  return wholeNumber('trimBody', text);
}

/** @returns false if it is missing. @throws Refused 400 */
export function flagOf(parameters: Parameters, name: string): boolean {
  const text = single(parameters, name)?.toLowerCase() ?? 'false';
  if (text !== 'true' && text !== 'false') throw invalid(`${name} must be true or false`);
  return text === 'true';
}

/** @returns undefined if it is missing. @throws Refused 400 */
export function instantOf(parameters: Parameters, name: string): number | undefined {
  const text = single(parameters, name);
  return text === undefined ? undefined : wholeNumber(name, text);
}

/** A name in the path. @param subject the noun for the refusal. @throws Refused 400 */
export function checkedName(subject: string, name = ''): string {
  const problem = nameProblem(subject, name);
  if (problem !== undefined) throw invalid(problem);
  return name;
}

/** @throws Refused 400 */
export function wholeNumber(name: string, text: string): number {
  const number = parseWholeNumber(text);
  if (number === undefined) throw invalid(`${name} must be a whole number`);
  return number;
}
