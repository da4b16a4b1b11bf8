/** Writing values: JSON.SET, JSON.MSET, JSON.MERGE. All arguments are validated before the first change. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ERRORS, ErrorReply, OK, type Reply, wrongArity } from '../../reply.js';
import {
  compilePath,
  copied,
  JsonDocument,
  type JsonMembers,
  type JsonPath,
  type JsonPlace,
  lastOfStatic,
  levelOf,
  matchesOf,
  measured,
  outermost,
  pathOf,
  type ReadJson,
  readJson,
  type Steps,
  tokenText,
  ValuePace,
} from '../../types/json/index.js';
import { JsonChange, notAtRoot, requireDepth, requireDepthBelow } from './documents.js';
import { merge } from './merge.js';

type Condition = 'NX' | 'XX' | undefined;

const notStatic = new ErrorReply('ERR wrong static path');
const outOfRange = new ErrorReply('ERR array index out of range');
const wrongFormat = new ErrorReply('ERR wrong format');

/**
 * JSON.SET key path json [NX | XX] [FORMAT JSON] → OK, or null if the condition does not hold or a parent is missing.
 */
export function* set(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  const condition = readOptions(context, true);
  const key = args.bytes(1);
  const document = keyspace.fetchKind(key, JsonDocument);
  const given = yield* readJson(args.bytes(3));
  if (document === undefined) {
    if (condition === 'XX') return null;
    create(context, key, args.bytes(2), given, 'json.set');
    return OK;
  }
  const plan = yield* planSet(context, document, args.bytes(2), given, condition);
  return (yield* applySet(context, key, document, plan, 'json.set')) ? OK : null;
}

function readOptions({ args }: CommandContext, takesCondition: boolean): Condition {
  let condition: Condition;
  for (let i = 4; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'FORMAT') {
      i += 1;
      if (!/^(JSON|STRING)$/.test(args.bytes(i))) throw wrongFormat;
    } else if (takesCondition && condition === undefined && (option === 'NX' || option === 'XX')) {
      condition = option;
    } else throw ERRORS.syntax;
  }
  return condition;
}

function isRootText(path: ByteString): boolean {
  return path === '$' || path === '.';
}

/** @throws ErrorReply */
function requireCreatable(context: CommandContext, path: ByteString, given: ReadJson): void {
  if (!isRootText(path)) throw notAtRoot;
  requireRecordSize(context, given.bytes);
}

function create(context: CommandContext, key: ByteString, path: ByteString, given: ReadJson, event: string): void {
  requireCreatable(context, path, given);
  context.keyspace.set(key, new JsonDocument(given));
  context.effects.push('JSON.SET', key, '$', given.text);
  context.notify('d', event, key);
}

/** A value, and the places it replaces or the objects it is added to. */
interface SetPlan {
  readonly given: ReadJson;
  readonly replaced: readonly JsonPlace[];
  readonly parents: readonly JsonPlace[];
  readonly name: ByteString;
}

/** @throws ErrorReply when the path can be neither replaced nor created, or the document would grow too large */
function* planSet(
  context: CommandContext,
  document: JsonDocument,
  text: ByteString,
  given: ReadJson,
  condition: Condition,
): Steps<SetPlan> {
  const path = compilePath(text, context.isReplay);
  const found = condition === 'NX' ? [] : yield* outermost(yield* matchesOf(document.root, path.segments));
  if (found.length > 0) {
    requireDepthBelow(context, found, given.depth);
    yield* requireSize(context, document, found, given);
    return { given, replaced: found, parents: [], name: '' };
  }
  const none: SetPlan = { given, replaced: [], parents: [], name: '' };
  if (condition === 'XX' || path.segments.length === 0) return none;
  return yield* planAddition(context, document, path, given);
}

/** Plans a new member: the path without its last step must match objects that lack the name. */
function* planAddition(
  context: CommandContext,
  document: JsonDocument,
  path: JsonPath,
  given: ReadJson,
): Steps<SetPlan> {
  const none: SetPlan = { given, replaced: [], parents: [], name: '' };
  const name = lastOfStatic(path);
  if (name === undefined) throw notStatic;
  if (typeof name === 'number') {
    if ((yield* matchesOf(document.root, path.segments)).length === 0) throw outOfRange;
    return none;
  }
  const found = yield* matchesOf(document.root, path.segments.slice(0, -1));
  const parents = found.filter(({ value }) => value instanceof Map && !value.has(name));
  for (const parent of parents) requireDepth(context, levelOf(parent) + 1, given.depth);
  requireRecordSize(context, document.bytes + parents.length * given.bytes);
  return { given, replaced: [], parents, name };
}

function* requireSize(
  context: CommandContext,
  document: JsonDocument,
  places: readonly JsonPlace[],
  given: ReadJson,
): Steps<void> {
  if (context.isReplay) return;
  let bytes = document.bytes + places.length * given.bytes;
  try {
    requireRecordSize(context, bytes);
  } catch {
    // The replaced values are measured only if the limit is close.
    for (const { value } of places) bytes -= yield* measured(value);
    requireRecordSize(context, bytes);
  }
}

/** @returns whether a value was set */
function* applySet(
  context: CommandContext,
  key: ByteString,
  document: JsonDocument,
  { given, replaced, parents, name }: SetPlan,
  event: string,
): Steps<boolean> {
  const change = new JsonChange(context, key, document);
  let isUsed = false;
  const next = function* (): Steps<ReadJson> {
    if (!isUsed) {
      isUsed = true;
      return given;
    }
    return { ...given, value: yield* copied(given.value) };
  };
  const pace = new ValuePace();
  for (const place of replaced) {
    if (pace.isDue(4)) yield;
    yield* document.put(place, yield* next());
    change.effect('JSON.SET', pathOf(place), [given.text]);
  }
  for (const parent of parents) {
    document.add(parent.value as JsonMembers, name, yield* next());
    change.effect('JSON.SET', pathOf(parent) + tokenText(name), [given.text]);
  }
  yield* change.finish(event);
  return change.isChanged;
}

/** JSON.MSET key path json … → OK, or null if a value had no place; no change at all if any argument is invalid. */
export function* setMany(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  if ((args.length - 1) % 3 !== 0) throw wrongArity('json.mset');
  const triplets: { key: ByteString; path: ByteString; given: ReadJson }[] = [];
  for (let i = 1; i < args.length; i += 3) {
    const [key, path] = [args.bytes(i), args.bytes(i + 1)];
    const document = keyspace.fetchKind(key, JsonDocument);
    const given = yield* readJson(args.bytes(i + 2));
    if (document === undefined) requireCreatable(context, path, given);
    else yield* planSet(context, document, path, given, undefined);
    triplets.push({ key, path, given });
    yield;
  }
  let isWhole = true;
  for (const { key, path, given } of triplets) {
    const document = keyspace.fetchKind(key, JsonDocument);
    if (document === undefined) {
      create(context, key, path, given, 'json.mset');
      continue;
    }
    const plan = yield* planAgain(context, document, path, given);
    if (plan === undefined || !(yield* applySet(context, key, document, plan, 'json.mset'))) isWhole = false;
    yield;
  }
  return isWhole ? OK : null;
}

/**
 * Plans again, because an earlier part of the same command may have changed the document so that the value no longer
 * fits.
 */
function* planAgain(
  context: CommandContext,
  document: JsonDocument,
  path: ByteString,
  given: ReadJson,
): Steps<SetPlan | undefined> {
  try {
    return yield* planSet(context, document, path, given, undefined);
  } catch (refusal) {
    if (refusal instanceof ErrorReply) return undefined;
    throw refusal;
  }
}

/** JSON.MERGE key path json → OK, or null if there was no object to merge into. Follows RFC 7386. */
export function* mergeInto(context: CommandContext): Steps<Reply> {
  const { args, keyspace, isReplay } = context;
  readOptions(context, false);
  const key = args.bytes(1);
  const document = keyspace.fetchKind(key, JsonDocument);
  const given = yield* readJson(args.bytes(3));
  if (document === undefined) {
    create(context, key, args.bytes(2), given, 'json.merge');
    return OK;
  }
  const path = compilePath(args.bytes(2), isReplay);
  const found = yield* matchesOf(document.root, path.segments);
  if (found.length === 0) {
    const plan = yield* planAddition(context, document, path, given);
    return (yield* applySet(context, key, document, plan, 'json.merge')) ? OK : null;
  }
  requireDepthBelow(context, found, given.depth);
  requireRecordSize(context, document.bytes + found.length * given.bytes);
  const change = new JsonChange(context, key, document);
  const pace = new ValuePace();
  for (const place of found) {
    if (pace.isDue(4)) yield;
    yield* merge(document, place, given.value);
    change.effect('JSON.MERGE', pathOf(place), [given.text]);
  }
  yield* change.finish('json.merge');
  return OK;
}
