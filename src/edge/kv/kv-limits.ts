/** Every bound of the key-value face, with its reason. What a database's plan bounds is in its grant. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface KvFaceLimits extends HttpLimits {
  /** Commands of one pipeline or transaction. */
  readonly maxBatchCommands: number;
  /** What the answer of a transaction holds; reads behind it answer with an error. */
  readonly maxAnswerBytes: number;
  /** What is asked for of a pipeline's answer before it is written, and the rest once it has been read. */
  readonly answerPortionBytes: number;
  /** A pipeline that is being answered waits so long for room for its next portion. */
  readonly maxRoomWaitMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_KV_FACE_LIMITS: KvFaceLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // Arguments travel in the path: Node's 16 KiB would refuse a 12 KiB value once it is percent-encoded.
  maxHeaderBytes: 64 * 1024,
  maxHeadersCount: 100,
  // A pipeline of a thousand commands of 32 KiB each.
  maxBodyBytes: 32 * MIB,
  // Client packages cut at 1,000.
  maxBatchCommands: 100_000,
  // It is as much as a request may ask with.
  maxAnswerBytes: 64 * MIB,
  // Few round trips for what is large, and little that waits for one who reads slowly.
  answerPortionBytes: 4 * MIB,
  // It is as long as any request is held.
  maxRoomWaitMs: 5_000,
};

/** A portion that there is hardly room for: so little is not counted, the number of connections bounds it. */
export const LEAST_PORTION_BYTES = 64 * 1024;

/** A portion may have so much of what is left to its tenant: each of several pipelines leaves room for others. */
export const PORTION_SHARE = 1 / 8;
