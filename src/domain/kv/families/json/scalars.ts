/**
 * Changing numbers, booleans and strings: JSON.NUMINCRBY, JSON.NUMMULTBY, JSON.NUMPOWBY, JSON.TOGGLE, JSON.STRAPPEND.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { mapped } from '../../slices.js';
import {
  type Arithmetic,
  compilePath,
  formatNumber,
  isJsonNumber,
  type JsonNumber,
  type JsonPlace,
  type JsonValue,
  ownBytes,
  pathOf,
  quoted,
  readJson,
  reckon,
  type Steps,
  ValuePace,
  writeJson,
} from '../../types/json/index.js';
import { documentToChange, JsonChange, missingPath, pathAt, placesOf, wrongPathType } from './documents.js';
import { numberReply } from './replies.js';

const badNumber = new ErrorReply('ERR bad input number');
const notANumber = new ErrorReply('ERR result is not a number');

/**
 * JSON.NUMINCRBY, JSON.NUMMULTBY, JSON.NUMPOWBY key path number → JSON text: for a `$` path the list of results with
 * null for other types; for a legacy path the last result. RESP3: a list of numbers.
 */
export function calculate(how: Arithmetic, event: string): (context: CommandContext) => Steps<Reply> {
  return function* (context) {
    const document = documentToChange(context);
    const path = pathAt(context, 2);
    const places = yield* placesOf(document, path);
    const { value: operand } = yield* readJson(context.args.bytes(3));
    if (!isJsonNumber(operand)) throw badNumber;
    const results = yield* mapped(places, ({ value }): JsonNumber | null => {
      if (!isJsonNumber(value)) return null;
      const result = reckon(how, value, operand);
      if (result === undefined) throw notANumber;
      return result;
    });
    const numbers = results.filter((result) => result !== null);
    if (path.isLegacy && numbers.length === 0) throw missingPath(path, 'does not contains a number');
    const change = new JsonChange(context, context.args.bytes(1), document);
    const pace = new ValuePace();
    for (const [index, place] of places.entries()) {
      if (pace.isDue(4)) yield;
      const value = results[index] ?? null;
      if (value === null) continue;
      yield* document.put(place, { value, bytes: ownBytes(value) });
      change.effect('JSON.SET', pathOf(place), [formatNumber(value)]);
    }
    yield* change.finish(event);
    if (context.protocol === 3) {
      return yield* mapped(results, (result) => (result === null ? null : numberReply(result)));
    }
    return path.isLegacy ? formatNumber(numbers.at(-1) as JsonNumber) : yield* writeJson(results);
  };
}

/** JSON.TOGGLE key path → 1 or 0 for each match, null for other types; `true` or `false` for a legacy path. */
export function* toggle(context: CommandContext): Steps<Reply> {
  const document = documentToChange(context);
  const path = pathAt(context, 2);
  const places = yield* placesOf(document, path);
  const change = new JsonChange(context, context.args.bytes(1), document);
  const results: (boolean | null)[] = [];
  const pace = new ValuePace();
  for (const place of places) {
    if (pace.isDue(4)) yield;
    if (typeof place.value !== 'boolean') {
      results.push(null);
      continue;
    }
    const value = !place.value;
    results.push(value);
    yield* document.put(place, { value, bytes: ownBytes(value) });
    change.effect('JSON.SET', pathOf(place), [String(value)]);
  }
  if (path.isLegacy && !change.isChanged) throw missingPath(path, 'not a bool');
  yield* change.finish('json.toggle');
  if (path.isLegacy) return String(results.findLast((result) => result !== null));
  return yield* mapped(results, (result) => (result === null ? null : Number(result)));
}

/** JSON.STRAPPEND key [path] json → the new length of each string, null for other types. */
export function* appendString(context: CommandContext): Steps<Reply> {
  const { args, isReplay } = context;
  const hasPath = args.length > 3;
  const path = compilePath(hasPath ? args.bytes(2) : '.', isReplay);
  const document = documentToChange(context);
  const { value: suffix } = yield* readJson(args.bytes(hasPath ? 3 : 2));
  const places = yield* placesOf(document, path);
  if (typeof suffix !== 'string') throw wrongPathType('string', suffix);
  const strings = places.filter(({ value }) => typeof value === 'string');
  if (path.isLegacy && strings.length === 0) throw missingPath(path, 'not a string');
  requireRecordSize(context, document.bytes + strings.length * suffix.length);
  const change = new JsonChange(context, args.bytes(1), document);
  const pace = new ValuePace();
  for (const place of strings) {
    if (pace.isDue(4)) yield;
    yield* appendTo(change, place, suffix);
  }
  yield* change.finish('json.strappend');
  const lengths = yield* mapped(places, ({ value }) =>
    typeof value === 'string' ? value.length + suffix.length : null,
  );
  return path.isLegacy ? (lengths.findLast((length) => length !== null) as number) : lengths;
}

function* appendTo(change: JsonChange, place: JsonPlace, suffix: ByteString): Steps<void> {
  const value: JsonValue = (place.value as ByteString) + suffix;
  yield* change.document.put(place, { value, bytes: ownBytes(value) });
  if (suffix !== '') change.effect('JSON.STRAPPEND', pathOf(place), [quoted(suffix)]);
}
