/** The frame of one bus message: a payload, an offer of a large one, or a failure, distinguished by the first byte. */
import { describeError, ERROR_CODES, type ErrorCode, isMillraceError, MillraceError } from '../../kernel/index.js';
import { bothWays, looseText, opaque, text, tuple, whole } from '../../kernel/schema/index.js';
import type { Offer } from './bulk-exchange.js';

export type BusFrame =
  | { readonly kind: 'payload'; readonly payload: Uint8Array }
  | { readonly kind: 'offer'; readonly offer: Offer }
  | { readonly kind: 'failure'; readonly error: MillraceError };

const PAYLOAD = 0;
const OFFER = 1;
const FAILURE = 2;

/** Details may hold any value that can be encoded. */
type Details = Readonly<Record<string, unknown>>;
const offer = tuple<[at: string, id: string, bytes: number]>(text(), text(), whole);
const failure = tuple<[code: string, message: string, details: Details]>(text(), looseText(), opaque<Details>());
const [encodeOffered, decodeOffered] = bothWays(offer, 'an offer', 'DEFECT');
const [encodeFailed, decodeFailed] = bothWays(failure, 'a failure', 'DEFECT');

export function encodePayload(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(payload.byteLength + 1);
  frame[0] = PAYLOAD;
  frame.set(payload, 1);
  return frame;
}

export function encodeOffer({ at, id, bytes }: Offer): Uint8Array {
  return tagged(OFFER, encodeOffered([at, id, bytes]));
}

/** A MillraceError is sent with its code, message and details; any other error is a defect of the service. */
export function encodeFailure(error: unknown): Uint8Array {
  if (!isMillraceError(error)) return tagged(FAILURE, encodeFailed(['DEFECT', describeError(error), {}]));
  try {
    return tagged(FAILURE, encodeFailed([error.code, error.message, error.details]));
  } catch {
    return tagged(FAILURE, encodeFailed([error.code, error.message, {}])); // details that cannot be encoded
  }
}

/** @throws DEFECT when it is not a frame */
export function decodeFrame(bytes: Uint8Array): BusFrame {
  const body = bytes.subarray(1);
  switch (bytes[0]) {
    case PAYLOAD:
      return { kind: 'payload', payload: body };
    case OFFER: {
      const [at, id, size] = decodeOffered(body);
      return { kind: 'offer', offer: { at, id, bytes: size } };
    }
    case FAILURE: {
      const [code, message, details] = decodeFailed(body);
      const known: ErrorCode = code in ERROR_CODES ? (code as ErrorCode) : 'DEFECT';
      return { kind: 'failure', error: new MillraceError(known, message, details) };
    }
    default:
      throw new MillraceError('DEFECT', 'not a message of this bus', { first: bytes[0], bytes: bytes.byteLength });
  }
}

function tagged(tag: number, body: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(body.byteLength + 1);
  frame[0] = tag;
  frame.set(body, 1);
  return frame;
}
