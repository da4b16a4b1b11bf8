/**
 * Calls to destinations. Promises every adapter keeps:
 *  HO1 nothing is sent to an address that the rules forbid, however its name or text leads there
 *  HO2 no redirect is followed, no body is decoded, no proxy of the environment is used
 *  HO3 sockets, time and bytes of one call are bounded, and the sockets of one origin; and what long answers take
 *      together
 *  HO4 the outcome of every call is a value; nothing is thrown
 *  HO5 whether a request may still be sent is asked at the very instant at which it is: before that a call may have
 *      waited for a place, a name and a connection. One that may not is `held-back`, and nothing more of it is sent
 */
import type { AttemptOutcome, HeaderList, HttpMethod } from '../domain/queue/index.js';

export interface OutgoingCall {
  readonly url: string;
  /** Whose it is: tenants share what answers may take. */
  readonly tenant?: string;
  readonly method: HttpMethod;
  /** All of them, but those that the protocol itself needs (Host, Content-Length, Connection). */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** From the first look at the address to the last byte that is read. */
  readonly timeoutMs: number;
  /** Read of the response's body; what is beyond it is not. */
  readonly maxResponseBytes: number;
  /** Aborted: the outcome is `interrupted`. */
  readonly signal: AbortSignal;
  /** HO5. Left out: always. */
  readonly maySend?: () => boolean;
}

export type CallOutcome = AttemptOutcome | { readonly kind: 'interrupted' } | { readonly kind: 'held-back' };

export interface HttpOut {
  send(call: OutgoingCall): Promise<CallOutcome>;
  /** Why a URL may not be called, as far as its text tells; undefined when it may. */
  refusalOf(url: string): string | undefined;
  close(): Promise<void>;
}
