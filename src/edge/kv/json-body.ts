/**
 * Parses a JSON body into commands.
 *
 *  JB1 a number reaches the command as its source text, never through a float
 *  JB2 a null fails its own command; an array or object inside a command, or invalid JSON, fails the whole body
 *  JB3 work and memory are at most a small multiple of the body: a nested value is refused where it begins
 *
 * Two readers give the same result. JSON.parse is the faster one; it reads small bodies whose numbers can be written
 * back exactly. JsonCommandReader reads all other bodies.
 */
import { isAscii } from 'node:buffer';
import { ErrorReply } from '../../domain/kv/index.js';
import { type ByteString, bytesOfText, textOfBytes } from '../../kernel/index.js';
import { BACKSLASH } from '../http/json-scanner.js';
import { BODY_ERRORS, type JsonCommand, JsonCommandReader } from './json-command-reader.js';

/**
 * In a larger body JSON.parse could build millions of nested arrays before they are checked (JB3: work and memory are
 * bounded).
 */
const FAST_BODY_BYTES = 64 * 1024;

/** Finds numbers that `String(Number(…))` may change; a match inside a string only costs time. */
const DELICATE_NUMBER = /[0-9][.eE]|-0|[0-9]{16}/;

/** The body of `/`: one command. An ErrorReply refuses the request. */
export function parseCommandBody(body: Buffer): JsonCommand {
  return parse(
    body,
    (fast) => fast.command(),
    (slow) => slow.singleCommand(),
  );
}

/** The body of `/pipeline` and `/multi-exec`. An ErrorReply refuses the request; inside the list, only its command. */
export function parseBatchBody(body: Buffer): JsonCommand[] | ErrorReply {
  return parse(
    body,
    (fast) => fast.batch(),
    (slow) => slow.batch(),
  );
}

/** Larger bodies are read in slices: parsing them in one call takes 20 ms or more. */
export const LONG_PIPELINE_BYTES = 1024 * 1024;

/** Parses a long body in slices. */
export function* parseInSlices(
  body: Buffer,
  isBatch: boolean,
): Generator<void, JsonCommand | JsonCommand[] | ErrorReply> {
  const reader = new JsonCommandReader(body);
  try {
    return isBatch ? yield* reader.batchInSlices() : yield* reader.singleCommandInSlices();
  } catch (problem) {
    if (problem instanceof ErrorReply) return problem;
    throw problem;
  }
}

function parse<T>(
  body: Buffer,
  fastly: (fast: ParsedBody) => T,
  slowly: (slow: JsonCommandReader) => T,
): T | ErrorReply {
  if (body.length === 0) return BODY_ERRORS.empty;
  try {
    if (body.length <= FAST_BODY_BYTES) {
      const parsed = ParsedBody.of(body);
      if (parsed !== undefined) return fastly(parsed);
    }
    return slowly(new JsonCommandReader(body));
  } catch (problem) {
    if (problem === NEEDS_SOURCE) return retrySlowly(body, slowly);
    if (problem instanceof ErrorReply) return problem;
    throw problem;
  }
}

function retrySlowly<T>(body: Buffer, slowly: (slow: JsonCommandReader) => T): T | ErrorReply {
  try {
    return slowly(new JsonCommandReader(body));
  } catch (problem) {
    if (problem instanceof ErrorReply) return problem;
    throw problem;
  }
}

/** Thrown when a number's source text is needed, which JSON.parse does not keep. */
const NEEDS_SOURCE = Symbol('needs source');

/** The result of JSON.parse, converted to words in one pass. */
class ParsedBody {
  #numbersAreExact: boolean | undefined;

  private constructor(
    readonly value: unknown,
    private readonly text: string,
    /** All its strings are ASCII, therefore already byte strings. */
    private readonly isPlain: boolean,
  ) {}

  static of(body: Buffer): ParsedBody {
    const plain = isAscii(body);
    const bytes = body.toString('latin1');
    const text = plain ? bytes : textOfBytes(bytes);
    try {
      return new ParsedBody(JSON.parse(text), text, plain && body.indexOf(BACKSLASH) < 0);
    } catch {
      throw BODY_ERRORS.notJson;
    }
  }

  command(): JsonCommand {
    if (!Array.isArray(this.value)) throw BODY_ERRORS.notAnArray;
    return this.#words(this.value);
  }

  batch(): JsonCommand[] {
    const { value } = this;
    if (!Array.isArray(value)) throw BODY_ERRORS.notAnArray;
    // Converted in place: no other code holds the array.
    for (let i = 0; i < value.length; i += 1) {
      if (!Array.isArray(value[i])) throw BODY_ERRORS.notAnArray;
      value[i] = this.#words(value[i]);
    }
    return value;
  }

  #words(items: unknown[]): JsonCommand {
    let problem: ErrorReply | undefined;
    for (let i = 0; i < items.length; i += 1) {
      const item = items[i];
      if (typeof item === 'string') {
        if (!this.isPlain) items[i] = bytesOfText(item);
      } else if (item === null) {
        problem = BODY_ERRORS.nullArgument;
      } else if (typeof item === 'number') {
        items[i] = this.#sourceOf(item);
      } else if (typeof item === 'boolean') {
        items[i] = String(item);
      } else {
        throw Array.isArray(item) ? BODY_ERRORS.nestedArray : BODY_ERRORS.nestedObject;
      }
    }
    return problem ?? (items as ByteString[]);
  }

  #sourceOf(value: number): ByteString {
    this.#numbersAreExact ??= !DELICATE_NUMBER.test(this.text);
    if (!this.#numbersAreExact) throw NEEDS_SOURCE;
    return String(value);
  }
}
