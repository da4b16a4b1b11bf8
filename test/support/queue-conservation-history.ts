/**
 * The history that `queue-conservation` checks: answers to the producer, calls at destinations, and faults. Instants
 * are wall-clock milliseconds of the machine of the test.
 */

/** A publish, recorded before its call; `is` is set from the answer. */
export interface PublishRecord {
  /** The producer's number of the publish. The body contains it, so that destinations can identify the message. */
  readonly number: number;
  /** `unknown`: the message may have been accepted, or may still be. */
  is: 'acked' | 'refused' | 'unknown';
  /** The message id of an acknowledged publish. */
  id: string | undefined;
  why: string | undefined;
  readonly maxRetries: number;
  readonly queue: string | undefined;
  readonly flow: string | undefined;
  readonly hasCallbacks: boolean;
  /** The delay ends after the test. */
  readonly isFar: boolean;
  /** The outcome of a cancellation, if there was one; `acked`: the message existed and is not tried again. */
  cancel: 'acked' | 'refused' | 'unknown' | undefined;
}

/** The outcome of another message, contained in a callback. */
export interface CarriedOutcome {
  readonly source: string;
  readonly retried: number;
  readonly status: number;
  /** Set in a failure callback. */
  readonly dlqId: string | undefined;
}

/** A request as the destination received it. */
export interface CallRecord {
  /** The id of the message. */
  readonly id: string;
  readonly retried: number;
  /** The number of the publish; undefined in a callback. */
  readonly number: number | undefined;
  readonly carries: CarriedOutcome | undefined;
  /** The region of the calling process, which identifies the process. */
  readonly by: string;
  readonly startedAtMs: number;
  /** Undefined while the call is open. */
  endedAtMs: number | undefined;
  /** `answered`: the complete answer was sent; `closed`: the caller or the destination closed the connection. */
  end: 'answered' | 'closed' | undefined;
  /** 0 if no complete answer was sent. */
  status: number;
  /**
   * The destination closed the connection before it sent an answer. On a reused connection the caller repeats such a
   * call.
   */
  isCut?: boolean;
  /** The signature is valid for this body and URL. */
  readonly isGenuine: boolean;
}

export interface FaultRecord {
  /** `moved`: a shard changed its owner without a fault of the test. */
  readonly what: 'killed' | 'frozen' | 'stopped' | 'server' | 'moved';
  /** The struck process; undefined if there is none. */
  readonly victim: string | undefined;
  readonly atMs: number;
  /** When the process worked again, or another had taken over. */
  untilMs: number;
}

interface DeadLetter {
  readonly dlqId: string;
  readonly messageId: string;
}

export interface ConservationHistory {
  readonly publishes: readonly PublishRecord[];
  readonly calls: readonly CallRecord[];
  readonly faults: readonly FaultRecord[];
  readonly dlq: readonly DeadLetter[];
  /** The ids of readable messages that have not been delivered. */
  readonly pending: readonly string[];
  /** The maximum of concurrent calls, by queue and flow-control key. */
  readonly parallelism: Readonly<Record<string, number>>;
  /** The maximum of started calls per window, by flow-control key. */
  readonly rates: Readonly<Record<string, { readonly rate: number; readonly periodMs: number }>>;
}

export function isDelivery({ end, status }: CallRecord): boolean {
  return end === 'answered' && status >= 200 && status < 300;
}
