/**
 * JSON from outside, limited before it is parsed: depth, number of values, and the items of a long array one by one.
 * A body of a hundred megabytes, or with a hundred thousand brackets or members, then does not block other requests.
 */
import { MAX_BODY_VALUES } from './http-limits.js';
import {
  CLOSE_ARRAY,
  COMMA,
  END,
  type JsonLimits,
  JsonScanner,
  notJson,
  OPEN_ARRAY,
  PAUSE,
  parsed,
  skipBlanks,
} from './json-scanner.js';
import { LONG_BYTES, readLarge } from './large-json.js';
import { invalid, type RefusedRequest } from './refused.js';

export interface Item {
  readonly item: unknown;
  /** The item's body in UTF-8 if it is long; the body in `item` is empty then. */
  readonly body?: Buffer | undefined;
}

/** `subject`: the noun for an item. */
export interface ItemBounds extends JsonLimits {
  /** Limit for the text of one item. */
  readonly maxBytes: number;
  tooLong(): RefusedRequest;
}

/** Parses a whole body. @throws Refused 400 */
export function parseJson(body: Buffer): unknown {
  const scanner = new JsonScanner(body, { subject: 'the body', maxValues: MAX_BODY_VALUES });
  while (scanner.next() !== END);
  return parsed(body);
}

/**
 * The items of a body that is an array, each when its text is complete; `undefined` where other requests may run.
 * @throws Refused 400; `tooLong` for an item above the limit
 */
export function* itemsOf(body: Buffer, bounds: ItemBounds): Generator<Item | undefined, void> {
  const open = skipBlanks(body, 0);
  if (body[open] !== OPEN_ARRAY) throw invalid('the body is not a JSON array');
  let from = skipBlanks(body, open + 1);
  if (body[from] === CLOSE_ARRAY) return mustEnd(body, from + 1);
  const scanner = new JsonScanner(body, bounds, from);
  for (let token = scanner.next(); token !== END; token = scanner.next()) {
    const end = scanner.at - 1;
    if (end - from > bounds.maxBytes) throw bounds.tooLong();
    if (token === PAUSE) yield undefined;
    const isLast = token === CLOSE_ARRAY && scanner.depth < 0;
    if (!isLast && (token !== COMMA || scanner.depth > 0)) continue;
    const text = body.subarray(from, end);
    yield text.length > LONG_BYTES ? yield* largeItem(text, bounds) : { item: parsed(text) };
    if (isLast) return mustEnd(body, scanner.at);
    from = scanner.at;
    scanner.commas = 0;
  }
  throw notJson();
}

function* largeItem(text: Buffer, { subject, maxValues }: ItemBounds): Generator<undefined, Item> {
  const read = yield* readLarge(text, 'body', { subject, maxValues });
  return { item: read.value, body: read.text };
}

/** @throws Refused 400 if more than blanks follow */
function mustEnd(body: Buffer, from: number): void {
  if (skipBlanks(body, from) !== body.length) throw notJson();
}
