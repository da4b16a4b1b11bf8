/**
 * Shared parts of the JSON commands: access to documents, path parsing, errors, and the effects of a change.
 *
 * Each effect names a single place (`$["a"][0]`), so that it means the same wherever it is replayed. If the effects of
 * a command would be longer than the document, the document is recorded instead.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { keysOf } from '../../command-description.js';
import type { CommandContext, CommandSpec } from '../../command-spec.js';
import { ErrorReply, type Reply } from '../../reply.js';
import { inSlices } from '../../slices.js';
import {
  compilePath,
  isContainer,
  JsonDocument,
  type JsonPath,
  type JsonPlace,
  type JsonValue,
  LONG_JSON_BYTES,
  levelOf,
  MAX_JSON_DEPTH,
  matchesOf,
  type Steps,
  tooDeep,
  typeOfJson,
  ValuePace,
} from '../../types/json/index.js';

export const missingKey = new ErrorReply("ERR could not perform this operation on a key that doesn't exist");
export const notAtRoot = new ErrorReply('ERR new objects must be created at the root');

/** @param or an alternative cause: `not an array` */
export function missingPath(path: JsonPath, or?: string): ErrorReply {
  return new ErrorReply(`ERR Path '${path.full}' does not exist${or === undefined ? '' : ` or ${or}`}`);
}

export function wrongPathType(expected: string, found: JsonValue): ErrorReply {
  return new ErrorReply(`WRONGTYPE wrong type of path value - expected ${expected} but found ${typeOfJson(found)}`);
}

export type JsonRun = (context: CommandContext) => Steps<Reply>;
type Running = Required<Pick<CommandSpec, 'handler' | 'sliced' | 'isLong'>>;

/** The running fields of a row: in slices if a document or a word is long. `keys` states the positions of the keys. */
export function running(run: JsonRun, keys: CommandSpec['keys']): Running & Pick<CommandSpec, 'keys'> {
  const isLong = ({ args, keyspace }: CommandContext): boolean => {
    if (args.length > MANY_WORDS || args.words.some((word) => word.length >= LONG_JSON_BYTES)) return true;
    return keysOf({ keys } as CommandSpec, args.words).some((key) => {
      const value = keyspace.peek(key);
      return value instanceof JsonDocument && value.bytes >= LONG_JSON_BYTES;
    });
  };
  return { keys, ...inSlices(run, isLong) };
}

/** From this number of words on, a command is always sliced. */
const MANY_WORDS = 1000;

/** The path at that word; if missing, the root in legacy notation. */
export function pathAt({ args, isReplay }: CommandContext, index: number): JsonPath {
  return compilePath(args.length > index ? args.bytes(index) : '.', isReplay);
}

/** The matches of the path in the document. */
export function placesOf(document: JsonDocument, path: JsonPath): Steps<JsonPlace[]> {
  return matchesOf(document.root, path.segments);
}

/** The document, for a command that changes it. @throws missingKey */
export function documentToChange({ args, keyspace }: CommandContext): JsonDocument {
  const document = keyspace.fetchKind(args.bytes(1), JsonDocument);
  if (document === undefined) throw missingKey;
  return document;
}

/** Refuses a document that is too deep to traverse. @throws ErrorReply */
export function requireDepth({ isReplay }: CommandContext, level: number, depth: number): void {
  if (level + depth > MAX_JSON_DEPTH && !isReplay) throw tooDeep;
}

export function requireDepthBelow(context: CommandContext, places: readonly JsonPlace[], depth: number): void {
  for (const place of places) requireDepth(context, levelOf(place), depth);
}

/** Array moves during replay above which the complete document is recorded instead. */
const MAX_REPLAY_MOVES = 4_000_000;
/** Below this size effects are never replaced by the document. */
const FEW_EFFECT_BYTES = 16 * 1024;

/** The changes of one command to one document, and their effects. */
export class JsonChange {
  readonly #bytesBefore: number;
  readonly #commands: ByteString[][] = [];
  #effectBytes = 0;
  #moves = 0;
  #isChanged = false;

  constructor(
    private readonly context: CommandContext,
    private readonly key: ByteString,
    readonly document: JsonDocument,
  ) {
    this.#bytesBefore = document.bytes;
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Adds the effect of the latest change. @param moved array items that replaying it moves */
  effect(name: string, path: ByteString, words: readonly ByteString[], moved = 0): void {
    this.#isChanged = true;
    this.#moves += moved;
    if (this.#isWhole) return;
    this.#commands.push([name, this.key, path].concat(words));
    for (const word of words) this.#effectBytes += word.length;
    this.#effectBytes += path.length + this.key.length;
    if (this.#isWhole) this.#commands.length = 0;
  }

  get #isWhole(): boolean {
    return this.#effectBytes > Math.max(this.#bytesBefore / 2, FEW_EFFECT_BYTES) || this.#moves > MAX_REPLAY_MOVES;
  }

  /** Updates the byte count, records the effects and publishes the event, if there was a change. */
  *finish(event: string): Steps<void> {
    if (!this.#isChanged) return;
    const { context, key, document } = this;
    context.keyspace.changed(key, document, this.#bytesBefore);
    if (this.#isWhole && !context.isReplay) {
      yield* context.effects.pushEach(document.rebuild(key));
    } else {
      const pace = new ValuePace();
      for (const command of this.#commands) {
        if (pace.isDue(4)) yield;
        const name = command[0] as ByteString;
        const words = command.slice(1);
        if (words.length > MANY_WORDS) yield* context.effects.pushLong(name, words);
        else context.effects.pushList(name, words);
      }
    }
    context.notify('d', event, key);
  }

  /** The last change deletes the document. */
  finishDeleted(event: string): void {
    this.context.keyspace.changed(this.key, this.document, this.#bytesBefore);
    deleteDocument(this.context, this.key, event);
  }
}

export function deleteDocument({ keyspace, effects, notify }: CommandContext, key: ByteString, event: string): void {
  keyspace.delete(key);
  effects.push('DEL', key);
  notify('d', event, key);
}

export function isEmptyRoot({ root }: JsonDocument): boolean {
  return isContainer(root) && (Array.isArray(root) ? root.length : root.size) === 0;
}
