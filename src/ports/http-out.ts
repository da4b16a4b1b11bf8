/**
 * Calls to destinations. Promises of every adapter:
 *
 *  HO1 no request is sent to a forbidden address, for any name or spelling that leads there
 *  HO2 redirects are not followed, bodies are not decoded, and proxies of the environment are not used
 *  HO3 sockets, time and bytes of one call are bounded, and so are the sockets of one origin and the bytes of long
 *      answers together
 *  HO4 the outcome of every call is a value; no error is thrown
 *  HO5 the permission to send is checked at the instant of sending, because a call may have waited for a place, a name
 *      and a connection; a call without permission is `held-back`, and no more of it is sent
 */
import type { AttemptOutcome, HeaderList, HttpMethod } from '../domain/queue/index.js';

export interface OutgoingCall {
  readonly url: string;
  /** The tenant; tenants share the memory for answers. */
  readonly tenant?: string;
  readonly method: HttpMethod;
  /** All headers except those that the protocol itself needs (Host, Content-Length, Connection). */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** From the check of the address to the last byte read. */
  readonly timeoutMs: number;
  /** The bytes read of the response's body; the rest is not read. */
  readonly maxResponseBytes: number;
  /** Aborted: the outcome is `interrupted`. */
  readonly signal: AbortSignal;
  /** The permission to send (HO5). Undefined: always. */
  readonly maySend?: () => boolean;
}

export type CallOutcome = AttemptOutcome | { readonly kind: 'interrupted' } | { readonly kind: 'held-back' };

export interface HttpOut {
  send(call: OutgoingCall): Promise<CallOutcome>;
  /** The reason why a URL must not be called, as far as its text shows it; undefined when it may be. */
  refusalOf(url: string): string | undefined;
  close(): Promise<void>;
}
