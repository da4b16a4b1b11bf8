/** The JSON family: documents read and changed by path, compatible with Redis's JSON module. */

import { at, NO_KEYS, span } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { family, READS, row } from '../rows.js';
import { append, insert, pop, trim } from './arrays.js';
import { type JsonRun, running } from './documents.js';
import { arrayLength, indexOf, memory, names, objectLength, stringLength } from './measure.js';
import { get, getMany, help, resp, type } from './read.js';
import { clear, remove } from './remove.js';
import { appendString, calculate, toggle } from './scalars.js';
import { mergeInto, set, setMany } from './set.js';

const read = { flags: ['readonly'] } as const;
/** Every command that changes a document also returns information about it. */
const write = { flags: ['write'], keyNeeds: 'both' } as const;
const grow = { flags: ['write', 'denyoom'], keyNeeds: 'both' } as const;

/** Columns for a command about the document at its first key. */
function about(kind: typeof read | typeof write | typeof grow, run: JsonRun, ...deviations: readonly string[]) {
  const columns = { ...kind, ...running(run, at(1)) };
  return deviations.length === 0 ? columns : { ...columns, deviations };
}

const deepestFirst = 'Recursive matches come deepest first; the module of Redis lists parents first.';
const nullPerMatch = 'A match of another type answers null where the path begins with `$`.';

export const JSON_FAMILY: readonly CommandSpec[] = family('json', [
  row('JSON.SET', -4, '8.0.0', 'Sets the JSON value at a path.', {
    ...about(grow, set),
    deviations: [
      'Containers nest 128 deep at most wherever the value is put.',
      'Integers of up to 64 bits stay integers; larger ones become floats.',
      'FORMAT BSON and FPHA are refused.',
    ],
  }),
  row('JSON.MSET', -4, '8.0.0', 'Sets JSON values at paths of several keys, all of them or none.', {
    ...grow,
    ...running(setMany, span(1, -1, 3)),
  }),
  row('JSON.MERGE', -4, '8.0.0', 'Merges a JSON value into those at a path.', about(grow, mergeInto, deepestFirst)),
  row('JSON.GET', -2, '8.0.0', 'Returns the JSON values at one or several paths.', {
    ...about(read, get),
    deviations: [deepestFirst, 'Of several paths one that is not valid is an error; the module leaves it out.'],
  }),
  row('JSON.MGET', -3, '8.0.0', 'Returns the JSON values at a path in several keys.', {
    ...read,
    ...running(getMany, span(1, -2)),
    deviations: [deepestFirst, 'A path that is not valid is an error; the module answers nulls.'],
  }),
  row('JSON.DEL', -2, '8.0.0', 'Deletes the JSON values at a path.', about(write, remove)),
  row('JSON.FORGET', -2, '8.0.0', 'Deletes the JSON values at a path.', about(write, remove)),
  row('JSON.CLEAR', -2, '8.0.0', 'Empties containers and sets numbers to 0.', about(write, clear)),
  row('JSON.TYPE', -2, '8.0.0', 'Names the types of the JSON values at a path.', about(read, type, deepestFirst)),
  row('JSON.STRLEN', -2, '8.0.0', 'Returns the bytes of JSON strings.', about(read, stringLength, deepestFirst)),
  row('JSON.STRAPPEND', -3, '8.0.0', 'Appends to JSON strings.', about(grow, appendString, deepestFirst, nullPerMatch)),
  row('JSON.NUMINCRBY', 4, '8.0.0', 'Adds to JSON numbers.', {
    ...about(write, calculate('plus', 'json.numincrby')),
    deviations: [deepestFirst, nullPerMatch, 'A sum beyond 64 bits becomes a float.'],
  }),
  row('JSON.NUMMULTBY', 4, '8.0.0', 'Multiplies JSON numbers.', {
    ...about(write, calculate('times', 'json.nummultby')),
    deviations: [deepestFirst, nullPerMatch, 'A product beyond 64 bits becomes a float.'],
  }),
  row('JSON.NUMPOWBY', 4, '8.0.0', 'Raises JSON numbers to a power.', {
    ...about(write, calculate('power', 'json.numpowby')),
    deviations: [deepestFirst, nullPerMatch, 'A power beyond 64 bits, or to a negative exponent, is a float.'],
  }),
  row('JSON.TOGGLE', 3, '8.0.0', 'Turns JSON booleans around.', about(write, toggle, deepestFirst, nullPerMatch)),
  row('JSON.ARRAPPEND', -4, '8.0.0', 'Appends to JSON arrays.', about(grow, append, deepestFirst)),
  row('JSON.ARRINDEX', -4, '8.0.0', 'Finds a value in JSON arrays.', about(read, indexOf, deepestFirst)),
  row('JSON.ARRINSERT', -5, '8.0.0', 'Inserts into JSON arrays.', about(grow, insert, deepestFirst)),
  row('JSON.ARRLEN', -2, '8.0.0', 'Returns the lengths of JSON arrays.', about(read, arrayLength, deepestFirst)),
  row('JSON.ARRPOP', -2, '8.0.0', 'Takes an item out of JSON arrays.', {
    ...about(write, pop),
    deviations: [deepestFirst, 'An index that is no integer is an error; the module takes the last item.'],
  }),
  row('JSON.ARRTRIM', 5, '8.0.0', 'Keeps a range of JSON arrays.', about(write, trim, deepestFirst)),
  row('JSON.OBJKEYS', -2, '8.0.0', 'Returns the names in JSON objects.', about(read, names, deepestFirst)),
  row('JSON.OBJLEN', -2, '8.0.0', 'Returns the sizes of JSON objects.', about(read, objectLength, deepestFirst)),
  row('JSON.RESP', -2, '8.0.0', 'Returns a JSON value as nested replies.', about(read, resp)),
  row('JSON.DEBUG MEMORY', -3, '8.0.0', 'Estimates the bytes JSON values take.', {
    ...read,
    ...running(memory, at(2)),
    deviations: ['The number is of this implementation.'],
  }),
  row('JSON.DEBUG HELP', 2, '8.0.0', 'Lists the subcommands of JSON.DEBUG.', {
    ...READS,
    keys: NO_KEYS,
    handler: help,
  }),
]);
