/** What one message of the bus holds: a payload, an offer of a large one, or a failure. Its first byte says which. */
import { decode, encode } from '@msgpack/msgpack';
import { describeError, ERROR_CODES, type ErrorCode, isMillraceError, MillraceError } from '../../kernel/index.js';
import type { Offer } from './bulk-exchange.js';

export type BusFrame =
  | { readonly kind: 'payload'; readonly payload: Uint8Array }
  | { readonly kind: 'offer'; readonly offer: Offer }
  | { readonly kind: 'failure'; readonly error: MillraceError };

const PAYLOAD = 0;
const OFFER = 1;
const FAILURE = 2;

export function encodePayload(payload: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(payload.byteLength + 1);
  frame[0] = PAYLOAD;
  frame.set(payload, 1);
  return frame;
}

export function encodeOffer({ at, id, bytes }: Offer): Uint8Array {
  return tagged(OFFER, encode([at, id, bytes]));
}

/** A failure of ours travels with its code, message and details; any other is a defect of the service. */
export function encodeFailure(error: unknown): Uint8Array {
  if (!isMillraceError(error)) return tagged(FAILURE, encode(['DEFECT', describeError(error), {}]));
  try {
    return tagged(FAILURE, encode([error.code, error.message, error.details], { ignoreUndefined: true }));
  } catch {
    return tagged(FAILURE, encode([error.code, error.message, {}])); // details that have no form as bytes
  }
}

/** @throws DEFECT when it is not a frame */
export function decodeFrame(bytes: Uint8Array): BusFrame {
  const body = bytes.subarray(1);
  switch (bytes[0]) {
    case PAYLOAD:
      return { kind: 'payload', payload: body };
    case OFFER: {
      const [at, id, size] = decode(body) as [string, string, number];
      return { kind: 'offer', offer: { at, id, bytes: size } };
    }
    case FAILURE: {
      const [code, message, details] = decode(body) as [string, string, Record<string, unknown>];
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
