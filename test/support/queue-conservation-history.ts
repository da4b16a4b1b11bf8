/**
 * What a producer was told, what destinations saw and what was broken meanwhile: the history that
 * `queue-conservation` judges. Instants are wall milliseconds of the machine that watches.
 */

/** Written down before the call; `is` follows from its answer. */
export interface PublishRecord {
  /** Of the producer, and in the body: how destinations tell messages apart. */
  readonly number: number;
  /** `unknown`: may have been accepted, or may be yet. */
  is: 'acked' | 'refused' | 'unknown';
  /** What was answered; of an acked one the message's id. */
  id: string | undefined;
  why: string | undefined;
  readonly maxRetries: number;
  readonly queue: string | undefined;
  readonly flow: string | undefined;
  readonly hasCallbacks: boolean;
  /** Due after the end of the test. */
  readonly isFar: boolean;
  /** What a cancellation was told, when there was one; `acked`: the message was there, and is not tried again. */
  cancel: 'acked' | 'refused' | 'unknown' | undefined;
}

/** The outcome of another message, which this one carries. */
export interface CarriedOutcome {
  readonly source: string;
  readonly retried: number;
  readonly status: number;
  /** Of a failure callback. */
  readonly dlqId: string | undefined;
}

/** One request, as its destination saw it. */
export interface CallRecord {
  /** Of the message. */
  readonly id: string;
  readonly retried: number;
  /** Of the publish; undefined in a callback. */
  readonly number: number | undefined;
  readonly carries: CarriedOutcome | undefined;
  /** The process that called: each has a region of its own. */
  readonly by: string;
  readonly startedAtMs: number;
  /** Undefined: still open. */
  endedAtMs: number | undefined;
  /** `answered`: the whole answer was handed over; `closed`: the caller, or the destination, hung up. */
  end: 'answered' | 'closed' | undefined;
  /** 0: none yet, or half of one. */
  status: number;
  /** The destination hung up before it had said anything: on a connection in use before, the call is made once more. */
  isCut?: boolean;
  /** Its signature holds, for this body and this URL. */
  readonly isGenuine: boolean;
}

export interface FaultRecord {
  /** `moved`: ownership changed, for whatever reason, without anything being killed. */
  readonly what: 'killed' | 'frozen' | 'stopped' | 'server' | 'moved';
  /** The process; undefined: none in particular. */
  readonly victim: string | undefined;
  readonly atMs: number;
  /** When it was there again, or somebody in its place. */
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
  /** Ids of messages that can still be read, and were not delivered. */
  readonly pending: readonly string[];
  /** How many calls of a queue, or of a flow-control key, may be open at once. */
  readonly parallelism: Readonly<Record<string, number>>;
  /** How many may start within a window. */
  readonly rates: Readonly<Record<string, { readonly rate: number; readonly periodMs: number }>>;
}

export function isDelivery({ end, status }: CallRecord): boolean {
  return end === 'answered' && status >= 200 && status < 300;
}
