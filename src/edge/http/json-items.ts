/**
 * JSON from outside, limited before it is parsed: depth, number of values, and the items of a long array one by one.
 * A body of a hundred megabytes, or with a hundred thousand brackets or members, then does not block other requests.
 *
 * The scan recognises only brackets and strings. JSON.parse judges the rest, item by item.
 */
import { MAX_BODY_VALUES } from './http-limits.js';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  deeper,
  JSON_SLICE_BYTES,
  more,
  notJson,
  OPEN_ARRAY,
  OPEN_OBJECT,
  parsed,
  QUOTE,
} from './json-bounds.js';
import { endOfText, mustEnd, skipBlanks } from './json-texts.js';
import { LONG_BYTES, readLarge } from './large-json.js';
import { invalid, type RefusedRequest } from './refused.js';

export interface Item {
  readonly item: unknown;
  /** The item's body in UTF-8 if it is long; the body in `item` is empty then. */
  readonly body?: Buffer | undefined;
}

export interface ItemBounds {
  /** The noun for an item in the text of a refusal. */
  readonly what: string;
  /** Limit for the text of one item. */
  readonly maxBytes: number;
  readonly maxValues: number;
  /** Default: the depth of every body. */
  readonly maxDepth?: number;
  tooLong(): RefusedRequest;
}

/** Parses a whole body. @throws Refused 400 */
export function parseJson(body: Buffer): unknown {
  refuseExcess(body);
  return parsed(body);
}

/**
 * The items of a body that is an array, each when its text is complete; `undefined` where other requests may run.
 * @throws Refused 400; `tooLong` for an item above the limit
 */
export function* itemsOf(body: Buffer, bounds: ItemBounds): Generator<Item | undefined, void> {
  const { what, maxBytes, maxValues, maxDepth } = bounds;
  let at = skipBlanks(body, 0);
  if (body[at] !== OPEN_ARRAY) throw invalid('the body is not a JSON array');
  at = skipBlanks(body, at + 1);
  if (body[at] === CLOSE_ARRAY) return mustEnd(body, at + 1);
  let yieldAt = at + JSON_SLICE_BYTES;
  let from = at;
  let depth = 0;
  let commas = 0;
  let isInString = false;
  while (at < body.length) {
    if (at - from > maxBytes) throw bounds.tooLong();
    if (at >= yieldAt) {
      yieldAt = at + JSON_SLICE_BYTES;
      yield undefined;
    }
    if (isInString) {
      at = endOfText(body, at, yieldAt);
      isInString = body[at] !== QUOTE;
      if (!isInString) at += 1;
      continue;
    }
    const byte = body[at] as number;
    if (byte === QUOTE) isInString = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth = deeper(depth, maxDepth);
    else if (depth > 0 && (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) depth -= 1;
    else if (depth > 0 && byte === COMMA) commas = more(commas, what, maxValues);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY)) {
      const text = body.subarray(from, at);
      yield text.length > LONG_BYTES ? yield* largeItem(text, bounds) : { item: parsed(text) };
      if (byte === CLOSE_ARRAY) return mustEnd(body, at + 1);
      from = at + 1;
      commas = 0;
    }
    at += 1;
  }
  throw notJson();
}

function* largeItem(text: Buffer, { what, maxValues }: ItemBounds): Generator<undefined, Item> {
  const read = yield* readLarge(text, 'body', { what, maxValues });
  return { item: read.value, body: read.text };
}

function refuseExcess(body: Buffer): void {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at + 1, body.length);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth = deeper(depth);
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA) commas = more(commas, 'the body', MAX_BODY_VALUES);
  }
}
