/**
 * The documents of an upsert's body: one, or an array of them. A long body is read document by document, so that others
 * run between.
 *
 * The scan knows brackets and strings only. What it lets through, JSON.parse judges, piece by piece.
 */
import { notJson, parsed, SLICE_BYTES } from '../queue/json-bounds.js';
import { endOfText, mustEnd, skipBlanks } from '../queue/json-texts.js';
import { invalid } from '../queue/refused.js';
import { LONG_BODY_BYTES, MAX_DOCUMENT_BYTES } from './face-limits.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Each as `JSON.parse` gives it; `undefined` where others may run.
 * @throws Refused 400
 */
export function* documentItems(body: Buffer): Generator<{ readonly item: unknown } | undefined, void> {
  if (body.length <= LONG_BODY_BYTES) {
    const whole = parsed(body);
    for (const item of Array.isArray(whole) ? whole : [whole]) yield { item };
    return;
  }
  const begin = skipBlanks(body, 0);
  const first = skipBlanks(body, begin + 1);
  if (body[begin] === OPEN_ARRAY && body[first] === CLOSE_ARRAY) mustEnd(body, first + 1);
  else if (body[begin] === OPEN_ARRAY) yield* itemsOf(body, first);
  else yield { item: parsed(bounded(body)) };
}

function* itemsOf(body: Buffer, begin: number): Generator<{ readonly item: unknown } | undefined, void> {
  let from = begin;
  let depth = 0;
  let breatheAt = begin + SLICE_BYTES;
  for (let at = begin; at < body.length; at += 1) {
    if (at >= breatheAt) {
      breatheAt = at + SLICE_BYTES;
      yield undefined;
    }
    const byte = body[at];
    if (byte === QUOTE) {
      at = endOfText(body, at + 1, body.length);
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1;
    } else if (depth > 0 && (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) {
      depth -= 1;
    } else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY)) {
      yield { item: parsed(bounded(body.subarray(from, at))) };
      from = at + 1;
      if (byte === CLOSE_ARRAY) return mustEnd(body, from);
    }
  }
  throw notJson();
}

/** What comes before the first item and behind the last is not counted: it is blank, or no JSON. */
function bounded(text: Buffer): Buffer {
  if (text.length > MAX_DOCUMENT_BYTES) throw invalid(`a document has more than ${MAX_DOCUMENT_BYTES} bytes as JSON`);
  return text;
}
