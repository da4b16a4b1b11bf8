/** The limits of the REST endpoint, with their reasons. The limits of a database's plan are in its grant. */
import { DEFAULT_SOCKET_LIMITS, type HttpLimits } from '../http/http-limits.js';

export interface KvEndpointLimits extends HttpLimits {
  /** Commands of one pipeline or transaction. */
  readonly maxBatchCommands: number;
  /** Bytes in the answer of a transaction; reads above it get an error. */
  readonly maxAnswerBytes: number;
  /** Bytes of a pipeline's answer per portion; the next portion is requested when the client has read it. */
  readonly answerPortionBytes: number;
  /** The longest wait of a pipeline for room for its next portion. */
  readonly maxRoomWaitMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_KV_ENDPOINT_LIMITS: KvEndpointLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  // Arguments travel in the path: Node's 16 KiB would refuse a 12 KiB value after percent-encoding.
  maxHeaderBytes: 64 * 1024,
  maxHeadersCount: 100,
  // A pipeline of a thousand commands of 32 KiB each.
  maxBodyBytes: 32 * MIB,
  // Client libraries split at 1,000.
  maxBatchCommands: 100_000,
  // About as large as the largest request.
  maxAnswerBytes: 64 * MIB,
  // Few round trips for a large answer, and few bytes that wait for a slow reader.
  answerPortionBytes: 4 * MIB,
  // As long as any request may wait.
  maxRoomWaitMs: 5_000,
};

/** The smallest portion. It is not counted: the limit on connections bounds it. */
export const LEAST_PORTION_BYTES = 64 * 1024;

/** A portion's share of its tenant's free bytes, so that each of several pipelines leaves room for others. */
export const PORTION_SHARE = 1 / 8;
