/** Values of a document as replies other than JSON text. */
import { BooleanReply, DoubleReply, MapReply, type Reply, SimpleString } from '../../reply.js';
import {
  isContainer,
  type JsonNumber,
  type JsonValue,
  SLICE_VALUES,
  type Steps,
  stringifyJson,
  WholeFloat,
} from '../../types/json/index.js';

const OPEN_ARRAY = new SimpleString('[');
const OPEN_OBJECT = new SimpleString('{');

/** The reply of JSON.RESP. @param met counts values across calls, for slicing */
export function* respOf(value: JsonValue, met: { values: number }): Steps<Reply> {
  met.values += 1;
  if (met.values % SLICE_VALUES === 0) yield;
  if (typeof value === 'boolean') return new SimpleString(String(value));
  if (!isContainer(value)) return scalarReply(value);
  const replies: Reply[] = [];
  if (Array.isArray(value)) {
    replies.push(OPEN_ARRAY);
    for (const item of value) replies.push(yield* respOf(item, met));
  } else {
    replies.push(OPEN_OBJECT);
    for (const [name, member] of value) replies.push(name, yield* respOf(member, met));
  }
  return replies;
}

/** The value as RESP3 types; containers are JSON text unless `isDeep`. */
export function expanded(value: JsonValue, isDeep: boolean): Reply {
  if (typeof value === 'boolean') return new BooleanReply(value);
  if (!isContainer(value)) return scalarReply(value);
  if (!isDeep) return stringifyJson(value);
  if (Array.isArray(value)) return value.map((item) => expanded(item, true));
  const items: Reply[] = [];
  for (const [name, member] of value) items.push(name, expanded(member, true));
  return new MapReply(items);
}

function scalarReply(value: null | string | JsonNumber): Reply {
  return typeof value === 'string' || value === null ? value : numberReply(value);
}

/** An integer or a double. */
export function numberReply(value: JsonNumber): Reply {
  if (value instanceof WholeFloat) return new DoubleReply(value.value);
  return typeof value === 'bigint' || Number.isInteger(value) ? value : new DoubleReply(value);
}
