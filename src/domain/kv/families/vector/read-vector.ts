/** Parses vectors: `VALUES n f1 … fn`, `FP32 bytes` and `BASE64-FP32 text`, the bytes being little-endian. */
import { type ByteString, bufferOfBytes } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import { parseFloatStrict } from '../../numbers.js';
import { ERRORS, ErrorReply } from '../../reply.js';

export const MAX_DIMENSION = 32_768;
const ELEMENT_BYTES = 4;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
/** The longest text of a vector in base64, with its padding. */
const MAX_BASE64_BYTES = Math.ceil((MAX_DIMENSION * ELEMENT_BYTES) / 3) * 4;

const notFinite = new ErrorReply('ERR a vector element is not a finite number of 32 bits');
const badBytes = new ErrorReply('ERR the bytes of a vector must be a multiple of 4');
const badBase64 = new ErrorReply('ERR the vector is not valid base64');
const emptyVector = new ErrorReply('ERR a vector needs elements');

export interface GivenVector {
  readonly elements: Float32Array;
  /** The position after its words. */
  readonly end: number;
}

/** Whether a vector starts at that word. */
export function isVectorAt(args: Args, at: number): boolean {
  return ['VALUES', 'FP32', 'BASE64-FP32'].includes(args.option(at));
}

/** @throws ErrorReply */
export function readVector(args: Args, at: number): GivenVector {
  switch (args.option(at)) {
    case 'VALUES': {
      const count = args.count(at + 1, 1, emptyVector);
      if (count > MAX_DIMENSION || at + 2 + count > args.length) throw ERRORS.syntax;
      return { elements: elementsOf(args.words.slice(at + 2, at + 2 + count)), end: at + 2 + count };
    }
    case 'FP32':
      return { elements: elementsOfBytes(bufferOfBytes(args.bytes(at + 1))), end: at + 2 };
    case 'BASE64-FP32': {
      const text = args.bytes(at + 1);
      if (text.length > MAX_BASE64_BYTES || !BASE64.test(text)) throw badBase64;
      return { elements: elementsOfBytes(Buffer.from(text, 'base64')), end: at + 2 };
    }
    default:
      throw ERRORS.syntax;
  }
}

function elementsOf(words: readonly ByteString[]): Float32Array {
  return finite(Float32Array.from(words, (word) => parseFloatStrict(word) ?? Number.NaN));
}

/** @throws ErrorReply */
export function elementsOfBytes(bytes: Buffer): Float32Array {
  if (bytes.length === 0) throw emptyVector;
  if (bytes.length % ELEMENT_BYTES !== 0) throw badBytes;
  const elements = new Float32Array(bytes.length / ELEMENT_BYTES);
  for (let i = 0; i < elements.length; i += 1) elements[i] = bytes.readFloatLE(i * ELEMENT_BYTES);
  return finite(elements);
}

function finite(elements: Float32Array): Float32Array {
  for (const element of elements) if (!Number.isFinite(element)) throw notFinite;
  return elements;
}
