/**
 * Requests to identity providers, with bounds: a provider that answers slowly or without end holds neither a request nor
 * memory. Redirects are not followed, because the library asks for none.
 */

import type { CustomFetch } from 'openid-client';

/** A sign-in waits for up to four requests in a row. */
const REQUEST_MS = 5_000;
/** Discovery documents, key sets and tokens have a few kilobytes. */
const MAX_ANSWER_BYTES = 512 * 1024;

export const boundedFetch: CustomFetch = async (url, { body = null, headers, method, signal: given }) => {
  const signal = AbortSignal.any([AbortSignal.timeout(REQUEST_MS), ...(given === undefined ? [] : [given])]);
  const answer = await fetch(url, { body, headers, method, signal, redirect: 'manual' });
  const { status, statusText } = answer;
  const received = await bodyOf(answer);
  const copy = new Headers(answer.headers);
  // The body is decoded already.
  copy.delete('content-encoding');
  copy.delete('content-length');
  return new Response(received.length === 0 ? null : received, { status, statusText, headers: copy });
};

async function bodyOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the provider answered more than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Uint8Array.from(Buffer.concat(pieces));
}
