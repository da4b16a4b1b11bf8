/**
 * A JSON body as commands.
 *
 * Invariants
 *  JB1 a number reaches the command as its source text, never through a float
 *  JB2 a null spoils its own command; an array or object inside a command, or text that is not JSON, the whole body
 *  JB3 no work or memory beyond a small multiple of the body: a nested value is refused where it begins
 *
 * Two readers give the same result. JSON.parse is the fast one, and serves small bodies whose numbers, if
 * there are any, can be written back exactly. Everything else goes through JsonCommandReader.
 */
import { isAscii } from 'node:buffer';
import { ErrorReply } from '../../domain/kv/index.js';
import { type ByteString, bytesOfText, textOfBytes } from '../../kernel/index.js';
import { BACKSLASH } from '../http/json-bounds.js';
import { BODY_ERRORS, type JsonCommand, JsonCommandReader } from './json-command-reader.js';

/** Beyond this JSON.parse could build millions of nested arrays before anybody looks at them (JB3). */
const FAST_BODY_BYTES = 64 * 1024;

/** What may be a number that does not survive `String(Number(…))`; matches inside strings cost time only. */
const DELICATE_NUMBER = /[0-9][.eE]|-0|[0-9]{16}/;

/** The body of `/`: one command. An ErrorReply refuses the request. */
export function parseCommandBody(body: Buffer): JsonCommand {
  return parse(
    body,
    (fast) => fast.command(),
    (slow) => slow.singleCommand(),
  );
}

/** The body of `/pipeline` and `/multi-exec`. An ErrorReply refuses the request, one inside its own command. */
export function parseBatchBody(body: Buffer): JsonCommand[] | ErrorReply {
  return parse(
    body,
    (fast) => fast.batch(),
    (slow) => slow.batch(),
  );
}

/** Bodies above it are read in slices: 20 ms or more in one go. */
export const LONG_PIPELINE_BYTES = 1024 * 1024;

/** A long body, in slices. */
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

/** Thrown when a number's source text is needed and lost. */
const NEEDS_SOURCE = Symbol('needs source');

/** What JSON.parse made of a body, turned into words in one pass. */
class ParsedBody {
  #numbersAreExact: boolean | undefined;

  private constructor(
    readonly value: unknown,
    private readonly text: string,
    /** Every string in it is ASCII, thus a byte string already. */
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
    // In place: the array and its items are ours, and become the commands.
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
