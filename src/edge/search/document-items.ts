/**
 * The documents of an upsert's body: one, or an array of them. A long body is read document by document, so that others
 * run between.
 */
import { parsed } from '../http/json-bounds.js';
import { itemsOf } from '../http/json-items.js';
import { skipBlanks } from '../http/json-texts.js';
import { invalid } from '../http/refused.js';
import { LONG_UPSERT_BYTES, MAX_DOCUMENT_BYTES } from './face-limits.js';

const OPEN_ARRAY = 0x5b;

/** The length of a document is its only bound here: nothing walks through its values. */
const BOUNDS = {
  what: 'a document',
  maxBytes: MAX_DOCUMENT_BYTES,
  maxValues: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
  tooLong: () => invalid(`a document has more than ${MAX_DOCUMENT_BYTES} bytes as JSON`),
};

/**
 * Gives each as `JSON.parse` does, and `undefined` where others may run.
 * @throws Refused 400
 */
export function* documentItems(body: Buffer): Generator<{ readonly item: unknown } | undefined, void> {
  if (body.length <= LONG_UPSERT_BYTES) {
    const whole = parsed(body);
    for (const item of Array.isArray(whole) ? whole : [whole]) yield { item };
  } else if (body[skipBlanks(body, 0)] === OPEN_ARRAY) {
    yield* itemsOf(body, BOUNDS);
  } else {
    if (body.length > MAX_DOCUMENT_BYTES) throw BOUNDS.tooLong();
    yield { item: parsed(body) };
  }
}
