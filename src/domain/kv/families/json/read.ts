/** Reading values: JSON.GET, JSON.MGET, JSON.TYPE, JSON.RESP, JSON.OBJKEYS. */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { CommandContext } from '../../command-spec.js';
import { ErrorReply, type Reply, SimpleString } from '../../reply.js';
import {
  COMPACT,
  compilePath,
  type JsonArray,
  JsonDocument,
  type JsonLayout,
  type JsonPath,
  type JsonPlace,
  type JsonValue,
  type Steps,
  typeOfJson,
  ValuePace,
  writeJson,
} from '../../types/json/index.js';
import { missingPath, pathAt, placesOf } from './documents.js';
import { expanded, respOf } from './replies.js';

const noFormat = new ErrorReply('ERR FORMAT argument is not supported on RESP2');
const wrongFormat = new ErrorReply('ERR wrong reply format');

type Format = 'STRING' | 'EXPAND' | 'EXPAND1';

interface GetOptions {
  readonly layout: JsonLayout;
  readonly format: Format;
  readonly paths: readonly JsonPath[];
}

/**
 * JSON.GET key [INDENT s] [NEWLINE s] [SPACE s] [FORMAT f] [path …] → JSON text: a legacy path gives the value, a `$`
 * path the list of matches, several paths an object by path. Null for a missing key.
 */
export function* get(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  const { layout, format, paths } = yield* readOptions(context);
  const document = keyspace.peekKind(args.bytes(1), JsonDocument);
  if (document === undefined) return null;
  const isLegacy = paths.every((path) => path.isLegacy);
  if (format !== 'STRING') {
    const replies: Reply[] = [];
    for (const path of paths) {
      const places = yield* placesOf(document, path);
      replies.push(places.map(({ value }) => expanded(value, format === 'EXPAND')));
    }
    return replies;
  }
  const size = new AnswerSize(context);
  const note = (bytes: number): void => size.add(bytes);
  if (paths.length === 1) return yield* writeJson(yield* valueAt(document, paths[0] as JsonPath), layout, 0, note);
  const byPath = new Map<ByteString, JsonValue>();
  for (const path of paths) {
    byPath.set(path.text, yield* valueAt(document, { ...path, isLegacy }));
    yield;
  }
  return yield* writeJson(byPath, layout, 0, note);
}

function* readOptions(context: CommandContext): Steps<GetOptions> {
  const { args, protocol, isReplay } = context;
  const layout = { indent: '', newline: '', space: '' };
  const paths: JsonPath[] = [];
  const pace = new ValuePace();
  let format: Format = 'STRING';
  for (let i = 2; i < args.length; i += 1) {
    switch (args.option(i)) {
      case 'INDENT':
        i += 1;
        layout.indent = args.bytes(i);
        break;
      case 'NEWLINE':
        i += 1;
        layout.newline = args.bytes(i);
        break;
      case 'SPACE':
        i += 1;
        layout.space = args.bytes(i);
        break;
      case 'FORMAT':
        i += 1;
        if (protocol === 2) throw noFormat;
        format = readFormat(args.bytes(i));
        break;
      case 'NOESCAPE':
        break;
      default:
        paths.push(compilePath(args.bytes(i), isReplay));
        if (pace.isDue(4)) yield;
    }
  }
  if (paths.length === 0) paths.push(compilePath('.'));
  return { layout, format, paths };
}

function readFormat(word: ByteString): Format {
  if (word !== 'STRING' && word !== 'EXPAND' && word !== 'EXPAND1') throw wrongFormat;
  return word;
}

/** The first match of a legacy path; otherwise the list of matches. @throws missingPath */
function* valueAt(document: JsonDocument, path: JsonPath): Steps<JsonValue> {
  const places = yield* placesOf(document, path);
  if (!path.isLegacy) return places.map(({ value }) => value) satisfies JsonArray;
  const first = places[0];
  if (first === undefined) throw missingPath(path);
  return first.value;
}

/**
 * JSON.MGET key … path → as JSON.GET for each key; null for a missing key or legacy path, or a value that is not a
 * document.
 */
export function* getMany(context: CommandContext): Steps<Reply> {
  const { args, keyspace } = context;
  const path = pathAt(context, args.length - 1);
  const size = new AnswerSize(context);
  const note = (bytes: number): void => size.add(bytes);
  const replies: Reply[] = [];
  for (let i = 1; i < args.length - 1; i += 1) {
    const document = keyspace.peek(args.bytes(i));
    const places = document instanceof JsonDocument ? yield* placesOf(document, path) : undefined;
    if (places === undefined || (path.isLegacy && places.length === 0)) replies.push(null);
    else if (path.isLegacy) replies.push(yield* writeJson((places[0] as JsonPlace).value, COMPACT, 0, note));
    else
      replies.push(
        yield* writeJson(
          places.map(({ value }) => value),
          COMPACT,
          0,
          note,
        ),
      );
    yield;
  }
  return replies;
}

/** JSON.TYPE key [path] → the name of the type; of each match for a `$` path. Null for a missing key. */
export function* type(context: CommandContext): Steps<Reply> {
  const document = context.keyspace.peekKind(context.args.bytes(1), JsonDocument);
  const path = pathAt(context, 2);
  const reply = document === undefined ? null : typeReply(path, yield* placesOf(document, path));
  return context.protocol === 3 ? [reply] : reply;
}

function typeReply(path: JsonPath, places: readonly JsonPlace[]): Reply {
  if (!path.isLegacy) return places.map(({ value }) => typeOfJson(value));
  const first = places[0];
  return first === undefined ? null : typeOfJson(first.value);
}

/** JSON.RESP key [path] → the value as nested replies; `{` or `[` precedes the contents of a container. */
export function* resp(context: CommandContext): Steps<Reply> {
  const document = context.keyspace.peekKind(context.args.bytes(1), JsonDocument);
  if (document === undefined) return null;
  const path = pathAt(context, 2);
  const places = yield* placesOf(document, path);
  if (path.isLegacy && places.length === 0) throw missingPath(path);
  const replies: Reply[] = [];
  const met = { values: 0 };
  for (const { value } of path.isLegacy ? places.slice(0, 1) : places) replies.push(yield* respOf(value, met));
  return path.isLegacy ? (replies[0] as Reply) : replies;
}

/** JSON.DEBUG HELP → lines. */
export function help(): Reply {
  return [
    new SimpleString('MEMORY <key> [path] - reports memory usage'),
    new SimpleString('HELP                - this message'),
  ];
}
